"""Which changes a horizon covers, and what is kept of their identity, as Spark columns.

Put here a question about a horizon that Spark answers. Not here: the horizon itself (``transforms/horizons.py``).
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.horizons import Horizon


def covers(
    horizon: Horizon,
    position: str | Column = "position",
    stable_prefix: str | Column = "stable_prefix",
) -> Column:
    """True for a change at or below the horizon, by the numbers of its position that every delivery has in common."""
    whole = F.array(*[F.lit(number) for number in horizon.position]).cast("array<bigint>")
    size = F.col(stable_prefix) if isinstance(stable_prefix, str) else stable_prefix
    return F.slice(position, F.lit(1), size) <= F.slice(whole, F.lit(1), size)


def kept_identity() -> Column:
    """What is kept of a compacted change's ``event_id``: 16 of its 32 bytes."""
    return F.unhex(F.substring("event_id", 1, 32))
