"""Which changes a compaction watermark covers, and what is kept of their identity, as Spark columns.

Put here a question about a compaction watermark that Spark answers. Not here: the watermark itself
(``transforms/compaction_watermarks.py``).
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.compaction_watermarks import CompactionWatermark


def covers(
    compaction_watermark: CompactionWatermark,
    log_position: str | Column = "log_position",
    dedup_prefix: str | Column = "dedup_prefix",
) -> Column:
    """True for a change at or below the watermark, by the numbers of its position that every delivery has in common."""
    whole = F.array(*[F.lit(number) for number in compaction_watermark.log_position]).cast(
        "array<bigint>"
    )
    size = F.col(dedup_prefix) if isinstance(dedup_prefix, str) else dedup_prefix
    return F.slice(log_position, F.lit(1), size) <= F.slice(whole, F.lit(1), size)


def kept_identity() -> Column:
    """What is kept of a compacted change's ``event_id``: 16 of its 32 bytes."""
    return F.unhex(F.substring("event_id", 1, 32))
