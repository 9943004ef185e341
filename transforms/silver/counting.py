"""The counts of a window's rows by outcome, as a task makes them: one batch of accounts at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from transforms.silver import conflicts
from transforms.silver.accounting import AccountKey, Accounts, LogPoint, counted_as
from transforms.silver.conforming.changes import CHANGE, Row
from transforms.silver.frames import ACCOUNT, OUTPUT
from transforms.silver.trails import Deliveries, Point, TrailKey, part_of, point_of


class OutputRow(NamedTuple):
    """What has to be read of a row of ``OUTPUT`` to count it."""

    window: str
    table: str | None
    source_table: str
    declared: str | None
    event_id: str
    effect: str
    derived: str | None
    tally: str
    facts: str | None
    is_first: bool
    stream: str | None
    log_position: list[int]
    dedup_prefix: int
    reason: str | None
    segment: int | None
    event_at: int | None
    extracted_at: int | None


def output_rows(batch: pa.RecordBatch) -> Iterator[OutputRow]:
    """The rows of a batch of ``OUTPUT``."""
    cells = zip(*(batch.column(name).to_pylist() for name in OutputRow._fields), strict=True)
    return map(OutputRow._make, cells)


def count_row(accounts: Accounts, one: Row | OutputRow, outcome: str | None) -> None:
    """Count a row under its outcome; None for one that silver keeps."""
    group_key = AccountKey(one.window, one.table, one.source_table, one.declared)
    accounts.add(
        group_key,
        counted_as(one.tally, one.derived, outcome),
        one.facts if outcome is None else None,
        is_first=one.is_first,
    )
    if outcome is None and one.stream is not None:
        accounts.add_stream(group_key, one.stream)
    if outcome is None and one.tally == CHANGE:
        accounts.note_time(group_key, one.event_at)
        accounts.note_position(group_key, one.log_position, one.dedup_prefix)
    if outcome is None and one.segment is not None and one.tally == CHANGE:
        log_position: Any = one.log_position
        moment = LogPoint(log_position[0], one.segment, one.event_at, one.extracted_at)
        accounts.note(group_key, moment)


class Walked:
    """Tells accounts where changes stand beside their times, as the rows pass in the order of their sort keys.

    Of all deliveries of an event the one that was read first counts. ``arrives_by``: as in ``SourceFormat``.
    """

    def __init__(self, accounts: Accounts, arrives_by: str | None) -> None:
        self._accounts = accounts
        self._arrives_by = arrives_by
        self._deliveries = Deliveries()

    def add(self, group: bytes, row: Row) -> None:
        """A row that is a change, or delivers it again."""
        # Most changes stand between others of their time, and are passed over at once.
        if self._arrives_by is None and self._is_between(row):
            return
        found = point_of(row, self._arrives_by)
        if found is not None:
            account_key = AccountKey(row.window, row.table, row.source_table, row.declared)
            self._note(self._deliveries.add(group, account_key, *found))

    def _is_between(self, row: Row) -> bool:
        made, position = row.event_at, row.log_position
        if made is None or position is None:
            return False
        account = (row.window, row.table, row.source_table, row.declared)
        trail = self._accounts.trail_of(account, part_of(row, position))
        return trail is not None and trail.has_between(made, position[1 : row.dedup_prefix])

    def end(self) -> None:
        """No more rows come."""
        self._note(self._deliveries.rest())

    def _note(self, points: Iterable[tuple[AccountKey, TrailKey, Point]]) -> None:
        for one in points:
            self._accounts.note_point(*one)


def count_stretch(accounts: Accounts, one: Row) -> None:
    """Remember which stretch of a snapshot the window has."""
    group_key = AccountKey(one.window, one.table, one.source_table, one.declared)
    accounts.add_stretch(group_key, one.facts or "")


def count_conflict(accounts: Accounts, one: Row, other: Row) -> None:
    """Count a row that contradicts another one, and keep where both stand."""
    group_key = AccountKey(other.window, other.table, other.source_table, other.declared)
    accounts.warn(group_key, conflicts.WORD, conflicts.in_words(one, other))


def account_batch(accounts: Accounts) -> pa.RecordBatch:
    """One row of ``OUTPUT`` that holds a task's accounts, as text in ``payload``."""
    values = {"kind": ACCOUNT, "payload": accounts.text().encode()}
    return pa.RecordBatch.from_arrays(
        [pa.array([values.get(one.name)], one.type) for one in OUTPUT], schema=OUTPUT
    )
