"""Events in quarantine that a person has dismissed: they will not be repaired, and no longer hold compaction back.

They stay in quarantine as they are; the decision is in ``decisions.<feed>``. Events that came too late for compacted
history need no decision, so they are left out everywhere. Put here what asks Spark which events are dismissed, or still
wait. Not here: counting them without Spark (``quarantine/totals``), and making the decision
(``assets/upkeep/dismissing``).
"""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.decisions import Coordinates
from transforms.feed.feed import Feed
from transforms.record import COORDINATES
from transforms.silver.too_late import REASON

_SCHEMA = "object string, generation string, line bigint, byte_offset bigint"


def waiting(lake: Lake, feed: Feed) -> DataFrame | None:
    """The rows of quarantine that are not dismissed; None where there is no quarantine.

    ``feed``: with its recorded decisions.
    """
    table = lake.table(Layer.QUARANTINE, feed.name)
    if not table.exists():
        return None
    rows = table.read().where(F.col("reason") != REASON)
    known = feed.decisions.dismissed()
    if not known:
        return rows
    return rows.join(frame_of(rows, known), on=[*COORDINATES], how="left_anti")


def among(refused: DataFrame, known: Collection[Coordinates]) -> int:
    """How many of these refused rows are of the dismissed records (``known``)."""
    if not known:
        return 0
    rows = refused.where(F.col("reason") != REASON)
    return rows.join(frame_of(rows, known), on=[*COORDINATES], how="left_semi").count()


def frame_of(rows: DataFrame, known: Collection[Coordinates]) -> DataFrame:
    """Coordinates as a frame of the same session as these rows."""
    return rows.sparkSession.createDataFrame([*known], _SCHEMA)
