"""Events in quarantine that a person has dismissed: they will not be repaired, and no longer hold compaction back.

They stay in quarantine as they are; the decision is in ``decisions.<feed>``. Events that came too late for compacted
history need no decision, so they are left out everywhere. Put here what asks which events are dismissed, or still wait.
Not here: recording the decision (``decisions``, ``orchestration/cli/quarantine/dismissing.py``).
"""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.columns.silver import REFUSALS_ARROW
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.decisions import Coordinates
from transforms.feed.feed import Feed
from transforms.record import COORDINATES
from transforms.silver.too_late import REASON

_REFUSED = pa.schema([REFUSALS_ARROW.field(name) for name in (*COORDINATES, "reason")])
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


def count(lake: Lake, feed: Feed) -> int:
    """How many events in quarantine are dismissed; needs no Spark session.

    ``feed``: with its recorded decisions.
    """
    known = feed.decisions.dismissed()
    if not known:
        return 0
    refused = lake.local_table(Layer.QUARANTINE, feed.name).each(_REFUSED)
    return sum(
        row["reason"] != REASON and tuple(row[name] for name in COORDINATES) in known
        for rows in refused
        for row in rows.to_pylist()
    )


def among(refused: DataFrame, known: Collection[Coordinates]) -> int:
    """How many of these refused rows are of the dismissed records (``known``)."""
    if not known:
        return 0
    rows = refused.where(F.col("reason") != REASON)
    return rows.join(frame_of(rows, known), on=[*COORDINATES], how="left_semi").count()


def frame_of(rows: DataFrame, known: Collection[Coordinates]) -> DataFrame:
    """Coordinates as a frame of the same session as these rows."""
    return rows.sparkSession.createDataFrame([*known], _SCHEMA)
