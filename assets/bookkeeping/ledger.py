"""What has been read of a feed: which objects and offsets bronze holds, derived from bronze itself.

An object generation is read when bronze holds a row of it, an offset of a topic when bronze holds it or a later one:
the rows and the fact come in one commit, which ``bronze_ledger`` remembers. Put here a question about what was read.
Not here: which windows are in gold (``window_progress``), and listing the landing (``landing``). No question needs a
Spark session, unless the caller hands in a frame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.bookkeeping import bronze_ledger
from assets.bookkeeping.bronze_log import GROUPS, BronzeLog, LogIncomplete, merged
from assets.lake import Lake
from assets.landing.kafka.offset_ranges import Range, ReadUpTo
from transforms.errors import WindowSizeChanged
from transforms.feed.feed import Feed
from transforms.feed.windows import WINDOW_LENGTHS


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
    """The object generations in bronze, and how many records each gave.

    Args:
        lake: the warehouse.
        feed: the feed whose bronze is asked about.
        windows: only those in these windows.
        names: only those of objects with these names.
        rows: bronze as the caller has read it, where what was appended since must not count.
    """
    found = _rows(lake, feed) if rows is None else _grouped(rows, windows)
    return objects_in(found, windows, names)


def objects_in(
    held: pa.Table, windows: Iterable[str] | None = None, names: Iterable[str] | None = None
) -> list[ReadObject]:
    """``read_objects`` of what the caller knows of bronze already (``bronze_ledger.catch_up``)."""
    for column, texts in (("window", windows), ("object", names)):
        if texts is not None:
            held = held.filter(pc.is_in(held[column], pa.array([*texts], pa.string())))
    return _objects(held)


def noted_objects(lake: Lake, feed: Feed, windows: Iterable[str] | None = None) -> list[ReadObject]:
    """The object generations that the ledger has noted (``bronze_ledger.noted``): a quick answer, perhaps not all.

    ``windows``: only those in these windows.
    """
    return objects_in(bronze_ledger.noted(lake, feed), windows)


def _objects(rows: pa.Table) -> list[ReadObject]:
    found = merged(rows)
    columns = ("window", "object", "generation", "records")
    cells = zip(*[found[name].to_pylist() for name in columns], strict=True)
    return [ReadObject(*one) for one in cells]


def _rows(lake: Lake, feed: Feed) -> pa.Table:
    held = bronze_ledger.held(lake, feed)
    return GROUPS.empty_table() if held is None else held.rows


def _grouped(rows: DataFrame, windows: Sequence[str] | None) -> pa.Table:
    """The object generations of a frame (``GROUPS``), grouped by Spark."""
    if windows is not None:
        rows = rows.where(F.col("window").isin(list(windows)))
    # Line 0 is the mark of an object without records.
    records = F.count_if(F.col("line") > 0).alias("records")
    places = [F.min("byte_offset"), F.max("byte_offset")]
    grouped = rows.groupBy("window", "object", "generation").agg(records, *places)
    groups = [dict(zip(GROUPS.names, row, strict=True)) for row in grouped.collect()]
    return pa.Table.from_pylist(groups, schema=GROUPS)


def read_offsets(lake: Lake, feed: Feed) -> dict[tuple[str, str], ReadUpTo]:
    """How far bronze has each partition of the feed's topics, by the partition's name and its topic's id."""
    return offsets_in(_rows(lake, feed))


def noted_offsets(lake: Lake, feed: Feed) -> dict[tuple[str, str], ReadUpTo]:
    """``read_offsets`` by the ledger alone (``bronze_ledger.noted``): a quick answer, perhaps not the newest."""
    return offsets_in(bronze_ledger.noted(lake, feed))


def offsets_in(rows: pa.Table) -> dict[tuple[str, str], ReadUpTo]:
    """``read_offsets`` of what the caller knows of bronze already (``bronze_ledger.catch_up``)."""
    last: dict[tuple[str, str], tuple[int, str]] = {}
    for row in rows.to_pylist():
        partition_key, reached = (
            (row["object"], row["generation"]),
            (row["last_offset"], row["window"]),
        )
        last[partition_key] = max(last.get(partition_key, reached), reached)
    return {
        partition_key: ReadUpTo(offset + 1, window)
        for partition_key, (offset, window) in last.items()
    }


def records_since(
    lake: Lake, feed: Feed, ranges: Sequence[Range], seen: int, by: str = "window"
) -> dict[str, int]:
    """How many records of these ranges bronze got after its version ``seen``.

    ``by``: the column that they are counted by, the window, or ``object`` for partitions.
    """
    begun = {(one.partition.name, one.partition.topic_id): one.first for one in ranges}
    counts: Counter[str] = Counter()
    bronze = BronzeLog.opened(lake, feed)
    if bronze is None:
        return {}
    # If somebody removes rows from bronze meanwhile, the count is too small, and nothing else is wrong.
    with suppress(LogIncomplete):
        for version in range(seen + 1, bronze.version + 1):
            for row in bronze.brought_by(version).to_pylist():
                first = begun.get((row["object"], row["generation"]))
                if first is not None and row["first_offset"] >= first and row["records"]:
                    counts[row[by]] += row["records"]
    return dict(counts)


def amounts(feed: Feed, known: Iterable[ReadObject]) -> Counter[str]:
    """What bronze has of each window, as ``progress`` counts it: object generations, or records of topics."""
    counts: Counter[str] = Counter()
    for one in known:
        counts[one.window] += one.records if feed.reads_topics else 1
    return counts


def other_windows(held: pa.Table, feed: Feed) -> list[str]:
    """At most one window of bronze, whose size (hour or day) is not the one that the feed declares.

    ``held``: what bronze holds (``bronze_ledger.catch_up``).
    """
    windows = held["window"].unique().to_pylist()
    return [window for window in windows if len(window) != WINDOW_LENGTHS[feed.window]][:1]


def refuse_other_size(feed: Feed, windows: Iterable[str]) -> None:
    """Raise where bronze was read by the hour and the feed now says day, or the other way round.

    Raises:
        WindowSizeChanged: the same drops would be read once more, into other windows.
    """
    for window in windows:
        if len(window) != WINDOW_LENGTHS[feed.window]:
            raise WindowSizeChanged(feed.name, feed.window, window)
