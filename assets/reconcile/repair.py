"""Keys that differ, read again in the source, and recorded in bronze as what the source held at a place in its log.

The row stands at that place: behind all that the source had written by then, before all that it writes later. So an
older change that arrives late does not undo it, a newer one counts, and whatever is made again of bronze has it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from assets.bronze import source_rows
from assets.control import decisions
from assets.control.decisions import Signature
from assets.gold import tables as gold_tables
from assets.maintenance.repair import tried_alone
from assets.quarantine.records import source_location_of
from assets.reconcile.compare import (
    LOOK_SECONDS,
    Compared,
    Reconciled,
    Sides,
    newest_position,
    paced_rows,
)
from assets.reconcile.gold import GoldTables
from assets.reconcile.source import TimedSnapshot
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from transforms.change import STREAM, Key, LogPosition
from transforms.column_types.parts import leaves
from transforms.column_types.registry import column_type
from transforms.errors import DecisionRefused
from transforms.feed.erasures import erased_keys
from transforms.feed.feed import Feed, Table
from transforms.reconcile.judgement import (
    BY_LOG,
    Difference,
    GoldState,
    LogPlace,
    Row,
    difference,
    place_of,
)
from transforms.reconcile.ranges import Incomparable
from transforms.reconcile.source_values import value_of
from transforms.silver.source_repairs import Bytes, Described, Operation, SourceRow, position_at

MOST_KEYS = 1_000
"""Maximum number of keys of a table that are repaired: more are no single faults, and want a new snapshot."""


@dataclass(frozen=True, slots=True)
class Repair:
    """One key that is to be recorded.

    ``found``: what differs now. ``row``: what bronze gets. ``unread``: the columns of gold that are not read of the
    source: they keep what they have.
    """

    table: str
    found: Difference
    row: SourceRow
    unread: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """One key, or a table (``key`` is None), that cannot be repaired, and why."""

    table: str
    key: Key | None
    why: str


@dataclass(slots=True)
class RepairPlan:
    """What would be recorded, at which place of the source's log, and what would not.

    ``caught_up``: how many keys are the same by now.
    """

    place: LogPlace
    repairs: list[Repair] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    caught_up: int = 0


def read_again(sides: Sides, found: Reconciled, signed: Signature) -> RepairPlan:
    """Read the keys that are different again in the source, in one snapshot of all tables; nothing is written.

    A table of which the server refuses them, or more differ than are repaired, is left, and the others are read.
    Where gold has come past the place by then, a newer snapshot is taken, until ``ask.wait`` is over.

    Raises:
        DecisionRefused: the feed's changes do not stand by the source's log.
        UnreadableSource: the source cannot be asked.
    """
    feed, ask = sides.feed, sides.ask
    if feed.format not in BY_LOG:
        raise DecisionRefused(
            feed.name,
            f"changes of format {feed.format} do not stand by the log that the source itself names, so that nothing"
            " would put a row that is read again among them; take a new snapshot by the extractor",
        )
    feed = decisions.with_recorded(sides.lake, feed)
    decisions.refuse_unknown_secret(feed)
    reading = _Reading(sides.lake, feed, signed, ask.rate)
    deadline = time.monotonic() + ask.wait
    while True:
        with sides.source.complete_snapshot(ask.wait) as snapshot:
            plan, are_behind = reading.plan(found, snapshot)
        if not are_behind:
            break
        if time.monotonic() >= deadline:
            plan.left += are_behind
            break
        ask.say("gold has come past the source's snapshot; taking a newer one")
        time.sleep(LOOK_SECONDS)
    _leave_unfit(feed, plan)
    return plan


@dataclass(slots=True)
class _Reading:
    """Reads keys again for one feed, in one snapshot after the other."""

    lake: Lake
    feed: Feed
    signed: Signature
    rate: int | None

    def plan(self, found: Reconciled, snapshot: TimedSnapshot) -> tuple[RepairPlan, list[Left]]:
        """What would be recorded by this snapshot, and the keys of which gold has come past it."""
        plan, are_past = RepairPlan(snapshot.place), []
        position = position_at(snapshot.place.numbers, snapshot.read_at)
        newest = newest_position(self.lake, self.feed)
        # The source begins a log again in an epoch of its own: all of gold that is older is older.
        epoch = newest[0] if newest else position[0]
        mirrors = gold_tables.mirrors(self.lake, self.feed)
        decided = self.feed.decisions.erasures
        erased = erased_keys(self.feed.name, decided, self.feed.erasure_key)
        for one in found.tables:
            if not one.different:
                continue
            if why := self._refusal(mirrors[one.table], one, snapshot.place):
                plan.left.append(Left(one.table, None, why))
                continue
            assert one.columns is not None and one.named is not None
            keys = [each.key for each in one.different]
            try:
                with snapshot.apart():
                    theirs = snapshot.table(one.named.table, one.columns)
                    rows = paced_rows(theirs, keys, self.rate)
            except Incomparable as fault:
                plan.left.append(Left(one.table, None, str(fault)))
                continue
            states = GoldTables(self.lake, self.feed.name, one.table, one.columns).states(keys)
            for key in keys:
                row, state = rows.get(key), states[key]
                if row == state.row:
                    plan.caught_up += 1
                elif erased is not None and erased.has(one.table, (key,), None, None, None):
                    plan.left.append(Left(one.table, key, "the key was erased (`weir erase`)"))
                elif _is_past(state, (epoch, *position[1:])):
                    why = (
                        "gold's row is of a change that stands behind the place where the source's log is now; where"
                        " such a change says no place in its log file, let the source begin a new one (FLUSH BINARY"
                        " LOGS)"
                    )
                    are_past.append(Left(one.table, key, why))
                else:
                    plan.repairs.append(
                        self._repair(one, mirrors[one.table], key, (row, state.row), snapshot)
                    )
        return plan, are_past

    def _refusal(self, table: Table, one: Compared, place: LogPlace) -> str | None:
        if not one.is_whole or len(one.different) > MOST_KEYS:
            many = f"{'' if one.is_whole else 'more than '}{counted(len(one.different), 'key')}"
            return (
                f"{many} differ, and at most {MOST_KEYS:,} are repaired of a table: take a new snapshot of it by the"
                " extractor"
            )
        if table.snapshots == "replace":
            return "each window brings the whole table (`snapshots: replace`)"
        rows = self.lake.in_process_table(Layer.ACCOUNTING, self.feed.name).rows(
            ["table", "last_position"]
        )
        if any(
            row["table"] == one.table
            and row["last_position"]
            and row["last_position"][1] == STREAM
            and place_of(tuple(row["last_position"]), place) is None
            for row in rows
        ):
            return (
                "its changes stand as in their topic, not by the source's log, so that nothing would put a row that is"
                " read again among them; take a new snapshot by the extractor"
            )
        return None

    def _repair(
        self,
        one: Compared,
        table: Table,
        key: Key,
        rows: tuple[Row | None, Row | None],
        snapshot: TimedSnapshot,
    ) -> Repair:
        assert one.columns is not None and one.named is not None
        in_source, in_gold = rows
        compared = one.columns.all if in_source is not None else one.columns.key
        texts: Row = (
            dict(zip([part.name for part in one.columns.key], key, strict=True))
            if in_source is None
            else in_source
        )
        values = {}
        for column in compared:
            value = value_of(texts[column.name], column)
            values[column.source.name] = Bytes.of(value) if isinstance(value, bytes) else value
        known = {column.name for column in one.columns.all}
        unread = tuple(name for name in table.columns if name not in known)
        operation: Operation = "read"
        if in_source is None:
            operation = "delete"
        elif unread:
            operation = "update"
        read = [
            path
            for column in compared
            for path, _ in leaves(column.source.name, column_type(column.kind))
        ]
        row = SourceRow(
            table=one.named.called,
            names=one.named.in_stream,
            operation=operation,
            columns=values,
            log_position=position_at(snapshot.place.numbers, snapshot.read_at),
            read_at=snapshot.read_at,
            by=self.signed.by or "",
            reason=self.signed.reason or "",
            read=tuple(read),
            described=None if table.name in self.feed.tables else _described(table),
        )
        found = difference(key, in_source, in_gold, one.columns.all)
        return Repair(one.table, found, row, unread if operation == "update" else ())


def _is_past(state: GoldState, position: LogPosition) -> bool:
    """Whether gold's row, or its removal, is of a change that comes behind a position."""
    return state.change is not None and state.change[0] >= position


def _described(table: Table) -> Described:
    """A table as its stream describes it."""
    of_source = {gold: source for source, gold in table.spelled.items()}
    return Described(
        tuple(of_source.get(name, name) for name in table.key),
        tuple((of_source.get(name, name), kind) for name, kind in table.columns.items()),
    )


def _leave_unfit(feed: Feed, plan: RepairPlan) -> None:
    """Leave out what would go to quarantine: the source has values that gold's type has not."""
    if not plan.repairs:
        return
    records = source_rows.as_bronze(feed, [one.row for one in plan.repairs], datetime.now(UTC))
    tried = tried_alone(feed, records.to_pylist())
    places = [source_location_of(row) for row in records.to_pylist()]
    fitting = []
    for one, place in zip(plan.repairs, places, strict=True):
        if faults := tried.quarantined.get(place):
            plan.left.append(Left(one.table, one.found.key, faults[0]))
        else:
            fitting.append(one)
    plan.repairs = fitting


def record(lake: Lake, feed: Feed, repairs: Sequence[Repair]) -> str:
    """Record what was planned in bronze, in one commit; returns the window that is due now."""
    rows = [one.row for one in repairs]
    return source_rows.add(lake, feed, source_rows.as_bronze(feed, rows, datetime.now(UTC)))


def by_table(repairs: Sequence[Repair]) -> Mapping[str, list[Repair]]:
    """Repairs by gold table."""
    found: dict[str, list[Repair]] = {}
    for one in repairs:
        found.setdefault(one.table, []).append(one)
    return found
