"""The one fold: all changes of a key, one after the other, onto what the key is before them; and its versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import merge
from typing import NamedTuple, Self

from transforms.change import Change, Image, Key, LogPosition
from transforms.column_types.operations import IF_NEW, OVERWRITE, applied
from transforms.feed.feed import Table


class Last(NamedTuple):
    """The last change of a key that counted; ``event_at`` in microseconds since 1970 (UTC)."""

    log_position: LogPosition
    event_id: str
    event_at: int | None
    is_range_delete: bool


@dataclass(frozen=True, slots=True)
class State:
    """What a key is after some changes.

    ``effect``: ``replace`` (a row of exactly these ``columns``), ``update`` (the row that is there, with these columns
    overwritten) or ``remove`` (no row). ``is_deleted``: the row is there, and marked as deleted. ``copies``: how many
    such rows there are: more than one only in a table without a key. ``last``: None where no change counted yet.

    ``reset``: the position of the newest change after which nothing older can matter (a replace, an update of every
    column, a remove that leaves no row); None where there is none, or where it is not known.
    """

    effect: str
    columns: Image
    copies: int
    last: Last | None = None
    reset: LogPosition | None = None
    is_deleted: bool = False

    @property
    def is_live(self) -> bool:
        """Whether there is a row that is not deleted."""
        return self.effect != "remove" and not self.is_deleted


ABSENT = State("remove", {}, 0)
"""A key without a row."""


def unread_state(
    *, is_present: bool, last: Last, reset: LogPosition | None = None, is_deleted: bool = False
) -> State:
    """A key whose row, if there is one, has not been read."""
    effect = "update" if is_present else "remove"
    return State(effect, {}, int(is_present), last, reset, is_deleted)


@dataclass(slots=True)
class Beginning:
    """What a key's present row (``is_present``) began with, as its changes are seen one after the other.

    The source says of an update that the row was there. Where gold had none (``is_by_update``), some change is missing:
    the stream began amid the row's life, or lost what came before. Range deletes are not looked at: what is behind them
    in the source may have been in their snapshot.
    """

    is_present: bool
    is_by_update: bool = False

    def see(self, change: Change) -> None:
        """The next change."""
        if change.is_range_delete:
            return
        if change.effect == "remove":
            self.is_present = self.is_by_update = False
        elif not self.is_present:
            self.is_present, self.is_by_update = True, change.is_update

    def seeing(self, changes: Iterable[Change]) -> Iterator[Change]:
        """The changes, each seen as it is taken."""
        for change in changes:
            self.see(change)
            yield change


# Without slots: what follows from the declaration is computed once and kept.
@dataclass(frozen=True)
class Fold:
    """How the rows of one table are folded.

    A key may have nothing before its changes (a rebuild), a row that need not be read (an ``update`` overwrites some
    columns, whatever the others are), or a row with its values. So one fold serves a window on top of the table and a
    rebuild from the first event, and both come to the same rows.
    """

    columns: Mapping[str, str]
    identity: tuple[str, ...]
    defaults: Mapping[str, str]
    has_key: bool
    before_added: Mapping[str, str] = field(default_factory=dict)
    marks_deletes: bool = False

    @classmethod
    def of(cls, table: Table) -> Self:
        """The fold of a declared table."""
        return cls(
            *(table.columns, table.identity, table.defaults, bool(table.key)),
            table.before_added,
            table.marks_deletes,
        )

    @cached_property
    def values(self) -> frozenset[str]:
        """The columns that are no part of the key: what a change has to mention to say the whole row."""
        return frozenset(self.columns).difference(self.identity)

    def after(self, changes: Iterable[Change], before: State = ABSENT) -> State:
        """The state after changes in their order."""
        for change in changes:
            before = self.step(before, change)
        return before

    def step(self, state: State, change: Change) -> State:
        """The state after one change; its ``last`` is the change where it counted."""
        if change.is_range_delete and not state.is_live:
            # A range delete finds nothing to change where no row is live: it does not even count.
            return state
        if not self.has_key:
            return self._counted(state, change)
        effect, after, log_position = change.effect, change.after, change.log_position
        if effect == "remove":
            # A range delete counts only where there was a row, so that older changes still matter.
            return self._removed(state, change, None if change.is_range_delete else log_position)
        if effect == "replace":
            return State("replace", self.whole(after), 1, _last(change), log_position)
        if effect == "move":
            # The old key's row has been filled in by then (``key_changes``, docs/change_model.md).
            return State("replace", after, 1, _last(change))
        if effect == "remove_if":
            has_values = all(
                state.columns.get(name) == value for name, value in change.before.items()
            )
            if not state.is_live or has_values:
                return self._removed(state, change, None)
            return State(state.effect, state.columns, 1, _last(change), state.reset)
        return self._updated(state, change)

    def _removed(self, state: State, change: Change, reset: LogPosition | None) -> State:
        """A key that is deleted; ``reset``: nothing older than this position can bring a row back.

        Where rows are marked, the row stays as the changes before the delete have made it. So an older change that
        comes late is seen in its values, and the delete is no reset position.
        """
        if not self.marks_deletes:
            return State("remove", {}, 0, _last(change), reset or state.reset)
        effect = "replace" if state.effect == "remove" else state.effect
        return State(effect, state.columns, 1, _last(change), state.reset, is_deleted=True)

    def whole(self, row: Image) -> Image:
        """A whole row with what columns are in it that were added later."""
        return {**self.before_added, **row} if self.before_added else row

    def _counted(self, state: State, change: Change) -> State:
        """One step on a row of a table without a key: only its copies change."""
        effect, copies = change.effect, state.copies
        if effect == "update":
            # An update that changes its row is a decrement and an increment here; this one leaves the row as it was.
            return state
        if effect == "increment":
            copies += 1
        elif effect == "decrement":
            copies = max(copies - 1, 0)
        elif effect == "remove":
            copies = 0
        return State("replace" if copies > 0 else "remove", {}, copies, _last(change))

    def _updated(self, state: State, change: Change) -> State:
        """The row with some columns overwritten or changed by their operations; a new row where there was none."""
        is_new = not state.is_live
        # An update onto an absent row makes a new one, and so does one onto a row that is marked as deleted: what it
        # does not mention has its default.
        old: Image = self.defaults if is_new else state.columns
        operations = change.attribute_ops
        if not operations:
            columns = {**old, **change.after}
        else:
            columns = {**old}
            for name, text in change.after.items():
                operation = operations.get(name, OVERWRITE)
                held = old.get(name)
                if operation == IF_NEW:
                    columns[name] = text if is_new else held
                elif operation == OVERWRITE or name not in self.columns:
                    columns[name] = text
                else:
                    columns[name] = applied(self.columns[name], operation, held, text)
        is_whole = self.values <= change.after.keys() and (
            not operations or all(one == OVERWRITE for one in operations.values())
        )
        # What an update makes of a row that is gone is no whole row, whatever lies before the delete.
        reset = change.log_position if is_whole else None if is_new else state.reset
        return State("replace" if is_new else state.effect, columns, 1, _last(change), reset)


def _last(change: Change) -> Last:
    return Last(change.log_position, change.event_id, change.event_at, change.is_range_delete)


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a row: its columns, the change that began it, and the one that ended it; None where it stands."""

    columns: Image
    began: Last
    ended: Last | None


def versions_of(fold: Fold, changes: Iterable[Change], before: State = ABSENT) -> list[Version]:
    """The versions of a key whose changes come in their order.

    Every change that counts ends the version before it, and begins one where the row is there after it, also where no
    column has another value. A key whose history is compacted begins with the version that stood at the compaction
    watermark.
    """
    states = [before, *counted_states(fold, changes, before)]
    ends = [one.last for one in states[1:]]
    return [
        Version(state.columns, state.last, ended)
        for state, ended in zip(states, [*ends, None], strict=True)
        if state.is_live and state.last is not None
    ]


def counted_states(fold: Fold, changes: Iterable[Change], before: State) -> list[State]:
    """The state after each of the changes that counted."""
    found = []
    for change in changes:
        after = fold.step(before, change)
        if after is not before:
            found.append(after)
        before = after
    return found


def are_same_versions(fold: Fold, in_table: Sequence[Version], expected: Sequence[Version]) -> bool:
    """Whether the versions of a key in its table (``in_table``) are those that its changes make (``expected``)."""

    def plain(some: Sequence[Version]) -> list[tuple[object, ...]]:
        # No two versions of a key begin with one event at one position.
        return [
            (
                one.began[:3],
                one.ended and one.ended[:3],
                *[one.columns.get(name) for name in fold.values],
            )
            for one in sorted(some, key=lambda one: one.began[:2])
        ]

    return len(in_table) == len(expected) and plain(in_table) == plain(expected)


def has_late_version(
    in_table: Sequence[Version], expected: Sequence[Version], last: LogPosition
) -> bool:
    """Whether a change came late, before a key's ``last`` change, so that versions before that position differ."""
    return _begun_before(in_table, last) != _begun_before(expected, last)


def _begun_before(some: Sequence[Version], last: LogPosition) -> set[tuple[object, ...]]:
    """Where versions began before a position, and where each ended, if it did so before it."""
    found = set[tuple[object, ...]]()
    for one in some:
        if one.began.log_position < last:
            end = None if one.ended is None else one.ended.log_position
            found.add((*one.began[:2], end if end is not None and end < last else None))
    return found


def resolve_key_changes(
    fold: Fold, changes: Mapping[Key, Sequence[Change]], before: Mapping[Key, State]
) -> dict[Key, list[Change]]:
    """The changes of linked keys, each in order, with the old key's row filled in: a ``move`` is then a ``replace``.

    A key change whose images do not say the whole row gives the new key the old key's row, as it was just before.
    All of them are followed together, in the order of their positions: what leaves a key is looked at as it leaves.
    """
    wanted = {
        (one.moved_from, one.event_id)
        for some in changes.values()
        for one in some
        if one.effect == "move"
    }
    left: dict[tuple[Key, str], State] = {}
    states = dict(before)
    found: dict[Key, list[Change]] = {key: [] for key in changes}
    each = [_standings_of_key(key, some) for key, some in changes.items()]
    for _, key, change in merge(*each, key=lambda one: one[0]):
        state = states.get(key, ABSENT)
        if (key, change.event_id) in wanted:
            left[key, change.event_id] = state
        if change.effect == "move":
            old = change.moved_from or ()
            row = left.get((old, change.event_id)) or before.get(old, ABSENT)
            # A row that was deleted before leaves its key no more.
            columns = row.columns if row.is_live else {}
            change = replace(change, effect="replace", after={**columns, **change.after})
        states[key] = fold.step(state, change)
        found[key].append(change)
    return found


def _standings_of_key(
    key: Key, changes: Iterable[Change]
) -> Iterator[tuple[tuple[LogPosition, int], Key, Change]]:
    for change in changes:
        yield change.standing, key, change


def linked_keys(links: Iterable[tuple[Key, Key]]) -> dict[Key, Key]:
    """For every linked key (pairs of an old key and a new one) one that stands for all that are linked with it."""
    parents: dict[Key, Key] = {}

    def root(key: Key) -> Key:
        top = key
        while (above := parents.setdefault(top, top)) != top:
            top = above
        while parents[key] != top:
            parents[key], key = top, parents[key]
        return top

    for old, new in links:
        parents[root(new)] = root(old)
    return {key: root(key) for key in list(parents)}
