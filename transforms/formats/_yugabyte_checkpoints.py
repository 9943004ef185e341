"""Checkpoints: how far a response has come in its tablet, and which of two is further.

A checkpoint is term, index, write_id and a key. A higher term is further, whatever the index; in one term a higher
index; the write_id is the order within a transaction and says something only beside a key: then the next response goes
on in the middle of that transaction.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.change import EPOCH, STREAM, TEXTS
from transforms.formats._yugabyte import Shape, filled
from transforms.offsets import BEHIND, REACHED
from transforms.offsets import CHECKPOINT as CHECKPOINT

SHAPE: Shape = {
    "term": "string",
    "index": "string",
    "key": "string",
    "write_id": "string",
    "snapshot_time": "string",
}
"""CDCSDKCheckpointPB."""

FIELDS = ("term", "index", "write_id", "key", "snapshot_time")


def told(own: Column, older: Column) -> Column:
    """The checkpoint of a response: numbers, and key and snapshot time as texts; all null where it tells none.

    ``own`` is the CDC SDK's, ``older`` the op id that both forms have.
    """
    key = filled(own["key"])
    return F.struct(
        F.coalesce(own["term"], older["term"]).try_cast("bigint").alias("term"),
        F.coalesce(own["index"], older["index"]).try_cast("bigint").alias("index"),
        F.when(key.isNotNull(), F.coalesce(own["write_id"].try_cast("bigint"), F.lit(0))).alias(
            "write_id"
        ),
        key.alias("key"),
        own["snapshot_time"].alias("snapshot_time"),
    )


def with_reached(checkpoint: Column, last: Column, has_commit: Column) -> Column:
    """The checkpoint with ``REACHED``: where the consumer stands behind what is committed in the response.

    That is the checkpoint, if it is not within a transaction; else the op id of the ``last`` COMMIT (null: none has
    one). A response in which nothing is committed moves nothing.
    """
    is_behind = has_commit & checkpoint["key"].isNull() & checkpoint["index"].isNotNull()
    told = (checkpoint["term"], checkpoint["index"])
    reached = [
        F.when(is_behind, told[at]).otherwise(F.get(last, F.lit(at))).alias(name)
        for at, name in enumerate(REACHED)
    ]
    return F.struct(*[checkpoint[name].alias(name) for name in FIELDS], *reached)


def order(checkpoint: Column) -> Column:
    """An array that compares as checkpoints do. Behind all rows of a transaction is further than within it."""
    return F.array(
        checkpoint["term"],
        checkpoint["index"],
        F.when(checkpoint["key"].isNotNull(), checkpoint["write_id"]).otherwise(F.lit(BEHIND)),
    )


def position() -> Column:
    """Where the note of a response stands: after all that its checkpoint covers."""
    start = F.array(F.lit(EPOCH), F.lit(STREAM))
    numbers = F.concat(start, order(F.col("checkpoint")))
    return (
        F.when(F.col("checkpoint.index").isNotNull(), numbers)
        .otherwise(start)
        .cast("array<bigint>")
    )


def identity() -> Column:
    """Responses that come to the same checkpoint leave one note: its images say the rest."""
    return F.array("tablet", "stream_id")


def image() -> Column:
    """The checkpoint, and the stream's id, as the note carries them."""
    told = {name: F.col(f"checkpoint.{name}").cast("string") for name in FIELDS}
    told |= {name: F.col(f"checkpoint.{name}").cast("string") for name in REACHED}
    told["stream_id"] = F.col("stream_id")
    return F.create_map(
        *[part for name, text in told.items() for part in (F.lit(name), text)]
    ).cast(TEXTS)
