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
"""One row per stream and tablet: the checkpoint, and the window that brought it; all null where no transaction of the
tablet is complete yet."""


def offsets(
    silver: DataFrame, waiting: DataFrame | None, consumer: str, first_unread: str | None
) -> DataFrame:
    """The consumer's offsets (``OFFSETS``), from the notes in silver.

    One stands behind the last commit: never within a transaction (such a checkpoint has a key), never at or behind one
    that ``waiting`` (``id``, whose first part is the tablet, and ``position``) says is open, and never behind a window
    that has landed and is not read (``first_unread``).
    """
    notes = silver.where((F.col("derived") == CHECKPOINT) & F.col("after")["term"].isNotNull())
    if waiting is not None:
        open_from = waiting.groupBy(F.substring_index("id", "/", 1).alias("stream")).agg(
            F.min("position").alias("open_from")
        )
        notes = notes.join(F.broadcast(open_from), on="stream", how="left")
    else:
        notes = notes.withColumn("open_from", F.lit(None).cast("array<bigint>"))
    is_behind_commits = (
        F.col("after")["key"].isNull()
        & (F.col("open_from").isNull() | (F.col("position") < F.col("open_from")))
        & (F.lit(True) if first_unread is None else F.col("window") < first_unread)
    )
    furthest = F.max_by(
        F.struct(
            F.col("after")["term"].cast("bigint").alias("term"),
            F.col("after")["index"].cast("bigint").alias("index"),
            F.lit(0).alias("write_id"),
        ),
        F.when(is_behind_commits, F.col("position")),
    )
    reached = F.when(is_behind_commits, F.struct("position", "window"))
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
