"""What tells where scoped changes of one stream stand among another's, read from all of a feed's silver.

TigerGraph's are the only ones so far, and only a feed of several partitions asks. Not here: where they stand then
(``transforms/gold/streams/crossing.py``), and which messages tell it (``transforms.source_format.FarPlaces``).
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.arrow import in_spark
from assets.arrow.cross_streams import FOUND, TOLD, Heard, Listen, Tell, clocks, placed
from assets.bookkeeping import accounting
from assets.lake import Lake
from assets.layers import Layer
from transforms.change_kinds import ChangeKinds, streams_of
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.gold.change import Key
from transforms.gold.scopes import Scoped
from transforms.gold.streams.clocks import Moment
from transforms.gold.streams.crossing import Crossing, CrossStreamPosition
from transforms.source_format import FarPlaces

COLUMNS = (
    *("declared", "effect", "operation", "derived", "scope", "after", "event_at"),
    *("key", "event_id", "stream", "position"),
)
"""What of silver has to be read for it, of all tables."""

_SEVERAL: Final = 2


def crosses(feed: Feed, change_kinds: ChangeKinds) -> bool:
    """Whether scoped changes of a table may reach keys of other streams."""
    by_format = FORMATS[feed.format].crosses_streams
    return by_format and any(shape.of_stream for shape in change_kinds.scopes)


def has_streams(lake: Lake, feed: Feed) -> bool:
    """Whether a feed's changes came from several streams: most have one, and there no delete has anywhere to go.

    The accounts say it. Of windows that an earlier version of Weir derived silver is asked.
    """
    known = _Streams.by_accounts(lake, feed)
    met = known.met
    if len(met) < _SEVERAL and known.untold:
        silver = lake.table(Layer.SILVER, feed.name).read()
        told = F.col("window").isin(sorted(known.untold)) & F.col("stream").isNotNull()
        rows = silver.where(told).select("stream").distinct().limit(_SEVERAL).collect()
        met = met | {row["stream"] for row in rows}
    return len(met) >= _SEVERAL


def may_have_streams(lake: Lake, feed: Feed) -> bool:
    """Whether the same is so, or could only be told by silver."""
    known = _Streams.by_accounts(lake, feed)
    return len(known.met) >= _SEVERAL or bool(known.untold)


@dataclass(frozen=True, slots=True)
class _Streams:
    """Streams that a feed's changes came from, and the windows whose accounts do not tell them."""

    met: frozenset[str]
    untold: frozenset[str]

    @classmethod
    def by_accounts(cls, lake: Lake, feed: Feed) -> _Streams:
        rows = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
        met: set[str] = set()
        untold: set[str] = set()
        for row in rows.rows(["window", "change_kinds"]):
            told = streams_of(row["change_kinds"] or ())
            if told is None:
                untold.add(row["window"])
            else:
                met |= told
        return cls(frozenset(met), frozenset(untold))


def far_places(feed: Feed, table: Table) -> FarPlaces | None:
    """Which messages tell where the table's changes stand in other streams."""
    told_by = FORMATS[feed.format].far_places
    return None if told_by is None else told_by(feed, table.name)


def asked(scoped: Iterable[Scoped]) -> frozenset[int]:
    """The moments of which it has to be known how far each stream had come by then."""
    return frozenset(
        one.change.event_at
        for one in scoped
        if one.stream is not None and one.change.event_at is not None
    )


@dataclass(frozen=True, slots=True)
class Here:
    """What tells whom a table's scoped changes reach, of silver that was read in this process.

    ``cross_stream_positions``: of changes in other streams, by event. ``placed``: the keys of those whose place the run
    brings.
    """

    crossing: Crossing
    cross_stream_positions: dict[str, list[CrossStreamPosition]]
    placed: set[Key]


def here(
    feed: Feed, table: Table, scoped: Iterable[Scoped], silver: Iterable[tuple[pa.Table, bool]]
) -> Here | None:
    """What all rows of a feed's silver tell, by files that the run brings or that were there; None of one stream."""
    far, heard = far_places(feed, table), Heard()
    for rows, is_new in silver:
        plain = rows.append_column("is_new", pa.array([is_new] * rows.num_rows, pa.bool_()))
        both = pc.or_(pc.is_valid(rows["derived"]), pc.is_valid(rows["scope"]))
        plain = plain.append_column("is_derived", both)
        at = rows["event_at"].cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        plain = plain.set_column(plain.column_names.index("event_at"), "event_at", at)
        for batch in plain.combine_chunks().to_batches():
            heard.hear(batch, far)
    if len({stream for stream, _, _ in heard.moments}) < _SEVERAL:
        return None
    moments = ((one[0], Moment(one[1], at, one[2])) for one, at in heard.moments.items())
    cross_stream_positions: dict[str, list[CrossStreamPosition]] = defaultdict(list)
    new: set[Key] = set()
    for met in heard.met.values():
        for one in placed(met):
            cross_stream_positions[one.event_id].append(one.there)
            if one.is_new:
                new.add(one.key)
    found = Crossing(clocks(moments, asked(scoped)), far.column if far else None)
    return Here(found, dict(cross_stream_positions), new)


@dataclass(frozen=True, slots=True)
class CrossStreamDeletes:
    """The same as Spark's tasks tell it.

    ``cross_stream_positions``: one row per place of a change in another stream: ``key``, ``event_id``, ``stream``,
    ``position``, and ``is_new``.
    """

    crossing: Crossing
    cross_stream_positions: DataFrame


def across_streams(
    feed: Feed, table: Table, scoped: Iterable[Scoped], silver: DataFrame
) -> CrossStreamDeletes:
    """What all rows of a feed's silver tell (with ``is_new``), where it has several streams."""
    far = far_places(feed, table)
    rows = silver.select(
        *("declared", "effect", "operation", "after", "event_id", "stream", "position", "is_new"),
        (F.col("derived").isNotNull() | F.col("scope").isNotNull()).alias("is_derived"),
        F.unix_micros("event_at").alias("event_at"),
        # Never null: see arrow_meetings.COLUMNS.
        F.coalesce("key", F.array().cast("array<string>")).alias("key"),
    )
    told = in_spark.staged(rows, Tell(far), TOLD).repartition("kind", "group")
    together = told.sortWithinPartitions("kind", "group", "place")
    found = in_spark.staged(together, Listen(asked(scoped)), FOUND).localCheckpoint()
    is_clock = F.length("clock") > 0
    of_streams = {
        row["stream"]: pickle.loads(row["clock"]) for row in found.where(is_clock).collect()
    }
    return CrossStreamDeletes(
        Crossing(of_streams, far.column if far else None), found.where(~is_clock).drop("clock")
    )
