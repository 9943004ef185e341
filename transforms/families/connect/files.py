"""Cutting files of Kafka Connect's messages into records: a key's document stays with its value's.

Put here what is true of files and not of topics. Not here: what a message means (``envelopes``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from transforms.feed.feed import Feed
from transforms.record import Record
from transforms.records import json_documents
from transforms.records.limits import DEFAULTS, Limits


def split(data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULTS) -> Iterator[Record]:
    """JSON documents in whatever layout; a key's document goes along with the value's that follows it.

    So do the vendors' pages write a message: the key's schema and payload, then the value's. The key becomes the
    record's ``header``; one that nothing follows is a record of its own.
    """
    key: Record | None = None
    for record in json_documents.split(data, limits):
        if is_key(record):
            if key is not None:
                yield key
            key = record
            continue
        if key is None or record.defect is not None:
            if key is not None:
                yield key
            yield record
        else:
            header = key.payload.decode("utf-8", "replace")
            yield Record(record.line, record.byte_offset, record.payload, header)
        key = None
    if key is not None:
        yield key


def is_key(record: Record) -> bool:
    """Whether a record is the document of a key: schema and payload, and no envelope in that."""
    text = record.payload
    # Decoding costs, and nearly all records are values.
    if record.defect is not None or b'"payload"' not in text or b'"source"' in text:
        return False
    try:
        document = json.loads(text, strict=False)
    except ValueError:
        return False
    if not isinstance(document, dict) or document.keys() != {"schema", "payload"}:
        return False
    schema, payload = document["schema"], document["payload"]
    named = str(schema.get("name", "")) if isinstance(schema, dict) else ""
    return isinstance(payload, dict) and named.endswith("Key") and "op" not in payload
