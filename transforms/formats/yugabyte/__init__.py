"""YugabyteDB's CDC SDK: GetChanges responses, one JSON document each, as a client wrote them down.

A response holds the row messages of one tablet from one checkpoint to the next: BEGIN, COMMIT, DDL, INSERT, UPDATE,
DELETE, TRUNCATE, READ, SAFEPOINT. It does not say which tablet: that is a ``tablet=`` segment of the object's path, the
folder's name, or a field ``tablet_id`` that the client adds. One record of a response alone may stand in a line, too.

Each row message is an event; beside them every response has a note with its checkpoint, also an empty one. Both
encodings are read: Go's ``encoding/json`` and protojson (``families/yugabyte/messages``).

Reading a record goes through the modules here in this order: ``get_changes`` (the response and its messages, with
``tuples`` and ``schemas`` for what is in them), ``batches`` (places within the response), ``positions`` (places in the
tablet), ``decode`` (what each message does). ``survey`` tells what DDLs of a window say to its other records.

Vendor: yugabyte-db, src/yb/cdc/cdc_service.proto (RowMessage, CDCSDKProtoRecordPB) and src/yb/cdc/cdcsdk_producer.cc.
"""

from __future__ import annotations

from collections.abc import Iterator

from transforms.feed.feed import Feed
from transforms.formats.yugabyte import decode, schemas, survey
from transforms.record import Record
from transforms.source_format import ExtraAsset, SourceFormat
from transforms.splitting import json_documents
from transforms.splitting.limits import DEFAULTS, Limits


def split(data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULTS) -> Iterator[Record]:
    """JSON documents, one a line, pretty-printed, concatenated or in an array."""
    return json_documents.split(data, limits)


FORMAT = SourceFormat(
    name="yugabyte",
    files=("**/*.json*", "**/*.jsonl*", "**/*.ndjson*"),
    split=split,
    decoder=decode.decoder,
    surveyor=survey.surveyor,
    survey_marks=survey.MARKS,
    transactional=True,
    warnings=(schemas.TIME_TO_LIVE,),
    tells_tables=True,
    extra_assets=(
        ExtraAsset("offsets", "bookkeeping.yugabyte_checkpoints_asset", follows_progress=True),
    ),
    unknowable=(
        "An update on one tablet and another of the same transaction on a second tablet show at different times: the"
        " stream has commits per tablet.",
        "Rows that expire (a time to live) leave without an event.",
        "A table whose key neither a DDL of the window nor the rows tell gets no gold unless it is declared.",
        "A default of a new column is not told: older rows have null there.",
    ),
)
