"""Horizons: up to where a table's history has been folded into base rows and dropped.

What stands at or below a horizon is decided: known events are in the base, and unknown ones came too late. Not here:
where a horizon may be drawn (``assets/horizon_plans.py``), and who reads or writes one (``assets/bases.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F


@dataclass(frozen=True, slots=True)
class Horizon:
    """The newest position that a table's base rows cover."""

    position: tuple[int, ...]

    def covers(
        self, position: str | Column = "position", settled: str | Column = "settled"
    ) -> Column:
        """True for a change at or below the horizon; only what is the same in every delivery of it is compared."""
        whole = F.array(*[F.lit(number) for number in self.position]).cast("array<bigint>")
        size = F.col(settled) if isinstance(settled, str) else settled
        return F.slice(position, F.lit(1), size) <= F.slice(whole, F.lit(1), size)


def covered(horizons: Mapping[str, Horizon]) -> Column:
    """True for changes at or below the horizon of their ``table``."""
    choice = F.lit(False)
    for name, horizon in horizons.items():
        choice = F.when(F.col("table") == name, horizon.covers()).otherwise(choice)
    return choice


def identity() -> Column:
    """What is kept of a compacted change's ``event_id``: 16 of its 32 bytes."""
    return F.unhex(F.substring("event_id", 1, 32))
