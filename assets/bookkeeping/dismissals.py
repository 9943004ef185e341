"""Events in quarantine that a person has dismissed: they will not be repaired, and no longer hold compaction back.

They stay in quarantine as they are; the decision is in ``decisions.<feed>``. Events that came too late for compacted
history need no decision, so they are left out everywhere.
"""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.bookkeeping.quarantine import source_locations
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.decisions import SourceLocation
from transforms.feed.feed import Feed
from transforms.record import SOURCE_LOCATION
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
    return rows.join(frame_of(rows, known), on=[*SOURCE_LOCATION], how="left_anti")


def among(quarantined: DataFrame | pa.Table, known: Collection[SourceLocation]) -> int:
    """How many of these rows, those that are no events left aside, are of the dismissed records (``known``)."""
    if not known:
        return 0
    if isinstance(quarantined, pa.Table):
        is_asked = pc.and_(
            pc.is_null(quarantined["derived"]), pc.not_equal(quarantined["reason"], REASON)
        )
        return int(
            source_locations.among(
                quarantined.filter(is_asked), source_locations.source_locations_of(known)
            ).num_rows
        )
    rows = quarantined.where("derived IS NULL").where(F.col("reason") != REASON)
    return rows.join(frame_of(rows, known), on=[*SOURCE_LOCATION], how="left_semi").count()


def frame_of(rows: DataFrame, known: Collection[SourceLocation]) -> DataFrame:
    """Source locations as a frame of the same session as these rows."""
    return rows.sparkSession.createDataFrame([*known], _SCHEMA)
