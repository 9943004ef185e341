"""Range deletes of one stream among the changes of another: by the source's times, where these are far enough apart.

Positions of two streams do not compare. Times do, if they differ by more than ``TOLERANCE``: what was asked for first
may have been done last. Where they differ by less, the order is in doubt: the delete does nothing to such rows until a
person lets it act.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from math import inf
from typing import Final

from transforms.change import Change
from transforms.gold.range_deletes import RangeDelete

TOLERANCE: Final = 3_600_000_000
"""An hour, in microseconds: how much a source's times may be off the order in which it did things."""


def among_others(
    range_delete: RangeDelete, others: Sequence[Change], *, is_released: bool
) -> tuple[Change | None, bool]:
    """A range delete where it stands among a key's changes of other streams, and whether that is in doubt.

    It stands right behind the last change that it is after, so that it stands there whatever comes later; None where it
    is after none of them. In doubt it is before those that may be newer; once a person has released it, it is after
    those that may be older. It is in no doubt where a remove comes last of these: the row is gone in either order.
    """
    at = range_delete.change.event_at
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
    change = replace(range_delete.change, log_position=position, dedup_prefix=len(position))
    return change, in_doubt
