"""YugabyteDB's CDC SDK: one record is one GetChanges response, as a client wrote it down as JSON.

A response holds the row messages of one tablet from one checkpoint to the next: BEGIN, COMMIT, DDL, INSERT, UPDATE,
DELETE, TRUNCATE, READ (a row of the snapshot) and SAFEPOINT. It does not say which tablet: a ``tablet=`` segment of the
object's path says so, the folder's name, or a field ``tablet_id`` that the client adds. A line may also hold a single
row message of a response.

Each row message is an event. Besides, every response, even an empty one, gives a note with its checkpoint. Both ways in
which clients write JSON are read: Go's ``encoding/json`` and protojson.

Vendor: yugabyte-db, src/yb/cdc/cdc_service.proto (RowMessage, CDCSDKProtoRecordPB) and src/yb/cdc/cdcsdk_producer.cc.
"""

from __future__ import annotations

from transforms.formats.yugabyte import decode, schemas
from transforms.source_format import JSON_FILES, ExtraAsset, SourceFormat, split_json

FORMAT = SourceFormat(
    name="yugabyte",
    files=JSON_FILES,
    split=split_json,
    decoder=decode.decoder,
    surveyor=decode.surveyor,
    survey_marks=decode.DDL_MARKS,
    transactional=True,
    warnings=(schemas.TIME_TO_LIVE,),
    describes_tables=True,
    fields=decode.FIELDS,
    recognise=decode.recognise,
    propose=decode.propose,
    extra_assets=(ExtraAsset("offsets", "control.yugabyte_checkpoints", follows_progress=True),),
    unknowable=(
        "An update on one tablet and another of the same transaction on a second tablet show at different times: the"
        " stream has commits per tablet.",
        "Rows that expire (a time to live) leave without an event.",
        "A table whose key neither a DDL of the window nor the rows tell gets no gold unless it is declared.",
        "A default of a new column is not told: older rows have null there.",
    ),
)
