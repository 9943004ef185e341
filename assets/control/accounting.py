"""The accounts of a feed, ``accounting.<feed>``: what became of the events of each window and table, in numbers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from transforms.column_types.map_columns import NUMBERS, TEXTS
from transforms.feed.feed import Feed
from transforms.moments import microseconds_of, moment_of
from transforms.silver import log_resets

_MOMENT = pa.timestamp("us", "UTC")

STREAM_SCHEMA = pa.struct(
    [
        ("key", TEXTS),
        ("columns", pa.list_(pa.struct([("name", pa.string()), ("type", pa.string())]))),
        ("encoded", TEXTS),
        ("defaults", pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())]))),
    ]
)
"""A table as its stream describes it: the key's columns (none: it has no key; null: the event does not say it, as one
about a whole table), all columns with Spark SQL types, and what some of them are in rows from before they were added.
"""

SEGMENT = pa.struct(
    [
        *[("epoch", pa.int64()), ("segment", pa.int64())],
        *[("event_at", _MOMENT), ("extracted_at", _MOMENT)],
    ]
)
"""A log file of one epoch: when the source made the newest change in it, and when the extractor first read that."""

_NAMES = ("window", "table", "source_table", "declared")
_COUNTS = (
    *("records", "events", "changes", "control", "duplicates", "quarantined", "held", "too_late"),
    *("derived", "derived_quarantined", "null_keys"),
)
COLUMNS = pa.schema(
    [
        *[(name, pa.string()) for name in _NAMES],
        *[(name, pa.int64()) for name in _COUNTS],
        *[("undeclared_columns", TEXTS), ("change_kinds", TEXTS), ("segments", pa.list_(SEGMENT))],
        *[("newest_event_at", _MOMENT), ("stream", pa.string())],
        *[("first_position", NUMBERS), ("last_position", NUMBERS)],
        *[("snapshots", TEXTS), ("trails", TEXTS), ("falls", TEXTS)],
        ("warnings", pa.map_(pa.string(), pa.int64())),
        ("stream_schemas", pa.list_(STREAM_SCHEMA)),
        ("declaration", pa.string()),
    ]
)
"""One row per window and table (null: events that name none). Counts are of source events, ``records`` of bronze
records (one may hold many events), ``derived`` and ``derived_quarantined`` of rows that are no events.

``undeclared_columns``: those that changes of a declared table mention and the feed file does not.
``change_kinds``: labels of the kinds of change that the window has for the table and, where range deletes may reach
other streams, one that lists the streams of the changes.
``segments``: the newest times seen in each of the source's log files. ``newest_event_at``: when the source made the
newest of the changes; null where its events have no times. ``stream``: the one stream that the changes came from; null
where there are several, or none. ``first_position``, ``last_position``: where the oldest and the newest of them stand;
only epoch and phase where the feed has several streams. ``snapshots``: which stretches of which snapshots the window
holds. ``trails``: the changes of each part of the source that stand highest and lowest; ``falls``: those that stand
below such as were made before them. ``warnings``: how many events have each of the format's. ``stream_schemas``: what
the stream says of a table that the feed does not declare. ``declaration``: the digest of what the feed declared when
the window was derived.
"""

ANNOUNCED = ""
"""The ``declaration`` of a row that only announces kinds of change: its window is not derived yet."""

StoredAccount = Mapping[str, Any]
"""One row of it."""


def accounting_of(lake: Lake, feed: Feed) -> InProcessTable:
    """The table ``accounting.<feed>``."""
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
        {
            **row,
            **dict.fromkeys(_COUNTS, 0),
            **{one.name: [] for one in COLUMNS if pa.types.is_list(one.type)},
            **{"warnings": {}, "change_kinds": row["change_kinds"], "declaration": ANNOUNCED},
        }
        for row in accounts
        if row["change_kinds"] and not set(row["change_kinds"]) <= known.get(row["table"], set())
    ]
    if new:
        table.append(new)


_READ_AT = ("event_at", "extracted_at")


def falls_of_accounts(accounts: Iterable[StoredAccount]) -> list[StoredAccount]:
    """One row per log file that ends before an earlier one does (``log_resets.falls``), with times as UTC datetimes."""
    found = [
        {
            **{name: row[name] for name in ("table", "window", "declared")},
            "segments": [
                (one["epoch"], one["segment"], *(microseconds_of(one[at]) for at in _READ_AT))
                for one in row["segments"]
            ],
        }
        for row in accounts
    ]
    return [
        {**fall, **{name: moment_of(fall[name]) for name in ("newest", "newest_before", "begins")}}
        for fall in log_resets.falls(found)
    ]


# Gold folds the changes of all its windows at once, and only the accounts know which window brought how many.

ChangesByWindow = Mapping[str, Mapping[str, int]]
"""By declared table, or by the source's name of one that is not declared: the number of changes by window."""


def changes_by_window(lake: Lake, feed: Feed, windows: Collection[str]) -> ChangesByWindow:
    """The changes of these windows, by table."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    columns = ["window", "source_table", "declared", "changes"]
    for row in accounting_of(lake, feed).rows(columns, {"window": [*windows]}):
        if row["changes"]:
            found[row["declared"] or row["source_table"]][row["window"]] += row["changes"]
    return found


def windows_with_events(lake: Lake, feed: Feed, windows: Collection[str]) -> set[str]:
    """Those of the windows of which silver has accounts: something landed in them, whatever became of it."""
    rows = accounting_of(lake, feed).rows(["window"], {"window": [*windows]})
    return {row["window"] for row in rows}


def changes_of_tables(found: ChangesByWindow, tables: Iterable[str]) -> dict[str, dict[str, int]]:
    """The metadata of each window for an asset that makes these tables."""
    total: Counter[str] = Counter()
    for table in tables:
        total.update(found.get(table, {}))
    return {window: {"changes": count} for window, count in total.items()}


def first_and_last(windows: Sequence[str]) -> str:
    """The windows of a run, in words."""
    return windows[0] if len(windows) == 1 else f"{windows[0]} .. {windows[-1]} ({len(windows)})"
