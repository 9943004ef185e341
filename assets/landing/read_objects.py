"""Landed objects as rows of bronze, read inside Spark's tasks, or a few small ones in this process."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from assets.columns import layers
from assets.executors.choice import Choice
from assets.landing.landings import LandedObject, open_landing
from assets.landing.spark_source import batches, read_parts
from transforms.errors import WeirError
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.record import DEFAULT_LIMITS, Limits, Record
from transforms.records.avro_containers import MAGIC as AVRO
from transforms.records.compression import inflate, too_large, with_damage
from transforms.records.encoding import to_utf8, with_undecodable
from transforms.source_format import SourceFormat
from transforms.task_errors import Reading, naming_record

# What an object costs beside its bytes: a request, a row. Keeps many small ones from sharing a task.
_OBJECT_COST = 64 << 10
_UNEVEN = 1.2
"""By so much more than its share the largest part may have for windows to be whole."""
# Only the records of a topic have a key and headers.
_NO_KEY = (None, None)


def read_objects(
    spark: SparkSession,
    feed: Feed,
    objects: Sequence[LandedObject],
    limits: Limits = DEFAULT_LIMITS,
    into: str | None = None,
) -> DataFrame:
    """One row per record of these objects (see ``layers.Bronze.spark``). Lazy, and ``into``: see ``read_parts``."""
    parts = packed(objects, 2 * spark.sparkContext.defaultParallelism)
    source = FORMATS[feed.format]
    return read_parts(spark, parts, partial(rows_of, feed.without_secret(), source, limits), into)


class _Larger(WeirError):
    """An object inflates to more than is read in this process."""


def read_in_process(
    feed: Feed,
    objects: Sequence[LandedObject],
    choice: Choice,
    limits: Limits = DEFAULT_LIMITS,
) -> pa.Table | None:
    """One row per record of these objects (``layers.Bronze.schema``), read in this process; None for Spark's work."""
    if not choice.decodes_in_process(_weight(objects)):
        return None
    source, most = FORMATS[feed.format], choice.most_decoded
    rows = rows_of(feed, source, limits, tuple(objects), most=most)
    try:
        return pa.Table.from_batches(
            batches(rows, layers.Bronze.spark), schema=layers.Bronze.schema
        )
    except _Larger:
        return None


def packed(objects: Sequence[LandedObject], most: int) -> list[tuple[LandedObject, ...]]:
    """The objects in ``most`` parts or fewer, of about equal size; of many windows, each whole in one part.

    Every part writes a file for each of its windows, so that a window in four parts would be four files.
    """
    by_window: dict[str, list[LandedObject]] = {}
    for one in objects:
        by_window.setdefault(one.window, []).append(one)
    whole = _shared_out([*by_window.values()], most)
    if max(map(_weight, whole), default=0) * most <= _UNEVEN * _weight(objects):
        return whole
    return _shared_out([[one] for one in objects], most)


def _weight(objects: Iterable[LandedObject]) -> int:
    return sum(one.size + _OBJECT_COST for one in objects)


def _shared_out(
    groups: Sequence[Sequence[LandedObject]], most: int
) -> list[tuple[LandedObject, ...]]:
    """The heaviest group first, each to the lightest part."""
    parts: list[list[LandedObject]] = [[] for _ in range(min(most, len(groups)))]
    weights = [(0, at) for at in range(len(parts))]
    for group in sorted(groups, key=lambda group: (-_weight(group), group[0].name)):
        weight, at = weights[0]
        parts[at] += sorted(group, key=lambda one: (-one.size, one.name))
        heapq.heapreplace(weights, (weight + _weight(group), at))
    return [tuple(part) for part in parts]


def rows_of(
    feed: Feed,
    source: SourceFormat,
    limits: Limits,
    objects: tuple[LandedObject, ...],
    most: int | None = None,
) -> Iterator[tuple[object, ...]]:
    """The records of some objects as rows of bronze, read through one landing.

    Raises:
        _Larger: an object inflates to more than ``most`` bytes.
    """
    landing = open_landing(feed)
    for one in objects:
        reading = Reading(feed.name, one.name)
        with naming_record(reading):
            data, generation = landing.read(one.name, one.generation, limits.largest_object)
            # An Avro container counts by its bytes, too, whether or not the format reads it.
            if most is not None and len(inflate(data, most, reads_avro=True)[0]) > most:
                raise _Larger
            where = (one.window, one.name, generation)
            for record in records_of(feed, one.name, data, source=source, limits=limits):
                reading.line = record.line
                yield (
                    *(*where, record.line, record.byte_offset, record.header),
                    *(record.payload, record.defect, one.modified_at, *_NO_KEY),
                )
            if not reading.line:
                yield (*where, 0, 0, None, None, None, one.modified_at, *_NO_KEY)


def records_of(
    feed: Feed,
    object_name: str,
    data: bytes,
    *,
    source: SourceFormat,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Record]:
    """The records of one object as it was landed, decompressed and in UTF-8; one for an object too large."""
    if len(data) > limits.largest_object:
        return iter([too_large(data, limits)])
    reads_avro = source.schema_ids is not None
    inflated, damage = inflate(data, limits.largest_object, object_name, reads_avro=reads_avro)
    if len(inflated) > limits.largest_object:
        return iter([too_large(data, limits)])
    text, encoding = inflated, None
    if not inflated.startswith(AVRO):
        text, encoding = to_utf8(inflated, feed.encoding, limits.largest_object)
    if len(text) > limits.largest_object:
        return iter([too_large(data, limits)])
    records = source.split(text, feed, object_name, limits)
    if encoding is not None:
        records = with_undecodable(records, encoding)
    return records if damage is None else with_damage(records, text, damage)
