"""From an xCluster response to its events: the checkpoint's note first, then one event for each record.

A record stands at its hybrid time. A record of a transaction stands at the hybrid time of the commit, which the APPLY
record gives; records of one transaction keep the order of their own hybrid times. Put here what each operation becomes.
Not here: what a record is made of (``records``), and why one cannot be taken (``record_faults``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from transforms.event import Event, Transaction
from transforms.families.yugabyte import checkpoints, declared, tablets
from transforms.families.yugabyte.hybrid_times import moment
from transforms.families.yugabyte.messages import UnreadableResponse, message_of_record
from transforms.families.yugabyte.scalars import filled
from transforms.families.yugabyte.tablets import Origin
from transforms.fault import Fault, shown
from transforms.feed.feed import Feed
from transforms.formats.yugabyte_xcluster.columns import image
from transforms.formats.yugabyte_xcluster.record_faults import ROWS, record_fault
from transforms.formats.yugabyte_xcluster.records import RESPONSE, Record, of_response
from transforms.json_values import as_text
from transforms.record import BronzeRecord
from transforms.source_format import Decode
from transforms.warning import EventWarning

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


class ResponseContext(NamedTuple):
    """What every record of a response has in common: where it comes from, and which table it is of."""

    origin: Origin
    table: str | None
    text_columns: Collection[str]


def decoder(feed: Feed, surveyed: Mapping[str, frozenset[tuple[object, ...]]]) -> Decode:
    """The function that reads a response: first the note with its checkpoint, then its records."""
    known = declared.declared_tables(feed)

    def decode(record: BronzeRecord) -> list[Event]:
        response: Mapping[str, Any] = {}
        try:
            response = message_of_record(record, RESPONSE)
            source = _source(response, record, feed, known)
            if fault := _no_response(response):
                raise UnreadableResponse(fault)
            checkpoint = checkpoints.checkpoint_of(response)
            records = of_response(response, source.text_columns)
        except UnreadableResponse as unreadable:
            return [_unreadable(_source(response, record, feed, known), unreadable.fault)]
        # Hybrid times order this form, so that no checkpoint can be said to be behind a commit.
        note = checkpoints.note(checkpoint, checkpoints.NOTHING, source.origin)
        return [note, *[_event(one, source) for one in records]]

    return decode


def _source(
    response: Mapping[str, Any],
    record: BronzeRecord,
    feed: Feed,
    known: Mapping[str, declared.Declared],
) -> ResponseContext:
    name = (
        filled(response.get("table"))
        or filled(response.get("table_name"))
        or tablets.segment(record.object, "table")
        or record.path_table
    )
    table = declared.of_message(known, None, name)
    origin = tablets.of_response(response, record.object, feed)
    return ResponseContext(origin, name, table.text_columns if table else declared.NOT_DECLARED)


def _no_response(response: Mapping[str, Any]) -> Fault | None:
    """Why a JSON object is no response that can be read."""
    error = response.get("error")
    if error is not None:
        answer = shown(as_text(error))
        return Fault("error_response", f"the server answered with an error: {answer}")
    parts = ("records", "operation", "time", "checkpoint")
    if all(response.get(name) is None for name in parts):
        return Fault("missing_field", "neither records, operation nor a checkpoint is there")
    return None


def _unreadable(source: ResponseContext, fault: Fault) -> Event:
    return Event(
        operation=None,
        effect="note",
        name=source.table,
        stream=source.origin.tablet,
        log_position=checkpoints.START,
        identity=(source.origin.tablet,),
        fault=fault,
    )


def _event(record: Record, source: ResponseContext) -> Event:
    op, tablet = record.op, source.origin.tablet
    fault = record_fault(record)
    is_apply = op == "APPLY"
    at = record.commit_at if is_apply else record.at
    log_position = (*checkpoints.START, *at) if is_apply else (*checkpoints.START, *at, record.rank)
    transaction = None
    if record.transaction_id is not None and (is_apply or op in ROWS):
        name = f"{tablet}/{record.transaction_id}"
        transaction = Transaction(name, has_begin=False, at_commit=True)
    has_unencoded_bytes = False in [one.is_base64 for one in record.columns]
    return Event(
        operation=None if op is None else op.lower(),
        effect=EFFECTS.get(op, "note"),
        name=source.table,
        before=image(record.key) if fault is None and op == "DELETE" else {},
        after=image(record.columns) if fault is None and op == "WRITE" else {},
        stream=tablet,
        transaction=transaction,
        log_position=log_position,
        dedup_prefix=4,
        identity=(tablet, record.transaction_id) if is_apply else (tablet, *map(as_text, at)),
        event_at=_event_at(record),
        warnings=(BYTES_ARE_BASE64.word,) if has_unencoded_bytes else (),
        fault=fault,
    )


def _event_at(record: Record) -> int | None:
    at_commit = moment(record.commit_time)
    return moment(record.time) if at_commit is None else at_commit
