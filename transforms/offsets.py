"""How far a consumer has come in every tablet: the checkpoint from which it could go on without losing anything.

A source that is read by checkpoints leaves a note of each in silver (``CHECKPOINT``). Not here: what a checkpoint is,
and how two compare (the format, which gives the note its position).
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

CHECKPOINT: Final = "checkpoint"
"""The operation of such a note, and why the row exists. Its ``after`` holds the checkpoint; its position orders it."""

REACHED: Final = ("reached_term", "reached_index")
"""In a note's ``after``: where the consumer stands behind what is committed in its response; null for nothing."""

BEHIND: Final = 9_223_372_036_854_775_807
"""What stands in the place of a write_id behind all of a transaction."""

OFFSETS = T.StructType(
    [
        T.StructField("stream", T.StringType(), True),
        T.StructField("tablet", T.StringType(), True),
        T.StructField("consumer", T.StringType(), False),
        T.StructField("term", T.LongType(), True),
        T.StructField("index", T.LongType(), True),
        T.StructField("write_id", T.IntegerType(), True),
        T.StructField("window", T.StringType(), True),
    ]
)
"""One row per stream and tablet: the checkpoint, and the window that brought it; all null where nothing of the
tablet is committed yet."""


def offsets(
    silver: DataFrame, waiting: DataFrame | None, consumer: str, first_unread: str | None
) -> DataFrame:
    """The consumer's offsets (``OFFSETS``), from the notes in silver.

    One stands behind a commit that was read (``REACHED``), never at or behind a transaction that ``waiting`` (``id``,
    whose first part is the tablet, and ``position``) says is open, and never behind a window that has landed and is not
    read (``first_unread``).
    """
    term, index = [F.col("after")[name].cast("bigint") for name in REACHED]
    is_told = F.col("after")["term"].isNotNull() | term.isNotNull()
    place = F.concat(F.slice("position", 1, 2), F.array(term, index, F.lit(BEHIND)))
    notes = silver.where((F.col("derived") == CHECKPOINT) & is_told).withColumn("place", place)
    if waiting is not None:
        open_from = waiting.groupBy(F.substring_index("id", "/", 1).alias("stream")).agg(
            F.min("position").alias("open_from")
        )
        notes = notes.join(F.broadcast(open_from), on="stream", how="left")
    else:
        notes = notes.withColumn("open_from", F.lit(None).cast("array<bigint>"))
    is_behind_commits = (
        term.isNotNull()
        & (F.col("open_from").isNull() | (F.col("place") < F.col("open_from")))
        & (F.lit(True) if first_unread is None else F.col("window") < first_unread)
    )
    furthest = F.max_by(
        F.struct(term.alias("term"), index.alias("index"), F.lit(0).alias("write_id")),
        F.when(is_behind_commits, F.col("place")),
    )
    reached = F.when(is_behind_commits, F.struct("place", "window"))
    found = notes.groupBy(F.col("after")["stream_id"].alias("of_stream"), "stream").agg(
        furthest.alias("at"), F.max(reached).alias("reached")
    )
    return found.select(
        F.col("of_stream").alias("stream"),
        F.col("stream").alias("tablet"),
        F.lit(consumer).alias("consumer"),
        F.col("at.term").alias("term"),
        F.col("at.index").alias("index"),
        F.col("at.write_id").alias("write_id"),
        F.col("reached.window").alias("window"),
    )
