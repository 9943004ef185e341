"""A lake in memory: the product's plain functions from drawn events to gold, without Spark and without tables.

Between two runs it keeps what the tables would keep. Not here: what gold should be (``oracle``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.laws.gold.silver_in_memory import Silver
from tests.laws.oracle.oracle import Event
from transforms.feed.feed import Feed, Table
from transforms.gold.change import Change, Key
from transforms.gold.current import Current
from transforms.gold.fold import Fold
from transforms.gold.history import Version, versions
from transforms.gold.key_changes import Links
from transforms.gold.scopes import Scoped
from transforms.gold.state import ABSENT, State, unread
from transforms.gold.table import apply_changes, folded_from_history, steps
from transforms.gold.table_changes import NewChanges, TableOutcome
from transforms.gold.transactions import at_commit


@dataclass(frozen=True, slots=True)
class Visible:
    """One change that counts, in its window; ``is_new``: it came, or was released, with the run."""

    window: str
    key: Key | None
    stream: str | None
    change: Change
    scoped: Scoped | None
    is_new: bool


@dataclass(slots=True)
class Gold:
    """One gold table as it stands: the row of each key that is there, and the tombstones."""

    rows: dict[Key, State] = field(default_factory=dict)
    tombstones: dict[Key, State] = field(default_factory=dict)

    def put(self, key: Key, state: State) -> None:
        """Have a row; a tombstone behind its last change is known better now, and goes."""
        if state.effect == "merge":
            state = replace(state, columns={**self.rows[key].columns, **state.columns})
        self.rows[key] = state
        stone = self.tombstones.get(key)
        assert state.last is not None  # some change counted
        if stone is not None and stone.last is not None and stone.last[0] > state.last.position:
            del self.tombstones[key]


@dataclass
class Lake:
    """All windows' records, what was derived of them so far, and the gold tables.

    ``finished``: windows that all tables have. ``done``: what the last run did to each table.
    """

    feed: Feed
    records: Mapping[str, Sequence[Event]]
    gold: dict[str, Gold] = field(default_factory=lambda: defaultdict(Gold))
    finished: set[str] = field(default_factory=set)
    done: dict[str, TableOutcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.silver = Silver(self.feed)

    def run(self, windows: Sequence[str], ends: str = "", *, is_read: bool = False) -> None:
        """Bring these windows to gold; ``ends``: the run ends behind ``silver``, or behind the ``tombstones``.

        ``is_read``: with the values of gold's rows also where no change depends on them.
        """
        for window in windows:
            self.silver.derive(window, self.records[window])
        if ends == "silver":
            return
        for name, table in self.feed.tables.items():
            is_torn = ends == "tombstones"
            self._apply(name, table, windows, is_torn=is_torn, is_read=is_read)
        if not ends:
            self.finished.update(windows)

    def rebuilt(self, name: str) -> dict[Key, State]:
        """What the keys of a table are by all of silver, from the first event."""
        table = self.feed.tables[name]
        changes = self._visible(name, list(self.silver.windows))
        new, silver = self._new(table, changes), _TableChanges(changes)
        return folded_from_history(Fold.of(table), new, silver)

    def versions(self, name: str) -> dict[Key, list[Version]]:
        """Every version of every row of a table, by all of silver."""
        table, fold = self.feed.tables[name], Fold.of(self.feed.tables[name])
        changes = self._visible(name, list(self.silver.windows))
        of_keys, before = steps(fold, self._new(table, changes), _TableChanges(changes))
        return {key: versions(fold, some, before.get(key, ABSENT)) for key, some in of_keys.items()}

    def _apply(
        self, name: str, table: Table, windows: Sequence[str], *, is_torn: bool, is_read: bool
    ) -> None:
        changes = self._visible(name, windows)
        gold, fold = self.gold[name], Fold.of(table)
        depends = any(
            one.change.attribute_ops or one.change.effect == "remove_if" for one in changes
        )
        current = {
            key: standing(gold, key, is_read=is_read or depends or not fold.has_key)
            for key in {*gold.rows, *gold.tombstones}
        }
        done = apply_changes(fold, self._new(table, changes), current, _TableChanges(changes))
        self.done[name] = done
        for key, state in done.states.items():
            if state.effect == "remove":
                gold.tombstones[key] = state
                if not is_torn:
                    gold.rows.pop(key, None)
            elif not is_torn:
                gold.put(key, state)

    def _new(self, table: Table, changes: Sequence[Visible]) -> NewChanges:
        own: dict[Key, list[Change]] = defaultdict(list)
        scoped = []
        for one in changes:
            if one.scoped is not None:
                past = replace(one.change, is_past=not one.is_new)
                scoped.append(replace(one.scoped, change=past))
            elif one.is_new and one.key is not None:
                own[one.key].append(one.change)
        moves = any(one.change.effect == "move" for one in changes)
        return NewChanges(own, scoped, moves, table.history)

    def _visible(self, name: str, windows: Sequence[str]) -> list[Visible]:
        """The table's changes that count, each at its place."""
        in_gold = self.finished.difference(windows)
        released = self.silver.released([*self.records], in_gold)
        found = []
        for window in self.silver.windows:
            here = window in windows
            for row in self.silver.rows(window, name):
                change, transaction, is_new = row.change, row.transaction, here
                if transaction is not None:
                    commit = transaction["commit"]
                    if commit is None:
                        if transaction["id"] not in released:
                            continue
                        commit, by_now = released[transaction["id"]]
                        is_new = is_new or by_now
                    if transaction["at_commit"]:
                        change = at_commit(change, tuple(commit))
                scoped = row.scoped and replace(row.scoped, change=change)
                found.append(Visible(window, row.key, row.stream, change, scoped, is_new))
        return found


@dataclass(frozen=True)
class _TableChanges:
    changes: Sequence[Visible]

    def history(self, keys: Collection[Key] | None) -> Mapping[Key, Sequence[Change]]:
        found: dict[Key, list[Change]] = defaultdict(list)
        for one in self.changes:
            if one.scoped is None and one.key is not None and (keys is None or one.key in keys):
                found[one.key].append(one.change)
        return found

    def base(self, keys: Collection[Key] | None) -> Mapping[Key, State]:
        return {}

    def streams(self, keys: Collection[Key] | None) -> Mapping[Key, Collection[str | None]]:
        found: dict[Key, set[str | None]] = defaultdict(set)
        for one in self.changes:
            if one.key is not None and (keys is None or one.key in keys):
                found[one.key].add(one.stream)
        return found

    def links(self) -> Links:
        return {
            (one.change.moved_from or (), one.key)
            for one in self.changes
            if one.change.effect == "move" and one.key is not None
        }


def standing(gold: Gold, key: Key, *, is_read: bool) -> Current:
    """What gold has of a key, as the tables would tell it."""
    row, tombstone = gold.rows.get(key), gold.tombstones.get(key)
    # At one position a row stands behind its tombstone: removes come first.
    newest = max(
        (one for one in (row, tombstone) if one is not None and one.last is not None),
        key=lambda one: (one.last.position, one is row),  # type: ignore[union-attr]
    )
    assert newest.last is not None
    is_torn = row is not None and newest is not row
    if is_read:
        # Gold's row is whole, whatever change was the last one.
        effect = "put" if newest is row else "remove"
        return Current(replace(newest, effect=effect), is_torn)
    state = unread(is_present=newest is row, last=newest.last, reset=newest.reset)
    return Current(state, is_torn)
