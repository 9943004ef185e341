"""What has been read and what has been finished, derived from the tables themselves.

An object generation is read when bronze holds a row of it, an offset of a topic when it holds that one or a later one:
the rows and the fact come in one commit. A window is finished when ``progress`` says so for as many object generations
as bronze holds of it now (records, where topics are read: their partitions grow), under the declaration that the feed
has now. Losing ``progress`` costs time, never truth: every step can be repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from assets import decisions
from assets.kafka_topics import Range, Read
from assets.lake import Lake
from assets.writing import writing
from transforms.errors import WindowSizeChanged
from transforms.feed import Feed
from transforms.feed_digest import feed_digest
from transforms.windows import WINDOW_LENGTHS

PROGRESS = T.StructType(
    [
        T.StructField("window", T.StringType(), False),
        T.StructField("objects", T.LongType(), False),
        T.StructField("declaration", T.StringType(), False),
        T.StructField("finished_at", T.TimestampType(), False),
    ]
)
"""One row per window that is in gold: with how many object generations or records, and under which declaration."""


@dataclass(frozen=True, slots=True)
class ReadObject:
    """One object generation that bronze holds, and how many records it gave."""

    window: str
    name: str
    generation: str
    records: int


def read_objects(
    lake: Lake,
    feed: Feed,
    windows: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    rows: DataFrame | None = None,
) -> list[ReadObject]:
    """The object generations in bronze: all, those of these windows, or those of these names.

    ``rows``: bronze as somebody has read it, for whom it must not have grown meanwhile.
    """
    bronze = lake.table("bronze", feed.name)
    if rows is None:
        if not bronze.exists():
            return []
        rows = bronze.read()
    if windows is not None:
        rows = rows.where(F.col("window").isin(list(windows)))
    if names is not None:
        wanted = lake.spark.createDataFrame([(name,) for name in names], "object string")
        rows = rows.join(F.broadcast(wanted), on="object", how="left_semi")
    # Line 0 is the mark of an object without records.
    records = F.count_if(F.col("line") > 0).alias("records")
    found = rows.groupBy("window", "object", "generation").agg(records).collect()
    return [
        ReadObject(row["window"], row["object"], row["generation"], row["records"]) for row in found
    ]


def read_offsets(lake: Lake, feed: Feed) -> dict[tuple[str, str], Read]:
    """How far bronze has each partition of the feed's topics, by the partition's name and its topic's id."""
    bronze = lake.table("bronze", feed.name)
    if not bronze.exists():
        return {}
    last = F.max(F.struct("byte_offset", "window")).alias("last")
    rows = bronze.read().groupBy("object", "generation").agg(last).collect()
    return {
        (row["object"], row["generation"]): Read(row["last"][0] + 1, row["last"][1]) for row in rows
    }


def records_since(lake: Lake, feed: Feed, ranges: Sequence[Range]) -> dict[str, int]:
    """How many records bronze has at or behind the beginning of each range, by window."""
    begun = lake.spark.createDataFrame(
        [(one.partition.name, one.partition.topic_id, one.first) for one in ranges],
        "object string, generation string, first bigint",
    )
    rows = lake.table("bronze", feed.name).read().where(F.col("line") > 0)
    # The files' statistics leave out most of what was there before.
    rows = rows.where(F.col("byte_offset") >= min(one.first for one in ranges))
    rows = rows.join(F.broadcast(begun), on=["object", "generation"], how="inner")
    found = rows.where("byte_offset >= first").groupBy("window").count().collect()
    return {row["window"]: row["count"] for row in found}


def amounts(feed: Feed, known: Iterable[ReadObject]) -> Counter[str]:
    """What bronze has of each window, as ``progress`` counts it: object generations, or records of topics."""
    counts: Counter[str] = Counter()
    for one in known:
        counts[one.window] += one.records if feed.reads_topics else 1
    return counts


def other_windows(lake: Lake, feed: Feed) -> list[str]:
    """A window in bronze that is none of the feed's size, if there is any: files are not opened to know."""
    bronze = lake.table("bronze", feed.name)
    if not bronze.exists():
        return []
    ours = F.length("window") == WINDOW_LENGTHS[feed.window]
    return [row["window"] for row in bronze.read().where(~ours).select("window").take(1)]


def refuse_other_size(feed: Feed, windows: Iterable[str]) -> None:
    """Raise where bronze was read by the hour and the feed now says day, or the other way round.

    Raises:
        WindowSizeChanged: the same drops would be read once more, into other windows.
    """
    for window in windows:
        if len(window) != WINDOW_LENGTHS[feed.window]:
            raise WindowSizeChanged(feed.name, feed.window, window)


def unfinished(lake: Lake, feed: Feed, known: Sequence[ReadObject]) -> list[str]:
    """Windows whose bronze, ``known`` as it is now, is not in gold yet, or was derived under another declaration."""
    feed = decisions.with_recorded(lake, feed)
    counts = amounts(feed, known)
    progress = lake.table("progress", feed.name)
    rows = progress.read().collect() if progress.exists() else []
    finished = {
        row["window"]: row["objects"]
        for row in rows
        if row["declaration"] == feed_digest(feed, row["window"])
    }
    return sorted(window for window, count in counts.items() if finished.get(window) != count)


def finish(lake: Lake, feed: Feed, windows: Sequence[str]) -> int:
    """Write down that these windows are in gold; returns what is in them, as ``amounts`` counts it.

    A window for which bronze has more than silver was made from is left out: another run read new drops meanwhile, and
    may have died before it came to silver. So is one that was derived under other decisions than there are by now.
    """
    with writing(lake, "progress", feed.name):
        return _finish(lake, decisions.with_recorded(lake, feed), windows)


def _finish(lake: Lake, feed: Feed, windows: Sequence[str]) -> int:
    known = read_objects(lake, feed, windows)
    late = behind(lake, feed, known)
    counts = amounts(feed, (one for one in known if one.window not in late))
    now = datetime.now(UTC)
    rows = [(window, count, feed_digest(feed, window), now) for window, count in counts.items()]
    # One small file: a backfill may have thousands of windows, and most of them no objects.
    lake.table("progress", feed.name).replace_windows(
        lake.spark.createDataFrame(rows, PROGRESS).coalesce(1), windows, partition_by=()
    )
    return counts.total()


def behind(lake: Lake, feed: Feed, known: Sequence[ReadObject]) -> set[str]:
    """The windows whose books speak of other records than bronze has, or of what the feed no longer says."""
    landed: Counter[str] = Counter()
    for one in known:
        landed[one.window] += one.records
    books = lake.table("accounting", feed.name)
    booked: Counter[str] = Counter()
    stale: set[str] = set()
    if books.exists():
        of_these = books.read().where(F.col("window").isin(list(landed)))
        told = of_these.groupBy("window").agg(
            F.sum("records").alias("records"), F.collect_set("declaration").alias("declarations")
        )
        for row in told.collect():
            booked[row["window"]] = row["records"]
            if row["declarations"] != [feed_digest(feed, row["window"])]:
                stale.add(row["window"])
    return stale | {window for window in landed if landed[window] != booked[window]}
