"""Reading landed objects inside Spark's tasks, as bronze rows.

Not here: which objects are read (``bronze``), how tasks read (``task_source``), what a record is
(``transforms/splitting``), and what it means (``transforms/formats``).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from assets.landing import LandedObject, open_landing
from assets.task_source import read_parts
from transforms.feed import Feed
from transforms.formats import FORMATS
from transforms.record import Record
from transforms.splitting.gzip_stream import inflate, with_damage

Splitter = Callable[[bytes, Feed, str], Iterator[Record]]
"""From the inflated bytes, the feed and the object's name to its records."""

# What an object costs beside its bytes: a request, a row. Keeps many small ones from sharing a task.
_OBJECT_COST = 64 << 10
# Only the records of a topic have a key and headers.
_NO_KEY = (None, None)


def read_objects(
    spark: SparkSession,
    feed: Feed,
    objects: Sequence[LandedObject],
    *,
    split: Splitter | None = None,
) -> DataFrame:
    """One row per record of these objects (see ``BRONZE``), cut by ``split`` or else as the feed's format says.

    Lazy: see ``read_parts``.
    """
    cut = split if split is not None else FORMATS[feed.format].split
    parts = packed(objects, 2 * spark.sparkContext.defaultParallelism)
    return read_parts(spark, parts, partial(rows_of, feed, cut))


def packed(objects: Sequence[LandedObject], most: int) -> list[tuple[LandedObject, ...]]:
    """The objects in at most so many parts of about equal size: the largest first, each to the lightest part."""
    parts: list[list[LandedObject]] = [[] for _ in range(min(most, len(objects)))]
    weights = [(0, at) for at in range(len(parts))]
    for one in sorted(objects, key=lambda one: (-one.size, one.name)):
        weight, at = weights[0]
        parts[at].append(one)
        heapq.heapreplace(weights, (weight + one.size + _OBJECT_COST, at))
    return [tuple(part) for part in parts]


def rows_of(
    feed: Feed, split: Splitter, objects: tuple[LandedObject, ...]
) -> Iterator[tuple[object, ...]]:
    """The records of some objects, read through one landing."""
    landing = open_landing(feed)
    for one in objects:
        data, generation = landing.read(one.name, one.generation)
        where = (one.window, one.name, generation)
        empty = True
        for record in records_of(feed, one.name, data, split=split):
            empty = False
            yield (
                *where,
                record.line,
                record.byte_offset,
                record.header,
                record.payload,
                record.defect,
                one.modified_at,
                *_NO_KEY,
            )
        if empty:
            yield (*where, 0, 0, None, None, None, one.modified_at, *_NO_KEY)


def records_of(feed: Feed, object_name: str, data: bytes, *, split: Splitter) -> Iterator[Record]:
    """The records of one object as it was landed, inflated first where it is gzip."""
    inflated, damage = inflate(data)
    records = split(inflated, feed, object_name)
    return records if damage is None else with_damage(records, inflated, damage)
