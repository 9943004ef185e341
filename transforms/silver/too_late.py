"""Events at or below their table's horizon: repeats if the base rows already contain them, else too late.

Put here what the horizon says about one event. Not here: where the horizon lies (``transforms/horizons.py``), and which
events the base has (``assets``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from transforms.fault import Fault
from transforms.horizons import Horizon

REASON: Final = "too_late"
"""Reason of this fault. It needs no decision by a person, so that it does not hold compaction back."""


def is_covered(horizon: Horizon | None, position: Sequence[int], stable_prefix: int) -> bool:
    """True for a change at or below the horizon; only what is the same in every delivery of it is compared."""
    if horizon is None:
        return False
    return tuple(position[:stable_prefix]) <= horizon.position[:stable_prefix]


def fault(table: str | None, position: Sequence[int]) -> Fault:
    """Why a change at or below the horizon cannot be taken that the base does not have."""
    place = "/".join(map(str, position))
    return Fault(
        REASON,
        f"the history of {table} is compacted beyond its position {place}, and no such event was known when that was"
        " done",
    )
