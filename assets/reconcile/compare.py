"""Gold's tables compared with the source's: what differs, and what only seems so while changes are under way.

First all rows, in one snapshot of the source for all tables. Then the keys that differ, as often as it takes: gold is
asked, then the source in a new snapshot, then gold again once it has come past that (``judgement.py``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from assets.control import decisions, discovered_tables, ledger, progress
from assets.gold import tables as gold_tables
from assets.reconcile.gold import GoldTables, sortable
from assets.reconcile.passing import Passed, Passing
from assets.reconcile.source import Snapshot, Source, SourceTable
from assets.reconcile.table_names import Named, found_in_source, recorded_names
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from transforms.change import Key, LogPosition
from transforms.column_types.ranges import OutOfRange
from transforms.errors import UnknownKey
from transforms.feed.erasures import ErasedKeys, erased_keys
from transforms.feed.feed import Feed, Table
from transforms.near_names import did_you_mean
from transforms.reconcile.judgement import (
    BY_LOG,
    Difference,
    GoldState,
    LogPlace,
    Row,
    difference,
    judgement,
    place_of,
)
from transforms.reconcile.ranges import Found, Incomparable, Plan, differing
from transforms.reconcile.row_texts import Columns, Declared, columns_of

_STILL_MOVING: Final = "gold's row changed each time that it was looked at"
_NOT_ASKED: Final = Passed(False, "gold was not looked at")

KEYS_AT_ONCE: Final = 500
"""The rows of so many keys are read, and then the pace is kept."""

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

    ``reason``: why it was not compared; else None. ``named``: the source's name of it, and that of its changes.
    ``different`` and ``behind`` are its keys that were not the same in the end, ``caught_up`` is how many were so only
    at first. ``is_whole``: whether all keys that differ were looked at. ``repeated``: how many rows, of the source or
    of gold, have a key that another row has, too, so that nothing is known of them; ``keyless``: how many rows of the
    source have a null in their key, so that gold could have none of them. ``erased``: how many keys the source still
    has that were erased, so that gold has no row of them. ``fetched``: of how many rows of the source the key was
    fetched. ``judged_by``: what proved that gold had come past the snapshot, where keys are different; ``untold``: why
    nothing did, where keys are behind; in words.
    """

    table: str
    reason: str | None = None
    named: Named | None = None
    columns: Columns | None = None
    in_source: int = 0
    in_gold: int = 0
    fetched: int = 0
    is_whole: bool = True
    repeated: int = 0
    keyless: int = 0
    erased: int = 0
    caught_up: int = 0
    judged_by: str = ""
    untold: str = ""
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
        DecisionRefused: keys are erased, and their secret is not at hand.
        UnknownKey: a table that is asked for is none of gold's.
        UnreadableSource: the source cannot be asked.
    """
    decisions.refuse_unknown_secret(decisions.with_recorded(lake, feed))
    chosen, stopped = _chosen(lake, feed, ask.tables)
    names = recorded_names(lake, feed)
    found = [Compared(name, f"gold does not make it now: {why}") for name, why in stopped.items()]
    differ: dict[str, list[Key]] = {}
    with source.snapshot() as snapshot:
        for name, table in chosen.items():
            one = Compared(name)
            found.append(one)
            try:
                with snapshot.apart():
                    one.named = found_in_source(feed, names.get(name, []), snapshot)
                    one.reason = _prepared(one, table, snapshot)
                    if one.reason is None:
                        differ[name] = _compared(lake, feed, one, snapshot, ask)
            except Incomparable as fault:
                one.reason = str(fault)
        place = snapshot.place
    looks = _Looks(lake, feed, source, ask, place)
    for name, keys in differ.items():
        if keys:
            ask.say(f"{name}: {counted(len(keys), 'key differs', 'keys differ')}; looking at each")
    looks.judge([(one, differ.get(one.table, [])) for one in found])
    return Reconciled(place, place_of(newest_position(lake, feed), place), found)


def looked_at_again(
    sides: Sides, found: Reconciled, keys: Collection[tuple[str, Key]]
) -> Reconciled:
    """The same, with these keys (each with its table) of those that were different looked at once more."""
    lake, feed = sides.lake, sides.feed
    looks = _Looks(lake, feed, sides.source, sides.ask, found.place)
    chosen = []
    for one in found.tables:
        again = [each.key for each in one.different if (one.table, each.key) in keys]
        one.different = [each for each in one.different if (one.table, each.key) not in keys]
        one.judged_by = one.judged_by if one.different else ""
        chosen.append((one, again))
    looks.judge(chosen)
    return Reconciled(looks.place, place_of(newest_position(lake, feed), looks.place), found.tables)


def _chosen(
    lake: Lake, feed: Feed, asked: Collection[str]
) -> tuple[dict[str, Table], dict[str, str]]:
    """The gold tables that are asked for, all where none is named; and those of them that are not made now, and why."""
    tables = gold_tables.mirrors(lake, feed)
    not_made = discovered_tables.made_and_stopped(lake, feed).stopped
    for name in asked:
        if name not in tables and name not in not_made:
            hint = did_you_mean(name, [*tables, *not_made])
            known = ", ".join([*tables, *not_made]) or "none yet"
            raise UnknownKey(f"feed {feed.name} has no gold table {name!r}{hint}; it has {known}")
    return (
        {name: one for name, one in tables.items() if not asked or name in asked},
        {name: str(one.fault) for name, one in not_made.items() if not asked or name in asked},
    )


def _prepared(one: Compared, table: Table, snapshot: Snapshot) -> str | None:
    """Which columns are compared; why the table cannot be, where that is so."""
    assert one.named is not None
    if not table.key:
        return "it has no key by which rows could be told apart"
    theirs = snapshot.columns_of(one.named.table)
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
    assert one.columns is not None and one.named is not None
    ask.say(f"{one.table}: reading gold")
    gold = GoldTables(lake, feed.name, one.table, one.columns).copy()
    theirs = snapshot.table(one.named.table, one.columns)
    plan = ask.plan if theirs.is_indexed else _in_one_pass(ask.plan, gold.rows)
    pace = Pace(ask.rate)
    found = Found()
    for found in differing(theirs, gold, plan, gold.rows):
        pace.keep(found.read)
        ask.say(f"{one.table}: {found.in_source:,} rows compared, {len(found.keys):,} differ")
    one.in_source, one.in_gold = found.in_source, found.in_gold
    one.fetched, one.is_whole = found.fetched, found.is_whole
    one.repeated, one.keyless = found.repeated, found.keyless
    return found.keys


def _in_one_pass(plan: Plan, rows: int) -> Plan:
    """The plan for a table of which any question reads all rows: few questions, of many ranges each."""
    parts = 1024
    return Plan(max(rows, plan.leaf) + parts, parts, plan.leaf, plan.most, 1_000_000)


@dataclass(slots=True)
class Pace:
    """Keeps to a number of rows a second, from one question to the next: what was not used is not made up for."""

    rate: int | None
    rows: int = 0
    since: float = field(default_factory=lambda: time.monotonic())

    def keep(self, rows: int) -> None:
        """Wait until so many rows in all may have been read; some of them have since the last time."""
        if self.rate:
            time.sleep(max(self.since + (rows - self.rows) / self.rate - time.monotonic(), 0))
            self.rows, self.since = rows, time.monotonic()


def paced_rows(theirs: SourceTable, keys: Sequence[Key], rate: int | None) -> dict[Key, Row]:
    """The rows of these keys, so many of them a second."""
    pace, rows = Pace(rate), dict[Key, Row]()
    for at in range(0, len(keys), KEYS_AT_ONCE):
        rows.update(theirs.rows_of(keys[at : at + KEYS_AT_ONCE]))
        pace.keep(len(rows))
    return rows


@dataclass(slots=True)
class _Look:
    """Some keys of one table that differ: what gold said of them, and what the source has and gold says now."""

    one: Compared
    gold: GoldTables
    keys: Sequence[Key]
    before: Mapping[Key, GoldState]
    rows: Mapping[Key, Row] = field(default_factory=dict)
    after: Mapping[Key, GoldState] = field(default_factory=dict)
    passed: Passed = _NOT_ASKED

    def ask_gold(self, passing: Passing) -> bool:
        """Look at gold; whether a later look could say more."""
        # In this order: what gold has when it is past, it has afterwards, too.
        self.passed = passing.passed(self.one.table)
        self.after = self.gold.states(self.keys)
        are_equal = all(self.after[key].row == self.rows.get(key) for key in self.keys)
        return not (self.passed.is_proved or are_equal)

    def judge(self, *, is_over: bool) -> None:
        """Say of each key what it is; those that are to be looked at again are left, unless the time is over."""
        one, moving = self.one, list[Key]()
        assert one.columns is not None
        for key in self.keys:
            row, now = self.rows.get(key), self.after[key]
            said = judgement(row, self.before[key], now, has_passed=self.passed.is_proved)
            if said == "equal":
                one.caught_up += 1
            elif said == "different":
                one.different.append(difference(key, row, now.row, one.columns.all))
                one.judged_by = self.passed.says
            elif said == "ahead" and not is_over:
                moving.append(key)
            else:
                one.behind.append(Behind(key, row, now.row))
                one.untold = _STILL_MOVING if self.passed.is_proved else self.passed.says
        self.keys, self.before = moving, self.after


def _sort(one: Compared) -> None:
    """Put the keys into gold's order: they were found range by range, and some were known later than others."""
    if (columns := one.columns) is not None:
        one.different.sort(key=lambda each: sortable(each.key, columns))
        one.behind.sort(key=lambda each: sortable(each.key, columns))


@dataclass(slots=True)
class _Looks:
    """Looks at the keys that differ, of all tables at once, until each is known to be the same or different."""

    lake: Lake
    feed: Feed
    source: Source
    ask: Ask
    place: LogPlace
    waits_since: float | None = None
    """When the first look was over that left something open, by the clock of ``monotonic``."""

    def judge(self, differ: Sequence[tuple[Compared, Sequence[Key]]]) -> None:
        """Look at some keys of some tables until all is known of them that can be, or time is over."""
        known = decisions.with_recorded(self.lake, self.feed)
        erased = erased_keys(known.name, known.decisions.erasures, known.erasure_key)
        looks = [self._first(one, keys, erased) for one, keys in differ if keys]
        looks = [look for look in looks if look.keys]
        while looks:
            passing = Passing.begun(self.lake, self.feed, self.source, is_idle=self.ask.is_idle)
            with self.source.snapshot() as snapshot:
                looks = [look for look in looks if self._ask_source(look, snapshot)]
                self.place = passing.place = snapshot.place
            self._wait_for_gold(looks, passing)
            for look in looks:
                look.judge(is_over=self._is_over)
            looks = [look for look in looks if look.keys]
            if looks:
                self._sleep()
        for one, _ in differ:
            _sort(one)

    def _first(self, one: Compared, keys: Sequence[Key], erased: ErasedKeys | None) -> _Look:
        assert one.columns is not None
        gold = GoldTables(self.lake, self.feed.name, one.table, one.columns)
        states = gold.states(keys)
        # Gold lacks them on purpose, and nobody is to see the rows that the source still has of them.
        left_out = {
            key
            for key in keys
            if states[key].row is None
            and erased is not None
            and erased.has(one.table, (key,), None, None, None)
        }
        one.erased += len(left_out)
        return _Look(one, gold, [key for key in keys if key not in left_out], states)

    def _ask_source(self, look: _Look, snapshot: Snapshot) -> bool:
        """Read the keys in the source; whether it lets them be read."""
        one = look.one
        assert one.columns is not None and one.named is not None
        try:
            with snapshot.apart():
                theirs = snapshot.table(one.named.table, one.columns)
                look.rows = paced_rows(theirs, look.keys, self.ask.rate)
        except Incomparable as fault:
            one.reason, one.different, one.behind = str(fault), [], []
            return False
        return True

    def _wait_for_gold(self, looks: Sequence[_Look], passing: Passing) -> None:
        """Look at gold until it is past the snapshot, or has all rows of the source, or time is over."""
        while True:
            looks = [look for look in looks if look.ask_gold(passing)]
            if not looks or self._is_over or self.feed.format not in BY_LOG:
                return
            left = f"for at most {self._left:,.0f} s more"
            self.ask.say(
                f"{looks[0].gold.name}: waiting, {left}, until gold has come to the snapshot"
            )
            self._sleep()

    @property
    def _is_over(self) -> bool:
        return self._left <= 0

    @property
    def _left(self) -> float:
        """How many seconds may still be waited."""
        # Looks count, too: on a crowded machine each may take minutes.
        since = self.waits_since
        return self.ask.wait - (0.0 if since is None else time.monotonic() - since)

    def _sleep(self) -> None:
        self.waits_since = self.waits_since or time.monotonic()
        time.sleep(LOOK_SECONDS)


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
