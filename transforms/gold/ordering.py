"""The order of a key's changes: which deliveries are one event, and what applies after what.

Order within a key: position; at one position, removes before replaces before updates; updates at one position in the
order in which their images chain (one's result is the other's before image), else by event id. docs/change_model.md
has it in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby
from operator import attrgetter

from transforms.change import Change, LogPosition


@dataclass(slots=True)
class Counts:
    """What was counted while a key's changes were put in order.

    ``deliveries``: how many deliveries of the key's events there were; ``repeats``: how many of them were not the first
    of their event. Neither counts derived or range deletes. ``has_ties``: whether two events of the key itself stand
    at one position.
    """

    deliveries: int = 0
    repeats: int = 0
    has_ties: bool = False


def sort_key(change: Change) -> tuple[object, ...]:
    """The key by which deliveries are sorted: the order of changes, except for updates whose images chain.

    Of several deliveries of one event at one position, the one with the earliest ``event_at`` comes first and counts. A
    delivery of an earlier window comes last, so that an event counts as new where any of its deliveries is new.
    """
    at = change.event_at
    return *change.standing, change.event_id, at is not None, at or 0, change.is_past


def merge_sorted(own: Iterable[Change], others: Sequence[Change]) -> Iterator[Change]:
    """A key's own changes, which come in the order of their positions, and others, sorted by ``sort_key``.

    No more of the key's own is held than stand at one position: a hot key may have millions.
    """
    at_positions = groupby(own, key=attrgetter("log_position"))
    mine = (change for _, some in at_positions for change in sorted(some, key=sort_key))
    return merge(mine, sorted(others, key=sort_key), key=sort_key) if others else mine


def distinct(deliveries: Iterable[Change], counts: Counts | None = None) -> Iterator[Change]:
    """The distinct changes of a key in the order in which they apply; only those at one position are held at a time.

    ``deliveries`` are sorted (``sort_key``).

    Several deliveries of one event are one change, at the smallest of their positions. All of them agree in the dedup
    prefix of their positions, so that only the events of the prefix at hand are remembered.
    """
    counts = Counts() if counts is None else counts
    known: dict[int, tuple[LogPosition, set[str]]] = {}
    last: LogPosition | None = None
    for (log_position, _), some in groupby(deliveries, key=attrgetter("standing")):
        tied = [change for change in some if not _is_repeat(change, known, counts)]
        own = sum(not change.is_range_delete for change in tied)
        counts.has_ties |= own > 1 or (own == 1 and log_position == last)
        if own:
            last = log_position
        yield from chained(tied) if len(tied) > 1 and tied[0].effect == "update" else tied


def _is_repeat(
    change: Change, known: dict[int, tuple[LogPosition, set[str]]], counts: Counts
) -> bool:
    """Whether another delivery of the event came before; adds the delivery to the counts."""
    counts.deliveries += not change.is_derived
    stable, size = change.stable, change.dedup_prefix
    seen = known.get(size)
    if seen is None or seen[0] != stable:
        known[size] = (stable, {change.event_id})
        return False
    if change.event_id not in seen[1]:
        seen[1].add(change.event_id)
        return False
    counts.repeats += not change.is_derived
    return True


def chained(tied: Sequence[Change]) -> list[Change]:
    """Updates at one position in the order in which their images chain: each after the one whose result it begins with.

    ``tied`` is sorted by event id. Of the updates that remain, the next is the one that continues the last one taken;
    else the first that continues none of the others; else the first.
    """
    taken: list[Change] = []
    rest = list(tied)
    while rest:
        follows = next((one for one in rest if taken and continues(one, taken[-1])), None)
        begins = next(
            (one for one in rest if not any(continues(one, two) for two in rest if two is not one)),
            rest[0],
        )
        taken.append(begins if follows is None else follows)
        rest.remove(taken[-1])
    return taken


def continues(change: Change, other: Change) -> bool:
    """True where the change's before image is what the other leaves behind."""
    return bool(change.before) and change.before == {**other.before, **other.after}
