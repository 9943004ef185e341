"""Where scoped changes of one stream take effect among the changes of another, read from all of a feed's silver.

Only TigerGraph's deletes reach other streams so far, and only in a feed of several partitions. Put here what reads
silver for it, in this process or in Spark. Not here: whether it has to be read (``streams``), the rule itself
(``transforms/gold/streams/crossing.py``), and which messages say it (``transforms.source_format.CrossStreamMatcher``).
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.arrow import in_spark
from assets.arrow.gold.cross_stream_stages import COLLECTED, JOINED, CollectPositions, JoinPositions
from assets.arrow.gold.cross_streams import Collected, clocks, positions_of
from assets.gold.changes.streams import SEVERAL
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.gold.change import Key
from transforms.gold.scopes import Scoped
from transforms.gold.streams.clocks import Moment
from transforms.gold.streams.crossing import Crossing, CrossStreamPosition
from transforms.source_format import CrossStreamMatcher

COLUMNS = (
    *("declared", "effect", "operation", "derived", "scope", "after", "event_at"),
    *("key", "event_id", "stream", "position"),
)
"""The columns of silver that have to be read for it, of all tables."""


def cross_stream_matcher(feed: Feed, table: Table) -> CrossStreamMatcher | None:
    """What recognizes messages that say where the table's changes are in other streams; None where there are none."""
    far_places_of = FORMATS[feed.format].cross_stream_matcher
    return None if far_places_of is None else far_places_of(feed, table.name)


def moments_of(scoped: Iterable[Scoped]) -> frozenset[int]:
    """The times of the scoped changes, in microseconds since 1970: each stream's position at these has to be known."""
    return frozenset(
        one.change.event_at
        for one in scoped
        if one.stream is not None and one.change.event_at is not None
    )


@dataclass(frozen=True, slots=True)
class LocalCrossStreamDeletes:
    """What decides which keys of other streams a table's scoped changes reach; silver was read in this process.

    ``crossing``: each stream's positions over time. ``cross_stream_positions``: positions of changes in other streams,
    by event. ``placed``: the keys of the changes whose position in another stream the run brings.
    """

    crossing: Crossing
    cross_stream_positions: dict[str, list[CrossStreamPosition]]
    placed: set[Key]


def read_locally(
    feed: Feed, table: Table, scoped: Iterable[Scoped], silver: Iterable[tuple[pa.Table, bool]]
) -> LocalCrossStreamDeletes | None:
    """The table's ``LocalCrossStreamDeletes``; None where there is only one stream.

    ``silver``: the rows of each file, with whether the run brings them.
    """
    far, collected = cross_stream_matcher(feed, table), Collected()
    for rows, is_new in silver:
        plain = rows.append_column("is_new", pa.array([is_new] * rows.num_rows, pa.bool_()))
        both = pc.or_(pc.is_valid(rows["derived"]), pc.is_valid(rows["scope"]))
        plain = plain.append_column("is_derived", both)
        at = rows["event_at"].cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        plain = plain.set_column(plain.column_names.index("event_at"), "event_at", at)
        for batch in plain.combine_chunks().to_batches():
            collected.collect(batch, far)
    if len({stream for stream, _, _ in collected.moments}) < SEVERAL:
        return None
    moments = ((one[0], Moment(one[1], at, one[2])) for one, at in collected.moments.items())
    cross_stream_positions: dict[str, list[CrossStreamPosition]] = defaultdict(list)
    new: set[Key] = set()
    for messages in collected.messages.values():
        for one in positions_of(messages):
            cross_stream_positions[one.event_id].append(one.there)
            if one.is_new:
                new.add(one.key)
    found = Crossing(clocks(moments, moments_of(scoped)), far.column if far else None)
    return LocalCrossStreamDeletes(found, dict(cross_stream_positions), new)


@dataclass(frozen=True, slots=True)
class CrossStreamDeletes:
    """What decides which keys of other streams a table's scoped changes reach; silver was read by Spark.

    ``crossing``: each stream's positions over time. ``cross_stream_positions``: one row per position of a change in
    another stream than its own: ``key``, ``event_id``, ``stream``, ``position``, and ``is_new``, where the run brings
    it.
    """

    crossing: Crossing
    cross_stream_positions: DataFrame


def read_by_spark(
    feed: Feed, table: Table, scoped: Iterable[Scoped], silver: DataFrame
) -> CrossStreamDeletes:
    """The table's ``CrossStreamDeletes``; ``silver``: all rows of the feed, of several streams, with ``is_new``."""
    far = cross_stream_matcher(feed, table)
    rows = silver.select(
        *("declared", "effect", "operation", "after", "event_id", "stream", "position", "is_new"),
        (F.col("derived").isNotNull() | F.col("scope").isNotNull()).alias("is_derived"),
        F.unix_micros("event_at").alias("event_at"),
        # Never null: see fold_row_columns.COLUMNS.
        F.coalesce("key", F.array().cast("array<string>")).alias("key"),
    )
    collected = in_spark.staged(rows, CollectPositions(far), COLLECTED).repartition("kind", "group")
    together = collected.sortWithinPartitions("kind", "group", "place")
    found = in_spark.staged(together, JoinPositions(moments_of(scoped)), JOINED).localCheckpoint()
    is_clock = F.length("clock") > 0
    of_streams = {
        row["stream"]: pickle.loads(row["clock"]) for row in found.where(is_clock).collect()
    }
    return CrossStreamDeletes(
        Crossing(of_streams, far.column if far else None), found.where(~is_clock).drop("clock")
    )
