"""What new changes of a key do to the row or tombstone that gold has of it, or that its whole history has to be read.

A key's row, and its tombstone, say where its last change stands, and where the newest one stands after which nothing
older can matter: the **reset position**. A change that is newer than the last one is folded onto the row. One below the
reset position changes nothing, whatever it is and however often it comes: it is superseded, and silver is not looked
at. Only a change between the two needs the key's history (docs/model.md). The history also tells whether an event came
late. Only gold itself can tell what gold had, since silver of the run's windows may have been in gold before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from transforms.gold.beginnings import Beginning
from transforms.gold.change import Change
from transforms.gold.fold import Fold
from transforms.gold.ordering import Counts, distinct
from transforms.gold.state import ABSENT, Last, State
from transforms.gold.stored_row import StoredRow


@dataclass(slots=True)
class Outcome:
    """What becomes of a key.

    ``state``: what the key is now; None where nothing changed. ``needs_history``: only all of the key's changes can say
    what it is. ``superseded``: how many events stand below the reset position and change nothing. ``known``: how often
    the key's last event came again. ``counts``: what was met while the changes were put in order. ``begins_by_update``:
    the key's row is new, and began with an update.
    """

    state: State | None = None
    needs_history: bool = False
    superseded: int = 0
    known: int = 0
    counts: Counts = field(default_factory=Counts)
    begins_by_update: bool = False


def apply_new_changes(
    fold: Fold, stored: StoredRow | None, deliveries: Iterable[Change], *, keeps_history: bool
) -> Outcome:
    """What new changes do to a key; they are sorted (``ordering.sort_key``).

    ``keeps_history``: older events matter in this table even below the reset position, since every version of a row is
    kept, or other keys' rows take values from it.
    """
    found = Outcome()
    before = state = ABSENT if stored is None else stored.state
    last = before.last
    beginning = Beginning(before.effect != "remove")
    for change in distinct(deliveries, found.counts):
        if last is not None:
            if change.log_position == last.log_position and change.event_id != last.event_id:
                found.counts.has_ties |= not change.is_range_delete
            if _is_known(last, change):
                # A range delete is of many keys, and no event of this one.
                found.known += not change.is_derived
                if _is_earlier(last, change):
                    # Of the deliveries of an event the earliest counts, whichever of them came first.
                    found.needs_history |= keeps_history
                    last = last._replace(event_at=change.event_at)
                    state = replace(state, last=last)
                continue
            if change.stable <= last.log_position[: change.dedup_prefix]:
                if change.is_past:
                    continue
                reset = None if keeps_history else before.reset
                if reset is None or change.stable >= reset[: change.dedup_prefix]:
                    found.needs_history = True
                else:
                    found.superseded += not change.is_derived
                continue
        if change.effect == "move":
            found.needs_history = True
        beginning.see(change)
        state = fold.step(state, change)
    found.begins_by_update = beginning.is_by_update
    if not found.needs_history and (state is not before or (stored is not None and stored.is_torn)):
        found.state = state
    return found


def refold(
    fold: Fold, stored: StoredRow | None, changes: Iterable[Change], before: State = ABSENT
) -> tuple[State, bool]:
    """What a key is by all its changes, in their order, and whether an event came late: one that gold did not have.

    One came late where the changes up to gold's last one, and then that last one, make another row than gold has. A
    change that ties with the last one may be in gold or not: that counts as a tie, and not as late.
    """
    last = None if stored is None else stored.state.last
    if stored is None or last is None:
        return fold.after(changes, before), False
    state, up_to_last, expected = before, None, list[State]()
    for change in changes:
        if up_to_last is None and change.log_position >= last.log_position:
            up_to_last = state
        after = fold.step(state, change)
        if up_to_last is not None and change.event_id == last.event_id:
            expected = [after, fold.step(up_to_last, change)]
        state = after
    # Gold's last change may be missing from these changes: it is in the base row, or an earlier delivery has given it a
    # smaller position.
    expected = expected or [state if up_to_last is None else up_to_last]
    return state, not any(stored.has_row_of(fold, one) for one in expected)


def _is_known(last: Last, change: Change) -> bool:
    """Whether the change is a repeat of the last one.

    At a smaller position it is not treated as one: the smallest position counts, so the row has to be moved there.
    """
    return change.event_id == last.event_id and change.log_position >= last.log_position


def _is_earlier(last: Last, change: Change) -> bool:
    """Whether a repeat of the last change was made earlier by what it says; the same comparison as in ``sort_key``."""
    own, known = ((at is not None, at or 0) for at in (change.event_at, last.event_at))
    return own < known
