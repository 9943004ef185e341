"""YugabyteDB's first form of change capture, xCluster: one record is one GetChanges response with ``records``, as JSON.

Each of ``records`` is a CDCRecordPB: WRITE (an insert and an update look the same), DELETE or APPLY. A WRITE or DELETE
within a transaction is an intent: it takes effect at the APPLY of that transaction, and only if one comes; an abort is
not in the stream. Leader and followers deliver the same records. A stream is of one table, which no record names: the
object's path does. A line may also hold a single one of ``records``.

Vendor: yugabyte-db, src/yb/cdc/cdc_service.proto (CDCRecordPB) and ent/src/yb/cdc/cdc_producer.cc, 2.11 and 2.13.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from transforms.event import Event, EventWarning, StreamSchema, Transaction
from transforms.families.yugabyte import checkpoints, messages, values
from transforms.families.yugabyte.checkpoints import CommittedOpId, ReadResponse, decoder_of
from transforms.families.yugabyte.messages import (
    ADDED,
    NOT_DECLARED,
    Names,
    Operations,
    UnreadableResponse,
    field_names,
    filled,
    message_fields,
    message_of_record,
    message_part,
    other_shape,
    repeated_field,
)
from transforms.families.yugabyte.values import (
    NamedValue,
    image_of,
    instant_of,
    moment_of,
    transaction_id,
    values_fault,
)
from transforms.fault import Fault, shown
from transforms.feed.feed import Feed
from transforms.json_values import as_text
from transforms.onboarding.proposal import Entry, Mark, Proposal, Sampled
from transforms.onboarding.tables import TableSeen, proposal_of_tables, tables_seen, with_parts
from transforms.record import BronzeRecord
from transforms.source_format import JSON_FILES, Decode, SourceFormat, Surveyed, split_json


def column_of(pair: object, texts: Collection[str]) -> NamedValue:
    """One KeyValuePairPB: its name is bytes, and so base64. Of a table's ``texts`` bytes are written as text."""
    if pair is None:
        return values.NULL
    if type(pair) is not dict:
        raise other_shape("a pair of key or changes is no object")
    own = values.read_value(pair.get("value"))
    written = as_text(pair.get("key"))
    if not written:
        return own
    name = values.name_of_base64(written)
    if name is None:
        return own._replace(is_base64=False).named(written, texts)
    return own.named(name, texts)


# The records of a response (CDCRecordPB): what each says, and its place among those of its time.


_RECORD: Final = ("time", "operation", "key", "changes", "transaction_state")

RESPONSE: Final[Names] = field_names(
    "error", "checkpoint", "records", "table", "table_name", *_RECORD, *ADDED
)
"""GetChangesResponsePB, what a client may add to it, and the fields of one record that stands alone in a line."""

RECORD: Final[Names] = field_names(*_RECORD)
_STATE: Final[Names] = field_names("transaction_id", "commit_hybrid_time")

PARTS: Final = ("records", "operation", "time", "checkpoint")
"""Of these every response has one."""

OPERATIONS: Final = Operations(
    *("operation", 1, "WRITE", "DELETE", "APPLY"),
    *("SPLIT_OP", "CHANGE_METADATA", "TRANSACTION_COMMITTED", "TRANSACTION_CREATED"),
)
"""CDCRecordPB.OperationType; those behind APPLY came later and change no row."""

Instant = tuple[int | None, int | None]


@dataclass(slots=True)
class CdcRecord:
    """One record of a response.

    ``op_as_written``: the operation as it is written; ``op``: its name, None where it is not known. ``at``,
    ``commit_at``: the record's hybrid time, and the one at which its transaction commits. ``columns``: those of its
    key, which are ``key_size``, and then those of its changes. ``rank``: see ``assign_ranks``.
    """

    op_as_written: str | None
    op: str | None
    time: str | None
    commit_time: str | None
    at: Instant
    commit_at: Instant
    transaction_id: str | None
    columns: Sequence[NamedValue]
    key_size: int
    rank: int = 0

    @property
    def key(self) -> Sequence[NamedValue]:
        """The columns of the key."""
        return self.columns[: self.key_size]


def records_of_response(response: Mapping[str, Any], texts: Collection[str]) -> list[CdcRecord]:
    """The records of a response, in their order, with their places; ``texts`` are its table's text columns."""
    messages = repeated_field(response.get("records"), "records")
    if response.get("records") is None and response.get("operation") is not None:
        messages = [response]
    found = [_record(one, texts) for one in messages]
    assign_ranks(found)
    return found


def _record(message: object, texts: Collection[str]) -> CdcRecord:
    by_name = {} if message is None else message_fields(message, RECORD, "a record")
    of_state = message_part(by_name, "transaction_state", _STATE)
    op_as_written = as_text(by_name.get("operation"))
    time = as_text(by_name.get("time"))
    commit_time = as_text(of_state.get("commit_hybrid_time"))
    at = instant_of(time)
    key = [column_of(one, texts) for one in repeated_field(by_name.get("key"), "key")]
    changes = repeated_field(by_name.get("changes"), "changes")
    return CdcRecord(
        op_as_written,
        OPERATIONS.named(op_as_written),
        time,
        commit_time,
        at,
        at if commit_time is None else instant_of(commit_time),
        transaction_id(of_state.get("transaction_id")),
        [*key, *[column_of(one, texts) for one in changes]],
        len(key),
    )


def assign_ranks(records: Sequence[CdcRecord]) -> None:
    """Give each record its place among the records of its hybrid time.

    The place is minus the number of different records that come after it; identical records share the place of the
    first. So a response that begins in the middle of such a group gives the same places as the whole group; the longest
    delivery has the smallest places, and these count.
    """
    of_time: dict[str, dict[tuple[object, ...], int]] = {}
    whose: list[tuple[CdcRecord, dict[tuple[object, ...], int], int]] = []
    for record in records:
        if record.time is None:
            continue
        others = of_time.setdefault(record.time, {})
        whose.append((record, others, others.setdefault(_content(record), len(others))))
    for record, others, at in whose:
        record.rank = at + 1 - len(others)


def _content(record: CdcRecord) -> tuple[object, ...]:
    whose = (record.op_as_written, record.transaction_id, record.commit_time, record.key_size)
    return (*whose, *record.columns)


ROW_OPERATIONS: Final = frozenset(("WRITE", "DELETE"))


def record_fault(record: CdcRecord) -> Fault | None:
    """Why a record cannot be read, or put in order."""
    op, is_apply = record.op, record.op == "APPLY"
    if op is None:
        return OPERATIONS.fault(record.op_as_written, "the record")
    if (record.commit_at if is_apply else record.at)[0] is None:
        times = f"time {shown(record.time)}, commit_hybrid_time {shown(record.commit_time)}"
        return Fault("missing_field", f"{op} has no hybrid time: {times}")
    if is_apply and record.transaction_id is None:
        return Fault("missing_field", "APPLY names no transaction")
    return values_fault(record.columns) if op in ROW_OPERATIONS else None


# The events of a response: the checkpoint's note first, then one for each record. A record stands at its hybrid time;
# a record of a transaction at that of the commit, which the APPLY record gives, and the records of one transaction keep
# the order of their own hybrid times.


BYTES_ARE_BASE64: Final = EventWarning(
    "not_base64",
    "bytes_are_base64",
    "Names of columns and texts are base64, as bytes are in JSON.",
    "They were taken as they stand; look at how the client writes bytes. A text that happens to be base64 is misread.",
)

EFFECTS: Final[Mapping[str | None, str]] = {
    "WRITE": "update",
    "DELETE": "remove",
    "APPLY": "commit",
}
"""What operations do to the current row; all others are notes."""


def decoder(feed: Feed, surveyed: Surveyed) -> Decode:
    """The function that reads a response: first the note with its checkpoint, then its records."""
    known = messages.declared_tables(feed)

    def read(response: ReadResponse) -> tuple[CommittedOpId, list[Event]]:
        name = _table_name(response.record, response.fields)
        table = messages.declared_table_of(known, None, name)
        texts = NOT_DECLARED if table is None else table.text_columns
        tablet = response.origin.tablet
        events = [_event(one, tablet, name) for one in records_of_response(response.fields, texts)]
        # Hybrid times order this form, so that no checkpoint can be said to be behind a commit.
        return checkpoints.NO_OP_ID, events

    return decoder_of(feed, RESPONSE, PARTS, read, _table_name)


def _table_name(record: BronzeRecord, response: Mapping[str, Any]) -> str | None:
    return (
        filled(response.get("table"))
        or filled(response.get("table_name"))
        or checkpoints.path_segment(record.object, "table")
        or record.path_table
    )


def _event(record: CdcRecord, tablet: str, table: str | None) -> Event:
    op = record.op
    fault = record_fault(record)
    is_apply = op == "APPLY"
    at = record.commit_at if is_apply else record.at
    log_position = (*checkpoints.START, *at) if is_apply else (*checkpoints.START, *at, record.rank)
    transaction = None
    if record.transaction_id is not None and (is_apply or op in ROW_OPERATIONS):
        name = f"{tablet}/{record.transaction_id}"
        transaction = Transaction(name, has_begin=False, at_commit=True)
    has_unencoded_bytes = False in [one.is_base64 for one in record.columns]
    return Event(
        operation=None if op is None else op.lower(),
        effect=EFFECTS.get(op, "note"),
        name=table,
        before=image_of(record.key) if fault is None and op == "DELETE" else {},
        after=image_of(record.columns) if fault is None and op == "WRITE" else {},
        stream=tablet,
        transaction=transaction,
        log_position=log_position,
        dedup_prefix=4,
        identity=(tablet, record.transaction_id) if is_apply else (tablet, *map(as_text, at)),
        event_at=_event_at(record),
        warnings=(BYTES_ARE_BASE64.word,) if has_unencoded_bytes else (),
        fault=fault,
    )


def _event_at(record: CdcRecord) -> int | None:
    at_commit = moment_of(record.commit_time)
    return moment_of(record.time) if at_commit is None else at_commit


# What a feed should declare: key and types stand in the records, the table's name does not.

_TYPES: Final[Mapping[str, str]] = {
    **{"int8_value": "tinyint", "int16_value": "smallint", "int32_value": "int"},
    **{"int64_value": "bigint", "uint32_value": "bigint", "float_value": "float"},
    **{"double_value": "double", "bool_value": "boolean", "string_value": "string"},
    **{"binary_value": "binary", "timestamp_value": "timestamp", "date_value": "date"},
    **{"uuid_value": "string", "timeuuid_value": "string", "inetaddress_value": "string"},
}


def recognise(feed: Feed, record: BronzeRecord) -> Mark | None:
    """Records with a hybrid time, an operation, and pairs of a key."""
    try:
        response = message_of_record(record, RESPONSE)
        records = response.get("records")
        one = records[0] if type(records) is list and records else response
    except UnreadableResponse:
        return None
    if type(one) is not dict or "time" not in one or "operation" not in one:
        return None
    parts = [
        name
        for name in ("key", "changes", "transaction_state")
        if type(one.get(name)) in (dict, list)
    ]
    return Mark(", ".join(["time", "operation", *parts])) if parts else None


def propose(feed: Feed, sample: Sequence[Sampled]) -> Proposal:
    """The tables, under the names that responses or paths have; where neither has one, under the feed's name."""

    def name_of(event: Event) -> str | None:
        return event.name if _is_named(event.name) else feed.name

    seen = {key: one for key, one in tables_seen(sample, name_of).items() if one.changes}
    for record, event in {id(record): (record, event) for record, event in sample}.values():
        table = seen.get((None, None, name_of(event) or ""))
        if table is not None:
            _describe(table, record)
    proposal = proposal_of_tables(seen.values())
    if all(_is_named(event.name) for _, event in sample):
        return proposal
    note = f"nothing names the table: it is called {feed.name} here. Give it its own name."
    why = "the records do not name their table: every object belongs to this one"
    path = Entry("path", "**", why)
    with_note = replace(proposal, notes=(*proposal.notes, note))
    return with_parts(with_note, lambda name: [path] if name == feed.name else [])


def _is_named(name: str | None) -> bool:
    # A folder of a tablet or a stream names no table.
    return name is not None and "=" not in name


def _describe(table: TableSeen, record: BronzeRecord) -> None:
    try:
        records = records_of_response(message_of_record(record, RESPONSE), NOT_DECLARED)
    except UnreadableResponse:
        return
    for one in records:
        key = tuple(column.name for column in one.key if column.name is not None) or None
        named = [column for column in one.columns if column.name is not None]
        types = tuple((str(one.name), _TYPES.get(one.kind or "")) for one in named)
        table.describe(StreamSchema(key, types))


FORMAT = SourceFormat(
    name="yugabyte_xcluster",
    files=JSON_FILES,
    split=split_json,
    decoder=decoder,
    transactional=True,
    fields=("time", "operation", "key", "changes"),
    recognise=recognise,
    propose=propose,
    warnings=(BYTES_ARE_BASE64,),
    unknowable=(
        "Truncates and schema changes: this form of the stream does not have them.",
        "Aborted transactions: an abort says nothing, so that their intents wait until they are reported.",
        "Whether a row was inserted or updated: both are a WRITE of the changed columns.",
    ),
)
