"""The accounts of a feed, ``accounting.<feed>``: what became of the events of each window and table, in numbers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from transforms.feed.feed import Feed
from transforms.moments import microseconds_of, moment_of
from transforms.silver import log_resets


def _named(part: str) -> T.ArrayType:
    """A text for each of some columns, whose names come with it."""
    fields = [T.StructField(one, T.StringType(), True) for one in ("name", part)]
    return T.ArrayType(T.StructType(fields))


STREAM_SCHEMA = T.StructType(
    [
        T.StructField("key", T.ArrayType(T.StringType()), True),
        T.StructField("columns", _named("type"), True),
        T.StructField("encoded", T.ArrayType(T.StringType()), True),
        T.StructField("defaults", _named("value"), True),
    ]
)
"""A table as its stream describes it: the key's columns (none: it has no key), all columns with Spark SQL types, and
what some of them are in rows from before they were added.

The key is null where the event does not say it, as an event about a whole table. Gold needs a description only of
tables that the feed file does not declare.
"""

SEGMENT = T.StructType(
    [
        T.StructField("epoch", T.LongType(), True),
        T.StructField("segment", T.LongType(), True),
        T.StructField("event_at", T.TimestampType(), True),
        T.StructField("extracted_at", T.TimestampType(), True),
    ]
)
"""A log file of one epoch: when the source made the newest change in it, and when the extractor first read that."""

ACCOUNTING = T.StructType(
    [
        T.StructField("window", T.StringType(), False),
        T.StructField("table", T.StringType(), True),
        T.StructField("source_table", T.StringType(), True),
        T.StructField("declared", T.StringType(), True),
        T.StructField("records", T.LongType(), False),
        T.StructField("events", T.LongType(), False),
        T.StructField("changes", T.LongType(), False),
        T.StructField("control", T.LongType(), False),
        T.StructField("duplicates", T.LongType(), False),
        T.StructField("quarantined", T.LongType(), False),
        T.StructField("held", T.LongType(), False),
        T.StructField("too_late", T.LongType(), False),
        T.StructField("derived", T.LongType(), False),
        T.StructField("derived_quarantined", T.LongType(), False),
        T.StructField("null_keys", T.LongType(), False),
        T.StructField("undeclared_columns", T.ArrayType(T.StringType()), True),
        T.StructField("change_kinds", T.ArrayType(T.StringType()), True),
        T.StructField("segments", T.ArrayType(SEGMENT), True),
        T.StructField("newest_event_at", T.TimestampType(), True),
        T.StructField("stream", T.StringType(), True),
        T.StructField("first_position", T.ArrayType(T.LongType()), True),
        T.StructField("last_position", T.ArrayType(T.LongType()), True),
        T.StructField("snapshots", T.ArrayType(T.StringType()), True),
        T.StructField("trails", T.ArrayType(T.StringType()), True),
        T.StructField("falls", T.ArrayType(T.StringType()), True),
        T.StructField("warnings", T.MapType(T.StringType(), T.LongType()), False),
        T.StructField("stream_schemas", T.ArrayType(STREAM_SCHEMA), True),
        T.StructField("declaration", T.StringType(), False),
    ]
)
"""One row per window and table (null: events that name none). Counts are of source events, ``records`` of bronze
records (one may hold many events), ``derived`` and ``derived_quarantined`` of rows that are no events.

``undeclared_columns``: those that changes of a declared table mention and the feed file does not.
``change_kinds``: labels of the kinds of change that the window has for the table
(``transforms/silver/change_kinds.py``), and, where range deletes may reach other
streams, one label that lists the streams of the changes.
``segments``: the newest times seen in each of the source's log files. ``newest_event_at``: when the source made the
newest of the changes; null where its events have no times. ``stream``: the one stream that the changes came from; null
where there are several, or none. ``first_position``, ``last_position``: where the oldest and the newest of them stand;
only epoch and phase where the feed has several streams. ``snapshots``: which stretches of which snapshots the window
holds (``transforms/silver/snapshots.py``). ``trails``: the changes of each part of the source that stand highest and
lowest; ``falls``: those that stand below such as were made before them (``transforms/silver/trails.py``).
``warnings``: how many events have each of the format's. ``stream_schemas``: what the stream says of a table that the
feed does not declare. ``declaration``: the digest of what the feed declared when the window was derived.
"""

ANNOUNCED = ""
"""The ``declaration`` of a row that only announces kinds of change: its window is not derived yet (``announce``)."""


COLUMNS: pa.Schema = to_arrow_schema(ACCOUNTING, timezone="UTC")
"""The columns of ``accounting.<feed>``."""

StoredAccount = Mapping[str, Any]
"""One row of it."""


def accounting_of(lake: Lake, feed: Feed) -> InProcessTable:
    """The table itself."""
    return lake.in_process_table(Layer.ACCOUNTING, feed.name, columns=COLUMNS)


def summed_counts(rows: pa.Table, by: str, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """The sums of these counts for each value of the column ``by``, added up by Arrow."""
    found = rows.group_by(by).aggregate([(name, "sum") for name in names])
    sums = zip(*(found[f"{name}_sum"].to_pylist() for name in names), strict=True)
    return {
        value: dict(zip(names, counts, strict=True))
        for value, counts in zip(found[by].to_pylist(), sums, strict=True)
    }


def announce(
    table: InProcessTable, accounts: Sequence[StoredAccount], earlier: Sequence[StoredAccount]
) -> None:
    """Add rows that say which kinds of change these windows bring, before silver has the changes.

    Gold folds by the kinds that all windows have together. Silver and its accounts are two commits: a run that dies
    between them, or one on other windows that looks just then, would fold these changes as if they were of no kind.
    """
    known: dict[str | None, set[str]] = {}
    for row in earlier:
        known.setdefault(row["table"], set()).update(row["change_kinds"])
    new = [
        _announced(row)
        for row in accounts
        if row["change_kinds"] and not set(row["change_kinds"]) <= known.get(row["table"], set())
    ]
    if new:
        table.append(new)


def _announced(row: StoredAccount) -> StoredAccount:
    """The row without anything that was counted."""
    empty: dict[str, object] = {
        field.name: 0 if isinstance(field.dataType, T.LongType) else []
        for field in ACCOUNTING.fields
        if isinstance(field.dataType, (T.LongType, T.ArrayType))
    } | {"warnings": {}}
    return {**row, **empty, "change_kinds": row["change_kinds"], "declaration": ANNOUNCED}


def falls_of_accounts(accounts: Iterable[StoredAccount]) -> list[StoredAccount]:
    """One row per log file that ends before an earlier one does (``log_resets.falls``), with times as UTC datetimes."""
    found = [
        {
            **{name: row[name] for name in ("table", "window", "declared")},
            "segments": [
                (
                    one["epoch"],
                    one["segment"],
                    microseconds_of(one["event_at"]),
                    microseconds_of(one["extracted_at"]),
                )
                for one in row["segments"]
            ],
        }
        for row in accounts
    ]
    return [
        {**fall, **{name: moment_of(fall[name]) for name in ("newest", "newest_before", "begins")}}
        for fall in log_resets.falls(found)
    ]


# How many changes each window of a run has for each table, as silver's accounts count them.
# Gold folds the changes of all its windows at once, so an apply does not know which window brought how many.


ChangesByWindow = Mapping[str, Mapping[str, int]]
"""By declared table, or by the source's name of one that is not declared: the number of changes by window."""


def changes_by_window(lake: Lake, feed: Feed, windows: Collection[str]) -> ChangesByWindow:
    """The changes of these windows, by table."""
    accounts = accounting_of(lake, feed)
    found: dict[str, Counter[str]] = defaultdict(Counter)
    columns = ["window", "source_table", "declared", "changes"]
    for row in accounts.rows(columns, {"window": [*windows]}):
        if row["changes"]:
            found[row["declared"] or row["source_table"]][row["window"]] += row["changes"]
    return found


def windows_with_events(lake: Lake, feed: Feed, windows: Collection[str]) -> set[str]:
    """Those of the windows of which silver has accounts: something landed in them, whatever became of it."""
    accounts = accounting_of(lake, feed)
    return {row["window"] for row in accounts.rows(["window"], {"window": [*windows]})}


def changes_of_tables(found: ChangesByWindow, tables: Iterable[str]) -> dict[str, dict[str, int]]:
    """The metadata of each window for an asset that makes these tables."""
    total: Counter[str] = Counter()
    for table in tables:
        total.update(found.get(table, {}))
    return {window: {"changes": count} for window, count in total.items()}


def first_and_last(windows: Sequence[str]) -> str:
    """The windows of a run, in words."""
    return windows[0] if len(windows) == 1 else f"{windows[0]} .. {windows[-1]} ({len(windows)})"
