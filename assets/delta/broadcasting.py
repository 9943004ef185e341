"""Small sides of joins. Spark knows no size of a frame that was checkpointed; Weir has counted its rows.

Without the hint, Spark would shuffle all of a gold table, or all of silver, to join a few keys. Put here what decides
on the hint. Not here: the joins themselves.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

BYTES_A_ROW = 5_000
"""A row of ten columns takes a few hundred bytes while it is collected, hashed and sent: a tenth of this."""
_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def broadcast_if_small(frame: DataFrame, rows: int) -> DataFrame:
    """The frame, to be broadcast where so many rows (``rows``, or fewer) take a small part of the driver's memory."""
    memory = frame.sparkSession.conf.get("spark.driver.memory", "1g")
    assert memory is not None  # it has a default
    return F.broadcast(frame) if rows * BYTES_A_ROW <= in_bytes(memory) else frame


def in_bytes(size: str) -> int:
    """Spark's way to write a size (``5g``, ``512m``, ``1024mb``), in bytes; without a unit they are mebibytes."""
    text = size.strip().lower().removesuffix("b")
    return int(text[:-1]) * _UNITS[text[-1]] if text[-1] in _UNITS else int(text) * 2**20
