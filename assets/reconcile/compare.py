"""Gold's tables compared with the source's: what differs, and what only seems so while changes are under way.

First all rows, in one snapshot of the source for all tables. Then the keys that differ, as often as it takes: gold is
asked, then the source in a new snapshot, then gold again once it has come past that (``judgement.py``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assets.control import ledger, progress
from assets.gold import tables as gold_tables
from assets.reconcile.gold import GoldTables
from assets.reconcile.source import Snapshot, Source
from assets.storage.lake import Lake, Layer
from transforms.change import Key, LogPosition
from transforms.column_types.ranges import OutOfRange
from transforms.errors import UnknownKey
from transforms.feed.feed import Feed, Table
from transforms.near_names import did_you_mean
from transforms.reconcile.judgement import (
    BY_LOG,
    Difference,
    GoldState,
    LogPlace,
    Row,
    difference,
    is_past,
    judgement,
    place_of,
)
from transforms.reconcile.ranges import Found, Plan, differing
from transforms.reconcile.row_texts import Columns, Declared, columns_of

LOOK_SECONDS = 1.0
"""How long lies between two looks at how far gold has come."""


@dataclass(frozen=True, slots=True)
class Ask:
    """How a comparison is made.

    ``tables``: those that are asked for; empty: all. ``rate``: so many rows a second are read of the source; None as
    fast as it goes. ``wait``: so many seconds are waited in all until gold has come past a snapshot. ``is_idle``:
    somebody says that all that the source has written is in gold. ``plan``: how tables are cut. ``say``: is told how it
    goes.
    """

    tables: Collection[str] = ()
    rate: int | None = None
    wait: float = 60.0
    is_idle: bool = False
    plan: Plan = field(default_factory=Plan)
    say: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class Sides:
    """What is compared with what, and how."""

    lake: Lake
    feed: Feed
    source: Source
    ask: Ask


@dataclass(frozen=True, slots=True)
class Behind:
    """A key that differed, and of which gold may still be on its way to what the source has."""

    key: Key
    in_source: Row | None
    in_gold: Row | None


@dataclass(slots=True)
class Compared:
    """What is known of one table.

    ``reason``: why it was not compared; else None. ``in_source_called``: the source's name of it, ``in_stream_called``
    that of its changes, with what the connection has chosen. ``different`` and
    ``behind`` are its keys that were not the same in the end, ``caught_up`` is how many were so only at first.
    ``is_whole``: whether all keys that differ were looked at. ``fetched``: of how many rows of the source the key was
    fetched.
    """

    table: str
    reason: str | None = None
    in_source_called: str = ""
    in_stream_called: str = ""
    columns: Columns | None = None
    in_source: int = 0
    in_gold: int = 0
    fetched: int = 0
    is_whole: bool = True
    caught_up: int = 0
    different: list[Difference] = field(default_factory=list)
    behind: list[Behind] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What is known of a feed.

    ``place`` is that of the first snapshot in the source's log, ``newest`` that of gold's newest change; None where
    changes do not stand by that log.
    """

    place: LogPlace
    newest: LogPlace | None
    tables: Sequence[Compared]


def reconciled(lake: Lake, feed: Feed, source: Source, ask: Ask) -> Reconciled:
    """Gold compared with the source, table by table.

    Raises:
        UnknownKey: a table that is asked for is none of gold's.
        UnreadableSource: the source cannot be asked.
    """
    chosen = _chosen(lake, feed, ask.tables)
    names = _names_in_source(lake, feed)
    found: list[Compared] = []
    differ: dict[str, list[Key]] = {}
    with source.snapshot() as snapshot:
        for name, table in chosen.items():
            one = Compared(name)
            found.append(one)
            one.reason = _prepared(one, table, names.get(name, {}), snapshot)
            if one.reason is None:
                differ[name] = _compared(lake, feed, one, snapshot, ask)
        place = snapshot.place
    looks = _Looks(lake, feed, source, ask, place)
    for one in found:
        if differ.get(one.table):
            ask.say(f"{one.table}: {len(differ[one.table]):,} keys differ; looking at each")
            looks.judge(one, differ[one.table])
    return Reconciled(place, place_of(newest_position(lake, feed), place), found)


def looked_at_again(
    sides: Sides, found: Reconciled, keys: Collection[tuple[str, Key]]
) -> Reconciled:
    """The same, with these keys (each with its table) of those that were different looked at once more."""
    lake, feed = sides.lake, sides.feed
    looks = _Looks(lake, feed, sides.source, sides.ask, found.place)
    for one in found.tables:
        chosen = [each.key for each in one.different if (one.table, each.key) in keys]
        one.different = [each for each in one.different if (one.table, each.key) not in keys]
        if chosen:
            looks.judge(one, chosen)
    return Reconciled(looks.place, place_of(newest_position(lake, feed), looks.place), found.tables)


def _chosen(lake: Lake, feed: Feed, asked: Collection[str]) -> dict[str, Table]:
    tables = gold_tables.mirrors(lake, feed)
    for name in asked:
        if name not in tables:
            hint = did_you_mean(name, tables)
            known = ", ".join(tables) or "none yet"
            raise UnknownKey(f"feed {feed.name} has no gold table {name!r}{hint}; it has {known}")
    return {name: one for name, one in tables.items() if not asked or name in asked}


def _names_in_source(lake: Lake, feed: Feed) -> dict[str, dict[str, str]]:
    """By gold table, what the source calls the tables that its changes came from, and what these call them.

    The source: ``schema.table``; its changes: ``catalog.schema.table``.
    """
    rows = lake.in_process_table(Layer.ACCOUNTING, feed.name).rows(
        ["table", "source_table", "changes", "derived"]
    )
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        # Of erased events nobody knows what the source calls their table.
        if row["table"] and row["source_table"] and row["changes"] + row["derived"]:
            # The catalog is the database, which the connection has chosen.
            name = ".".join(row["source_table"].split(".")[-2:])
            found.setdefault(row["table"], {})[name] = row["source_table"]
    return found


def _prepared(
    one: Compared, table: Table, names: Mapping[str, str], snapshot: Snapshot
) -> str | None:
    """Which columns are compared; why the table cannot be, where that is so."""
    if not names:
        return "no change of it has come yet, so that nothing says what the source calls it"
    if len(names) > 1:
        return f"its rows come from several tables of the source: {', '.join(sorted(names))}"
    if not table.key:
        return "it has no key by which rows could be told apart"
    ((name, one.in_stream_called),) = names.items()
    one.in_source_called = name
    theirs = snapshot.columns_of(name)
    if not theirs:
        return f"the source has no table {name} that its user may see"
    of_dates: Mapping[str, OutOfRange] = table.out_of_range
    gold = {
        column: Declared(kind, column in table.masks, of_dates.get(column, "quarantine"))
        for column, kind in table.columns.items()
    }
    one.columns = columns_of(gold, table.key, theirs, table.spelled)
    if lacking := [column for column in table.key if column in one.columns.left_out]:
        return f"its key cannot be compared: {lacking[0]}: {one.columns.left_out[lacking[0]]}"
    if unordered := [
        part for part in one.columns.key if part.form.name.startswith(("float", "array"))
    ]:
        return f"its key cannot be compared: {unordered[0].name} has no order that gold shares"
    return None


def _compared(lake: Lake, feed: Feed, one: Compared, snapshot: Snapshot, ask: Ask) -> list[Key]:
    """The keys of a table that differ."""
    assert one.columns is not None
    ask.say(f"{one.table}: reading gold")
    gold = GoldTables(lake, feed.name, one.table, one.columns).copy()
    theirs = snapshot.table(one.in_source_called, one.columns)
    plan = ask.plan if theirs.is_indexed else _in_one_pass(ask.plan, gold.rows)
    pace = _Pace(ask.rate)
    found = Found()
    for found in differing(theirs, gold, plan, gold.rows):
        pace.keep(found.in_source + found.fetched)
        ask.say(f"{one.table}: {found.in_source:,} rows compared, {len(found.keys):,} differ")
    one.in_source, one.in_gold = found.in_source, found.in_gold
    one.fetched, one.is_whole = found.fetched, found.is_whole
    return found.keys


def _in_one_pass(plan: Plan, rows: int) -> Plan:
    """The plan for a table of which any question reads all rows: few questions, of many ranges each."""
    parts = 1024
    return Plan(max(rows, plan.leaf) + parts, parts, plan.leaf, plan.most, 1_000_000)


@dataclass(slots=True)
class _Pace:
    """Keeps to a number of rows a second."""

    rate: int | None
    began_at: float = field(default_factory=time.monotonic)

    def keep(self, rows: int) -> None:
        """Wait until so many rows may have been read since the beginning."""
        if self.rate:
            time.sleep(max(self.began_at + rows / self.rate - time.monotonic(), 0))


@dataclass(slots=True)
class _Looks:
    """Looks at the keys that differ, until each is known to be the same or different, or time is over."""

    lake: Lake
    feed: Feed
    source: Source
    ask: Ask
    place: LogPlace
    waited: float = 0.0

    def judge(self, one: Compared, keys: Sequence[Key]) -> None:
        """Look at some keys of one table until all is known of them that can be."""
        assert one.columns is not None
        gold = GoldTables(self.lake, self.feed.name, one.table, one.columns)
        before = gold.states(keys)
        while keys:
            with self.source.snapshot() as snapshot:
                rows = snapshot.table(one.in_source_called, one.columns).rows_of(keys)
                self.place = snapshot.place
            after, has_passed = self._gold_past(gold, keys, rows)
            moving: list[Key] = []
            for key in keys:
                row, now = rows.get(key), after[key]
                said = judgement(row, before[key], now, has_passed=has_passed)
                if said == "equal":
                    one.caught_up += 1
                elif said == "different":
                    one.different.append(difference(key, row, now.row, one.columns.all))
                elif said == "ahead" and self.waited < self.ask.wait:
                    moving.append(key)
                else:
                    one.behind.append(Behind(key, row, now.row))
            keys, before = moving, after
            if keys:
                self._sleep()

    def _gold_past(
        self, gold: GoldTables, keys: Sequence[Key], rows: Mapping[Key, Row]
    ) -> tuple[dict[Key, GoldState], bool]:
        """What gold says of the keys once it is past the snapshot, or has all their rows, or time is over."""
        while True:
            # In this order: what gold has when it is past, it has afterwards, too.
            newest = newest_position(self.lake, self.feed)
            has_passed = self.has_passed(newest)
            states = gold.states(keys)
            are_equal = all(states[key].row == rows.get(key) for key in keys)
            if has_passed or are_equal or self.waited >= self.ask.wait:
                return states, has_passed
            is_under_way = newest is None and self.feed.format in BY_LOG
            if place_of(newest, self.place) is None and not is_under_way:
                # No wait would tell.
                return states, False
            self.ask.say(f"{gold.name}: waiting until gold has come to the snapshot")
            self._sleep()

    def has_passed(self, newest: LogPosition | None) -> bool:
        """Whether gold has all that came before the snapshot, by its newest change."""
        return self.ask.is_idle or is_past(newest, self.place)

    def _sleep(self) -> None:
        time.sleep(LOOK_SECONDS)
        self.waited += LOOK_SECONDS


def newest_position(lake: Lake, feed: Feed) -> LogPosition | None:
    """Where the newest change stands that is in gold; None where all is under way, or changes stand by no log."""
    if feed.format not in BY_LOG:
        return None
    known = ledger.read_objects(lake, feed)
    late = set(progress.unfinished(lake, feed, known))
    rows = lake.in_process_table(Layer.ACCOUNTING, feed.name).rows(["window", "last_position"])
    positions: Iterator[LogPosition] = (
        tuple(row["last_position"])
        for row in rows
        if row["last_position"] and row["window"] not in late
    )
    return max(positions, default=None)
