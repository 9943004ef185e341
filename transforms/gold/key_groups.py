"""One key of a gold table in a run: what is stored of it, its base row, and all its changes in their order."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import NamedTuple

import pyarrow as pa

from transforms.change import Change, Key, LogPosition
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Table
from transforms.gold import fold_rows
from transforms.gold.fold import (
    ABSENT,
    Fold,
    Last,
    State,
    Version,
    resolve_key_changes,
    unread_state,
)
from transforms.gold.fold_rows import (
    BASE,
    CARRIED,
    CHANGE,
    GOLD,
    VERSION,
    FoldRow,
    is_marked,
    last_of,
    read_fold_rows,
    version_of,
)
from transforms.gold.ordering import Counts, distinct, merge_sorted
from transforms.gold.range_deletes import RangeDelete, RangeDeletesByKey


@dataclass(slots=True)
class DeliveryCounts:
    """What a key's deliveries add up to, by the ids of their events.

    ``last``: the key's last change in gold. ``deliveries``: how many deliveries of the key's own events the run brings.
    ``new``: the ids of these events; ``older``: of those among them that stand before the last one. ``old``: the ids of
    events that other windows brought.
    """

    last: Last | None
    deliveries: int = 0
    new: set[str] = field(default_factory=set)
    older: set[str] = field(default_factory=set)
    old: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Gold has had the last one."""
        if self.last is not None:
            self.old.add(self.last.event_id)

    def add(self, change: Change, *, is_new: bool) -> None:
        """Count a delivery; ``is_new``: whether the run brings it."""
        if not is_new:
            self.old.add(change.event_id)
        elif not change.is_derived:
            self.deliveries += 1
            self.new.add(change.event_id)
            if self.last is not None and change.log_position < self.last.log_position:
                self.older.add(change.event_id)

    def repeats(self) -> int:
        """How many of the deliveries came before, in this run or in others."""
        return self.deliveries - len(self.new - self.old)

    def superseded(self, *, came_late: bool) -> int:
        """How many new events stand before the last one and changed nothing.

        0 where some event came late: nobody can tell which of them it was.
        """
        return 0 if came_late else len(self.older - self.old)


@dataclass(frozen=True, slots=True)
class StoredRow:
    """What gold has of a key: the newer of its row and its tombstone.

    ``state``: what the key is (``unread_state`` where its values were not asked for), with the last change that counted
    and the reset position. ``is_torn``: the tombstone is newer than a row that is still there, as a run leaves it that
    ended between its two commits.
    """

    state: State
    is_torn: bool = False

    def says(
        self, fold: Fold, state: State, compaction_watermark: CompactionWatermark | None = None
    ) -> bool:
        """Whether gold already has all of this state: the last change and the values, where they were read."""
        mine = self.state
        return (
            not self.is_torn
            and mine.last is not None
            and state.last is not None
            and (mine.effect, mine.copies) == (state.effect, state.copies)
            and mine.last[:3] == state.last[:3]
            and _equal_above(mine.reset, state.reset, compaction_watermark)
            and self.has_row_of(fold, state)
        )

    def has_row_of(self, fold: Fold, state: State) -> bool:
        """Whether gold has the row that the state describes, or no row where it describes none; positions do not count.

        Of a row whose values were not read, only its presence is compared.
        """
        mine = self.state
        if mine.is_live != state.is_live:
            return False
        if "remove" in (mine.effect, state.effect):
            return mine.effect == state.effect
        if mine.effect == "update":
            return True
        # In a table with a key, further rows of the key were written by somebody else.
        is_as_often = fold.has_key or mine.copies == state.copies
        return is_as_often and all(
            mine.columns.get(name) == state.columns.get(name) for name in fold.values
        )


def _equal_above(
    one: LogPosition | None,
    other: LogPosition | None,
    compaction_watermark: CompactionWatermark | None,
) -> bool:
    """Whether two reset positions are equal above the compaction watermark.

    No change at or below it ever comes to gold, so that a reset position there is as good as none.
    """
    above = [
        None
        if at is None
        or (compaction_watermark is not None and compaction_watermark.covers(at, len(at)))
        else at
        for at in (one, other)
    ]
    return above[0] == above[1]


class KeyGroup(NamedTuple):
    """All that is known of one key in a run.

    ``stored``: what gold has of it, in ``copies`` rows. ``base``, ``base_streams``: what it was at the compaction
    watermark, and the streams of the changes up to there. ``changes``: each with its stream, and whether the run brings
    it; in the order of their positions. They come once, and have to be taken before the next key is asked for: a hot
    key may have more changes than fit into memory. ``is_asked``: an earlier stage asks for the key's history.
    ``versions``: those in the table of versions.
    """

    key: Key
    stored: StoredRow | None
    copies: int
    base: State
    base_streams: frozenset[str | None]
    changes: Iterator[tuple[Change, str | None, bool]]
    is_asked: bool
    versions: Sequence[Version]


@dataclass(frozen=True, slots=True)
class FoldInput:
    """What the stages have to know of one table.

    ``range_deletes``: its range deletes. ``depends``: changes depend on what the row was, so that gold's values are
    read. ``keeps_history``: events below the reset position matter, too. ``moves``: keys of one ``group`` may be linked
    by key changes. ``full_rebuild``: the table is made from all changes. ``crosses``: range deletes reach keys of other
    streams; ``released``: the events that a person has let act. ``compaction_watermark``: up to where the table's
    history is in its base; None where nothing is compacted. ``by_newest``: no change of a row depends on what the row
    was, so that a key's newest change may decide it (``newest``). ``updates_find_rows``: an update is of a row that is
    there in the source, so that a row that begins with one has lost its insert.
    """

    table: Table
    range_deletes: Sequence[RangeDelete] = ()
    depends: bool = False
    keeps_history: bool = False
    moves: bool = False
    full_rebuild: bool = False
    crosses: bool = False
    released: frozenset[str] = frozenset()
    compaction_watermark: CompactionWatermark | None = None
    by_newest: bool = False
    updates_find_rows: bool = False


def linked_key_groups(
    given: FoldInput, batches: Iterable[pa.RecordBatch]
) -> Iterator[Iterator[KeyGroup]]:
    """The keys of each group, with all their rows; where keys are not linked, each is a group of its own."""
    rows = read_fold_rows(batches, fold_rows.respelling(given.table), grouped=given.moves)
    for _, some in groupby(rows, key=lambda one: one[0]):
        if not given.moves:
            yield iter([_key_group(given, (row for _, row in some))])
            continue
        of_keys: dict[Key, list[FoldRow]] = {}
        for _, row in some:
            of_keys.setdefault(row.key, []).append(row)
        yield (_key_group(given, each) for each in of_keys.values())


def _key_group(given: FoldInput, rows: Iterable[FoldRow]) -> KeyGroup:
    """What one key's rows say; changes come last, and are read only as they are taken."""
    before: list[FoldRow] = []
    base, streams = ABSENT, frozenset[str | None]()
    first: list[FoldRow] = []
    key: Key = ()
    carried: tuple[StoredRow | None, int] | None = None
    is_asked = False
    versions: list[Version] = []
    rest = iter(rows)
    for row in rest:
        key = row.key
        if row.what == CHANGE:
            first.append(row)
            break
        if row.what == BASE:
            last = last_of(row)
            columns = {**given.table.before_added, **row.change.after}
            base = State(
                *("replace", columns, row.copies, last, last.log_position),
                is_deleted=is_marked(row),
            )
            streams = frozenset(row.streams)
        elif row.what == CARRIED:
            is_asked = True
            carried = None if row.carried is None else pickle.loads(row.carried)
        elif row.what == VERSION:
            versions.append(version_of(row))
        else:
            before.append(row)
    if carried is None:
        copies = sum(one.what == GOLD for one in before)
        carried = _stored(given, before, copies), copies
    changes = ((row.change, row.stream, row.is_new) for row in chain(first, rest))
    return KeyGroup(key, *carried, base, streams, changes, is_asked, versions)


def _stored(given: FoldInput, before: Sequence[FoldRow], copies: int) -> StoredRow | None:
    """What gold has of the key, by its rows and tombstones: the newest of them counts."""
    if not before:
        return None
    # At the same position a row comes after its tombstone: removes are applied first.
    newest = max(
        before, key=lambda one: (one.change.log_position, one.what == GOLD, one.change.event_id)
    )
    row = next((one for one in before if one.what == GOLD), None)
    last = last_of(newest)
    if row is None or row.change.log_position < last.log_position:
        return StoredRow(State("remove", {}, 0, last, newest.reset), is_torn=row is not None)
    if not given.table.key:
        return StoredRow(State("replace", {}, copies, last, newest.reset))
    is_deleted = is_marked(row)
    if given.depends:
        state = State("replace", row.change.after, 1, last, newest.reset, is_deleted)
        return StoredRow(state)
    return StoredRow(
        unread_state(is_present=True, last=last, reset=newest.reset, is_deleted=is_deleted)
    )


@dataclass(frozen=True, slots=True)
class OrderedChanges:
    """One key: what is known of it, and its changes in order; where a change moves a row here, with that row's values.

    The changes can be taken once; ``deliveries``, ``counts`` and ``streams`` are complete when all of them have been
    taken. ``in_doubt``: the range deletes of other streams that may have been before or after the key's last changes.
    """

    key: KeyGroup
    changes: Iterator[Change]
    deliveries: DeliveryCounts
    counts: Counts
    streams: set[str | None]
    in_doubt: Sequence[str] = ()


def ordered_changes(
    given: FoldInput, fold: Fold, by_key: RangeDeletesByKey, key_groups: Sequence[KeyGroup]
) -> list[OrderedChanges]:
    """The ordered changes of some keys that key changes link, or of a single key."""
    found = [_ordered_changes(given, one, by_key) for one in key_groups]
    if not given.moves:
        return found
    before = {one.key.key: one.key.base for one in found if one.key.base is not ABSENT}
    own = {one.key.key: [*one.changes] for one in found}
    resolved = resolve_key_changes(fold, own, before)
    return [replace(one, changes=iter(resolved[one.key.key])) for one in found]


def _ordered_changes(given: FoldInput, one: KeyGroup, by_key: RangeDeletesByKey) -> OrderedChanges:
    deliveries = DeliveryCounts(None if one.stored is None else one.stored.state.last)
    counts, streams = Counts(), set(one.base_streams)

    def own_changes() -> Iterator[Change]:
        for change, stream, is_new in one.changes:
            if not change.is_range_delete:
                streams.add(stream)
            deliveries.add(change, is_new=is_new)
            yield change

    own: Iterable[Change] = own_changes()
    matching = [*by_key.matching(one.key)]
    if any(range_delete.stream is not None for range_delete in matching):
        # Whether they are for the key depends on the streams of all its changes.
        own = [*own]
    range_deletes = [*by_key.of(one.key, streams)]
    in_doubt: list[str] = []
    if given.crosses:
        own = [*own]
        crossed, in_doubt = _of_other_streams(given, one, matching, own)
        range_deletes += crossed
    for change in range_deletes:
        deliveries.add(change, is_new=not change.is_past)
    return OrderedChanges(
        one,
        distinct(merge_sorted(own, range_deletes), counts),
        *(deliveries, counts, streams, in_doubt),
    )


def _of_other_streams(
    given: FoldInput, one: KeyGroup, matching: Iterable[RangeDelete], own: Sequence[Change]
) -> tuple[list[Change], list[str]]:
    """The range deletes of other streams that a key meets, each at its place; and those whose place is in doubt."""
    found, in_doubt = [], []
    for range_delete in matching:
        if range_delete.stream is None:
            continue
        of_own = (None, range_delete.stream)
        others = [change for change in own if change.stream not in of_own]
        last = one.base.last
        if last is not None and not one.base_streams <= {*of_own}:
            # The base stands for all changes up to its own.
            position, event_id, at, _ = last
            effect = "remove" if one.base.is_deleted else "replace"
            others.insert(0, Change(effect, position, 0, event_id, at, {}, {}, {}))
        is_released = range_delete.change.event_id in given.released
        change, is_doubtful = range_delete.among_others(others, is_released=is_released)
        found += [change] if change is not None else []
        in_doubt += [range_delete.change.event_id] if is_doubtful else []
    return found, in_doubt
