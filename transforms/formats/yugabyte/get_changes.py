"""A GetChanges response of the CDC SDK: its row messages, as they are written.

Put here how a response is read. Not here: where each stands (``batches``, ``log_positions``), and what it does
(``decode``).

Vendor: yugabyte-db, src/yb/cdc/cdc_service.proto (GetChangesResponsePB, CDCSDKProtoRecordPB, RowMessage).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from transforms.families.yugabyte import checkpoints, declared
from transforms.families.yugabyte.checkpoints import Checkpoint, CommittedOpId
from transforms.families.yugabyte.declared import NOT_DECLARED, Declared
from transforms.families.yugabyte.messages import (
    ADDED,
    Names,
    UnreadableResponse,
    fields,
    listed,
    names,
    part,
)
from transforms.families.yugabyte.scalars import filled, whole
from transforms.families.yugabyte.transactions import transaction_id
from transforms.fault import Fault, shown
from transforms.formats.yugabyte import schemas, tuples
from transforms.formats.yugabyte.row_message import (
    AFTER_TRANSACTION,
    OPERATIONS,
    ROWS,
    OpId,
    RowMessage,
)
from transforms.json_values import as_text

_PROTO_RECORD: Final = ("row_message", "cdc_sdk_op_id")

RESPONSE: Final[Names] = names(
    *("error", "checkpoint", "cdc_sdk_proto_records", "cdc_sdk_checkpoint"),
    *(*_PROTO_RECORD, *ADDED),
)
"""GetChangesResponsePB, what a client may add to it, and the fields of one record that stands alone in a line."""

PROTO_RECORD: Final[Names] = names(*_PROTO_RECORD)

ROW_MESSAGE: Final[Names] = names(
    *("transaction_id", "commit_time", "table", "op", "new_tuple", "old_tuple", "primary_key"),
    *("schema", "schema_version", "new_table_name", "pgschema_name"),
)

_OP_ID: Final[Names] = names("term", "index", "write_id")

_KNOWN: Final[Mapping[str, str]] = {**OPERATIONS, **{name: name for name in OPERATIONS.values()}}


class Response(NamedTuple):
    """A response: its checkpoint, and its row messages in their order."""

    checkpoint: Checkpoint
    messages: Sequence[RowMessage]


def read_response(response: Mapping[str, Any], known: Mapping[str, Declared]) -> Response:
    """The response that has these fields; ``known`` are the declared tables.

    Raises:
        UnreadableResponse: It is none, or one of its fields has another shape than it should.
    """
    if fault := _no_response(response):
        raise UnreadableResponse(fault)
    every = response.get("cdc_sdk_proto_records")
    records = listed(every, "cdc_sdk_proto_records")
    if every is None and response.get("row_message") is not None:
        records = [response]
    messages = [_message(record, known) for record in records]
    return Response(checkpoints.checkpoint_of(response), messages)


def _no_response(response: Mapping[str, Any]) -> Fault | None:
    """Why a JSON object is no response that can be read."""
    error = response.get("error")
    if error is not None:
        answer = shown(as_text(error))
        return Fault("error_response", f"the server answered with an error: {answer}")
    parts = ("cdc_sdk_proto_records", "row_message", "cdc_sdk_checkpoint", "checkpoint")
    if all(response.get(name) is None for name in parts):
        return Fault(
            "missing_field", "neither cdc_sdk_proto_records, row_message nor a checkpoint is there"
        )
    return None


def _message(record: object, known: Mapping[str, Declared]) -> RowMessage:
    parts = _NOTHING if record is None else fields(record, PROTO_RECORD, "a record")
    row = part(parts, "row_message", ROW_MESSAGE)
    written = as_text(row.get("op"))
    op = None if written is None else _KNOWN.get(written) or _KNOWN.get(written.strip().upper())
    schema_name, name = filled(row.get("pgschema_name")), filled(row.get("table"))
    table = declared.of_message(known, schema_name, name)
    texts = NOT_DECLARED if table is None else table.text_columns
    key, schema = row.get("primary_key"), row.get("schema")
    return RowMessage(
        row,
        written,
        op,
        _op_id(parts.get("cdc_sdk_op_id"), op),
        transaction_id(row.get("transaction_id")),
        schema_name,
        name,
        tuples.read_tuple(row.get("new_tuple"), "new_tuple", texts),
        tuples.read_tuple(row.get("old_tuple"), "old_tuple", texts),
        # Newer servers send their own form of the key (DocKey), in bytes, of which nobody else can tell the values.
        tuples.read_tuple(key, "primary_key", texts) if type(key) is list else (),
        None if schema is None else schemas.read_schema(schema),
        table,
    )


_NOTHING: Final[Mapping[str, Any]] = {}


def _op_id(op_id: object, op: str | None) -> OpId | None:
    """The op id as numbers; None where it is none. A commit has write_id 0 and comes after all of its transaction."""
    if op_id is None:
        return None
    parts = fields(op_id, _OP_ID, "cdc_sdk_op_id")
    term, index = whole(parts.get("term")), whole(parts.get("index"))
    if term is None or index is None:
        return None
    return term, index, AFTER_TRANSACTION if op == "COMMIT" else whole(parts.get("write_id")) or 0


def committed_op_id(response: Response) -> CommittedOpId:
    """The op id at which a consumer has everything that the response commits.

    A response commits something if it has a COMMIT, or a row outside any transaction. Then the op id is its checkpoint,
    unless that is missing or lies within a transaction; else the op id of the last COMMIT that has one. Where there is
    no such op id, it is ``NOTHING``.
    """
    has_end, last = False, None
    for message in response.messages:
        if message.op == "COMMIT":
            has_end, last = True, message.op_id or last
        elif message.transaction_id is None and (message.op in ROWS or message.op == "READ"):
            has_end = True
    op_id = response.checkpoint.op_id
    if has_end and op_id is not None and response.checkpoint.key is None:
        return op_id
    return last[:2] if last is not None else checkpoints.NOTHING
