"""What new changes of a key do to what gold has of it; or that its whole history has to be read.

A key's row, and its tombstone, say where its last change stands, and where the newest one stands after which nothing
older can matter: the **reset position**. A change that is newer than the last one is folded onto the row. One below the
reset position changes nothing, whatever it is and however often it comes: it is superseded, and silver is not looked
at. Only a change between the two asks for the key's history (docs/change_model.md).
Not here: the fold itself (``fold``), and how rows and history are read (``assets``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from transforms.gold.change import Change
from transforms.gold.fold import ABSENT, Fold, Last, State
from transforms.gold.ordering import Counts, in_order


@dataclass(frozen=True, slots=True)
class Current:
    """What gold has of a key: the newer of its row and its tombstone.

    ``state``: what the key is (``fold.unread`` where its values were not asked for), with the last change that counted
    and the reset position. ``is_torn``: the tombstone is newer than a row that is still there, as a run leaves it that
    ended between its two commits.
    """

    state: State
    is_torn: bool = False

    def says(self, state: State, columns: Iterable[str]) -> bool:
        """Whether gold has all of a key's state already: its place, and the values of these columns.

        False where they were not read.
        """
        mine = self.state
        return (
            not self.is_torn
            and mine.last is not None
            and state.last is not None
            and (mine.effect, mine.copies, mine.reset) == (state.effect, state.copies, state.reset)
            and mine.last[:3] == state.last[:3]
            and (
                state.effect == "remove"
                or all(mine.columns.get(name) == state.columns.get(name) for name in columns)
            )
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


def _is_known(last: Last, change: Change) -> bool:
    """Whether the change is the last one, once more; at a smaller place it says what place the row has to have."""
    return change.event_id == last.event_id and change.position >= last.position
