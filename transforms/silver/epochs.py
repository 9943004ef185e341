"""In which epoch an event stands: the feed's decisions say where the source's positions start again.

Put here how an epoch changes an event. Not here: the decisions themselves (``transforms/feed/decisions.py``).
"""

from __future__ import annotations

from collections.abc import Sequence

from transforms.event import Event
from transforms.feed.decisions import Decisions, Epoch
from transforms.feed.feed import Feed
from transforms.moments import microseconds_of


class Epochs:
    """The epochs of a feed's tables, those that only their stream describes included."""

    def __init__(self, feed: Feed) -> None:
        decisions = feed.decisions
        of_all = Decisions(epochs=tuple(one for one in decisions.epochs if one.table is None))
        self._others = _prepared(of_all.for_table(""))
        named = {one.table for one in decisions.epochs if one.table is not None}
        self._of_table = {name: _prepared(decisions.for_table(name)) for name in named}
        self._any = bool(decisions.epochs)

    def put(self, event: Event, declared: str | None, window: str) -> None:
        """Put an event into its epoch: on top of the format's own, and as a part of its identity.

        The same position in a log that began again is another position.
        """
        if not self._any or declared is None:
            return
        number = 0
        for at, epoch in enumerate(self._of_table.get(declared, self._others), start=1):
            made = event.extracted_at if event.event_at is None else event.event_at
            if epoch.has_begun(made, window):
                number = at
        if number:
            if event.log_position:
                own = event.log_position[0]
                event.log_position = (
                    None if own is None else own + number,
                    *event.log_position[1:],
                )
            if event.snapshot is not None and event.snapshot.removes_at is not None:
                own, *numbers = event.snapshot.removes_at
                event.snapshot = event.snapshot._replace(removes_at=(own + number, *numbers))
            event.identity = (f"epoch {number}", *event.identity)


class _Prepared:
    """One epoch, its time in the unit of events."""

    __slots__ = ("time", "window")

    def __init__(self, epoch: Epoch) -> None:
        self.window = epoch.window
        self.time = microseconds_of(epoch.time)

    def has_begun(self, event_at: int | None, window: str) -> bool:
        """True for events that are in the epoch, or in a later one."""
        is_late_enough = self.time is None or event_at is None or event_at >= self.time
        return window >= self.window and is_late_enough


def _prepared(epochs: Sequence[Epoch]) -> list[_Prepared]:
    return [_Prepared(one) for one in epochs]
