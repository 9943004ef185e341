"""Range deletes: a truncate, a drop or a star delete changes every key that it is for, in other streams, too."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf
from typing import Final

from transforms.change import Change, Image, Key

TOLERANCE: Final = 3_600_000_000
"""An hour, in microseconds: how much a source's times may be off the order in which it did things."""


@dataclass(frozen=True, slots=True)
class RangeDelete:
    """One range delete: for the keys whose columns have the values of ``scope`` (empty: all of the table).

    ``stream``: only for keys of this stream; None for those of all. ``operation``: what the source did.
    """

    scope: Image
    stream: str | None
    change: Change
    operation: str = ""

    def among_others(
        self, others: Sequence[Change], *, is_released: bool
    ) -> tuple[Change | None, bool]:
        """Where it stands among a key's changes of other streams, and whether that is in doubt.

        Positions of two streams do not compare. Times do, if they differ by more than ``TOLERANCE``: what was asked for
        first may have been done last. It stands right behind the last change that it is after, so that it stands there
        whatever comes later; None where it is after none of them. In doubt it is before those that may be newer, and
        once a person has released it, after those that may be older. It is in no doubt where a remove comes last of
        these: the row is gone in either order.
        """
        at = self.change.event_at
        times = [change.event_at for change in others]
        # A change is after all that stand before it in its stream, whatever the times say.
        latest = [*accumulate((inf if time is None else time for time in times), max)]
        soonest = [*accumulate((-inf if time is None else time for time in times), max)]
        surely = 0 if at is None else bisect_right(latest, at - TOLERANCE)
        perhaps = len(others) if at is None else bisect_right(soonest, at + TOLERANCE)
        behind = perhaps if is_released else surely
        in_doubt = not is_released and perhaps > surely and others[perhaps - 1].effect != "remove"
        if not behind:
            return None, in_doubt
        # A position that begins with another comes right after it.
        position = (*others[behind - 1].log_position, 1)
        return replace(self.change, log_position=position, dedup_prefix=len(position)), in_doubt


def misses_truncate(
    matching: Iterable[RangeDelete], streams: Collection[str | None], at: int | None
) -> bool:
    """Whether a truncate of other streams may have removed a row too, whose own streams have sent none.

    ``streams``: those that the row's changes came from; ``at``: when the last of them was made. A source truncates
    all parts of a table at once. A part that was split before sends nothing more, and its rows stay.
    """
    truncates = [
        one
        for one in matching
        if one.operation == "truncate" and not one.scope and one.stream is not None
    ]
    own = [one.change for one in truncates if one.stream in streams]
    return any(
        one.stream not in streams
        and not one.change.is_past
        and not _is_before(one.change.event_at, at)
        and all(_is_before(other.event_at, one.change.event_at, TOLERANCE) for other in own)
        for one in truncates
    )


def _is_before(at: int | None, other: int | None, tolerance: int = 0) -> bool:
    """Whether one time is surely before another."""
    return at is not None and other is not None and at + tolerance < other


class RangeDeletesByKey:
    """All range deletes of one table, found by key; ``identity`` names the key's columns in order."""

    def __init__(self, range_deletes: Iterable[RangeDelete], identity: Sequence[str]) -> None:
        self._found: dict[tuple[int, ...], dict[Key, list[RangeDelete]]] = {}
        for one in range_deletes:
            columns = sorted(one.scope)
            at = tuple([identity.index(name) for name in columns])
            values = tuple([one.scope[name] for name in columns])
            self._found.setdefault(at, defaultdict(list))[values].append(one)

    def of(self, key: Key, streams: Collection[str | None]) -> Iterator[Change]:
        """The range deletes that apply to a key which has changes of these streams."""
        for one in self.matching(key):
            if one.stream is None or one.stream in streams:
                yield one.change

    def matching(self, key: Key) -> Iterator[RangeDelete]:
        """The range deletes in whose scope a key is, whichever streams they and the key are of."""
        for at, by_values in self._found.items():
            yield from by_values.get(tuple([key[number] for number in at]), ())
