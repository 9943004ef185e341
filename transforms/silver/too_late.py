"""Events at or below their table's compaction watermark: repeats if the base rows already contain them, else too late.

Put here what the compaction watermark says about one event. Not here: where the watermark lies
(``transforms/compaction_watermarks.py``), and which events the base has (``assets``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from transforms.compaction_watermarks import CompactionWatermark
from transforms.fault import Fault

REASON: Final = "too_late"
"""Reason of this fault. It needs no decision by a person, so that it does not hold compaction back."""


def is_covered(
    compaction_watermark: CompactionWatermark | None, log_position: Sequence[int], dedup_prefix: int
) -> bool:
    """True for a change at or below the watermark; only what is the same in every delivery of it is compared."""
    if compaction_watermark is None:
        return False
    return tuple(log_position[:dedup_prefix]) <= compaction_watermark.log_position[:dedup_prefix]


def fault(table: str | None, log_position: Sequence[int]) -> Fault:
    """Why a change at or below the compaction watermark cannot be taken that the base does not have."""
    position = "/".join(map(str, log_position))
    return Fault(
        REASON,
        f"the history of {table} is compacted beyond its position {position}, and no such event was known when that was"
        " done",
    )
