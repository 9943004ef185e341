"""YugabyteDB's first form of change capture, xCluster: one record is one GetChanges response with ``records``, as JSON.

Each of ``records`` is a CDCRecordPB: WRITE (an insert and an update look the same), DELETE or APPLY. A WRITE or DELETE
within a transaction is an intent: it takes effect at the APPLY of that transaction, and only if one comes; an abort is
not in the stream. Leader and followers deliver the same records. A stream is of one table, which no record names: the
object's path does. A line may also hold a single one of ``records``.

What a record goes through: the module ``records`` reads the response, with ``columns`` for keys and changes, and finds
where each of its records stands among those of its time. ``decode`` says what each does, ``record_faults`` why one
cannot be taken.

Vendor: yugabyte-db, src/yb/cdc/cdc_service.proto (CDCRecordPB) and ent/src/yb/cdc/cdc_producer.cc, 2.11 and 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator

from transforms.feed.feed import Feed
from transforms.formats.yugabyte_xcluster import decode, proposing
from transforms.record import Record
from transforms.records import json_documents
from transforms.records.limits import DEFAULTS, Limits
from transforms.source_format import SourceFormat


def split(data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULTS) -> Iterator[Record]:
    """JSON documents, one a line, pretty-printed, concatenated or in an array."""
    return json_documents.split(data, limits)


FORMAT = SourceFormat(
    name="yugabyte_xcluster",
    files=("**/*.json*", "**/*.jsonl*", "**/*.ndjson*"),
    split=split,
    decoder=decode.decoder,
    transactional=True,
    recognise=proposing.recognise,
    propose=proposing.propose,
    warnings=(decode.BYTES_ARE_BASE64,),
    unknowable=(
        "Truncates and schema changes: this form of the stream does not have them.",
        "Aborted transactions: an abort says nothing, so that their intents wait until they are reported.",
        "Whether a row was inserted or updated: both are a WRITE of the changed columns.",
    ),
)
