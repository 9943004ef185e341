"""The one fold: all changes of a key, one after the other, onto what the key is before them.

Before them, a key may have nothing (a first write, a rebuild), a row that need not be read (an ``update`` overwrites
some columns, whatever the others are), or a row with its values, where changes depend on them. So the same fold serves
a window on top of the table and a rebuild from the first event, and both come to the same rows. Put
here what one more change makes of a key. Not here: the order of changes (``ordering``), what a key is before and after
them (``state``), and what an attribute operation computes (``operations``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from transforms.feed.attribute_operations import IF_NEW, OVERWRITE
from transforms.feed.feed import Table
from transforms.gold.change import Change, Image
from transforms.gold.operations.applied import applied
from transforms.gold.state import ABSENT, Last, State


# Without slots: what follows from the declaration is computed once and kept.
@dataclass(frozen=True)
class Fold:
    """How the rows of one table are folded."""

    columns: Mapping[str, str]
    identity: tuple[str, ...]
    defaults: Mapping[str, str]
    has_key: bool
    before_added: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table) -> Self:
        """The fold of a declared table."""
        return cls(
            *(table.columns, table.identity, table.defaults, bool(table.key)), table.before_added
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
        if change.is_range_delete and state.effect == "remove":
            # A range delete finds nothing to change where the row is absent: it does not even count.
            return state
        if not self.has_key:
            return self._counted(state, change)
        effect, after, log_position = change.effect, change.after, change.log_position
        if effect == "remove":
            # A range delete counts only where there was a row, so that older changes still matter.
            reset = state.reset if change.is_range_delete else log_position
            return State("remove", {}, 0, _last(change), reset)
        if effect == "replace":
            return State("replace", self.whole(after), 1, _last(change), log_position)
        if effect == "move":
            # The old key's row has been filled in by then (``key_changes``, docs/change_model.md).
            return State("replace", after, 1, _last(change))
        if effect == "remove_if":
            if state.effect == "remove" or self._matches(state, change):
                return State("remove", {}, 0, _last(change), state.reset)
            return State(state.effect, state.columns, 1, _last(change), state.reset)
        return self._updated(state, change)

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
        is_new = state.effect == "remove"
        # An update onto an absent row makes a new one: what it does not mention has its default.
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

    def _matches(self, state: State, change: Change) -> bool:
        """True where the row has the values that a conditional remove names."""
        return all(state.columns.get(name) == value for name, value in change.before.items())


def _last(change: Change) -> Last:
    return Last(change.log_position, change.event_id, change.event_at, change.is_range_delete)
