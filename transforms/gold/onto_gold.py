"""What new changes of a key do to what gold has of it; or that its whole history has to be read.

A key's row, and its tombstone, say where its last change stands, and where the newest one stands after which nothing
older can matter: the **reset position**. A change that is newer than the last one is folded onto the row. One below the
reset position changes nothing, whatever it is and however often it comes: it is superseded, and silver is not looked
at. Only a change between the two asks for the key's history (docs/model.md), and that says, too, whether some event
came late: gold itself is the only witness of what gold had, for silver of the run's windows may have been in gold
before.
Not here: the fold itself (``fold``), and how rows and history are read (``assets``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from transforms.gold.change import Change, Position
from transforms.gold.fold import ABSENT, Fold, Last, State
from transforms.gold.ordering import Counts, in_order
from transforms.horizons import Horizon


@dataclass(frozen=True, slots=True)
class Current:
    """What gold has of a key: the newer of its row and its tombstone.

    ``state``: what the key is (``fold.unread`` where its values were not asked for), with the last change that counted
    and the reset position. ``is_torn``: the tombstone is newer than a row that is still there, as a run leaves it that
    ended between its two commits.
    """

    state: State
    is_torn: bool = False

    def says(self, fold: Fold, state: State, horizon: Horizon | None = None) -> bool:
        """Whether gold has all of a key's state already: its place, and its values; False where they were not read.

        ``horizon``: of the table, where its history is compacted.
        """
        mine = self.state
        return (
            not self.is_torn
            and mine.last is not None
            and state.last is not None
            and (mine.effect, mine.copies) == (state.effect, state.copies)
            and mine.last[:3] == state.last[:3]
            and _are_as_good(mine.reset, state.reset, horizon)
            and self.shows(fold, state)
        )

    def shows(self, fold: Fold, state: State) -> bool:
        """Whether gold has the row that the state is, or none as it says, wherever its last change stands.

        Of a row whose values were not read it is only known that it is there.
        """
        mine = self.state
        if "remove" in (mine.effect, state.effect):
            return mine.effect == state.effect
        if mine.effect == "merge":
            return True
        # Further rows of a key are somebody else's doing.
        is_as_often = fold.has_key or mine.copies == state.copies
        return is_as_often and all(
            mine.columns.get(name) == state.columns.get(name) for name in fold.values
        )


@dataclass(slots=True)
class Outcome:
    """What becomes of a key.

    ``state``: what it is now; None where nothing changed. ``needs_history``: it can only be told with all of the key's
    changes. ``superseded``: how many events the reset position answers; ``known``: whether the last one came again.
    """

    state: State | None = None
    needs_history: bool = False
    superseded: int = 0
    known: int = 0
    counts: Counts = field(default_factory=Counts)


def onto(
    fold: Fold, current: Current | None, deliveries: Iterable[Change], *, keeps_history: bool
) -> Outcome:
    """What new changes do to a key; they are sorted (``ordering.sort_key``).

    ``keeps_history``: older events matter in this table even below the reset position, since every version of a row is
    kept, or other keys' rows take values from it.
    """
    found = Outcome()
    before = state = ABSENT if current is None else current.state
    last = before.last
    for change in in_order(deliveries, found.counts):
        if last is not None:
            if change.position == last.position and change.event_id != last.event_id:
                found.counts.has_ties |= not change.is_scoped
            if _is_known(last, change):
                # A scoped change is of many keys, and no event of this one.
                found.known += not change.is_derived
                continue
            if change.stable <= last.position[: change.stable_prefix]:
                if change.is_past:
                    continue
                reset = None if keeps_history else before.reset
                if reset is None or change.stable >= reset[: change.stable_prefix]:
                    found.needs_history = True
                else:
                    found.superseded += not change.is_derived
                continue
        if change.effect == "move":
            found.needs_history = True
        state = fold.step(state, change)
    if not found.needs_history and (
        state is not before or (current is not None and current.is_torn)
    ):
        found.state = state
    return found


def by_history(
    fold: Fold, current: Current | None, changes: Iterable[Change], before: State = ABSENT
) -> tuple[State, bool]:
    """What a key is by all its changes, in their order, and whether an event came late: one that gold had not met.

    It did where the changes that stand before gold's last one, and then that, make another row than gold has. What ties
    with the last one may be in gold or not: that is no lateness, but a tie.
    """
    last = None if current is None else current.state.last
    if current is None or last is None:
        return fold.after(changes, before), False
    state, up_to_last, told = before, None, list[State]()
    for change in changes:
        if up_to_last is None and change.position >= last.position:
            up_to_last = state
        after = fold.step(state, change)
        if up_to_last is not None and change.event_id == last.event_id:
            told = [after, fold.step(up_to_last, change)]
        state = after
    # Where the last one is not among them, the key's base has it, or it stands before its old place by now.
    told = told or [state if up_to_last is None else up_to_last]
    return state, not any(current.shows(fold, one) for one in told)


def _are_as_good(one: Position | None, other: Position | None, horizon: Horizon | None) -> bool:
    """Whether two reset positions answer the same changes.

    What stands at or below the horizon never comes to gold, so that a reset position there is as good as none. Gold may
    have one that the base has forgotten, and the base one that gold never had.
    """
    above = [
        None if at is None or (horizon is not None and horizon.covers(at, len(at))) else at
        for at in (one, other)
    ]
    return above[0] == above[1]


def _is_known(last: Last, change: Change) -> bool:
    """Whether the change is the last one, once more; at a smaller place it says what place the row has to have."""
    return change.event_id == last.event_id and change.position >= last.position
