"""The records of an xCluster response (CDCRecordPB): what each says, and its place among those of its time.

Put here how a response is read. Not here: what a record does (``decode``), and the values of columns
(``families/yugabyte/values``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from transforms.families.yugabyte.hybrid_times import instant
from transforms.families.yugabyte.messages import (
    ADDED,
    Names,
    fields,
    listed,
    names,
    part,
)
from transforms.families.yugabyte.transactions import transaction_id
from transforms.formats.yugabyte_xcluster.columns import Column, column_of
from transforms.json_values import as_text

_RECORD: Final = ("time", "operation", "key", "changes", "transaction_state")

RESPONSE: Final[Names] = names(
    "error", "checkpoint", "records", "table", "table_name", *_RECORD, *ADDED
)
"""GetChangesResponsePB, what a client may add to it, and the fields of one record that stands alone in a line."""

RECORD: Final[Names] = names(*_RECORD)
_STATE: Final[Names] = names("transaction_id", "commit_hybrid_time")

OPERATIONS: Final[Mapping[str, str]] = {
    **{"1": "WRITE", "2": "DELETE", "3": "APPLY"},
    **{"4": "SPLIT_OP", "5": "CHANGE_METADATA"},
    **{"6": "TRANSACTION_COMMITTED", "7": "TRANSACTION_CREATED"},
}
"""CDCRecordPB.OperationType by number; those above 3 came later and change no row."""

_KNOWN: Final[Mapping[str, str]] = {**OPERATIONS, **{name: name for name in OPERATIONS.values()}}

Instant = tuple[int | None, int | None]


@dataclass(slots=True)
class Record:
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
    columns: Sequence[Column]
    key_size: int
    rank: int = 0

    @property
    def key(self) -> Sequence[Column]:
        """The columns of the key."""
        return self.columns[: self.key_size]


def of_response(response: Mapping[str, Any], texts: Collection[str]) -> list[Record]:
    """The records of a response, in their order, with their places; ``texts`` are its table's text columns."""
    messages = listed(response.get("records"), "records")
    if response.get("records") is None and response.get("operation") is not None:
        messages = [response]
    found = [_record(one, texts) for one in messages]
    assign_ranks(found)
    return found


def _record(message: object, texts: Collection[str]) -> Record:
    by_name = {} if message is None else fields(message, RECORD, "a record")
    of_state = part(by_name, "transaction_state", _STATE)
    op_as_written = as_text(by_name.get("operation"))
    time = as_text(by_name.get("time"))
    commit_time = as_text(of_state.get("commit_hybrid_time"))
    at = instant(time)
    columns: list[Column] = []
    for pair in listed(by_name.get("key"), "key"):
        columns.append(column_of(pair, texts))
    key_size = len(columns)
    for pair in listed(by_name.get("changes"), "changes"):
        columns.append(column_of(pair, texts))
    return Record(
        op_as_written,
        None
        if op_as_written is None
        else _KNOWN.get(op_as_written) or _KNOWN.get(op_as_written.strip().upper()),
        time,
        commit_time,
        at,
        at if commit_time is None else instant(commit_time),
        transaction_id(of_state.get("transaction_id")),
        columns,
        key_size,
    )


def assign_ranks(records: Sequence[Record]) -> None:
    """Give each record its place among the records of its hybrid time.

    The place is minus the number of different records that come after it; identical records share the place of the
    first. So a response that begins in the middle of such a group gives the same places as the whole group; the longest
    delivery has the smallest places, and these count.
    """
    of_time: dict[str, dict[tuple[object, ...], int]] = {}
    whose: list[tuple[Record, dict[tuple[object, ...], int], int]] = []
    for record in records:
        if record.time is None:
            continue
        others = of_time.setdefault(record.time, {})
        whose.append((record, others, others.setdefault(_content(record), len(others))))
    for record, others, at in whose:
        record.rank = at + 1 - len(others)


def _content(record: Record) -> tuple[object, ...]:
    whose = (record.op_as_written, record.transaction_id, record.commit_time, record.key_size)
    return (*whose, *record.columns)
