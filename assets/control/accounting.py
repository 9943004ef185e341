"""The accounts of a feed, ``accounting.<feed>``: what became of the events of each window and table, in numbers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from assets.columns import layers
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from transforms.feed.feed import Feed

_COUNTS = tuple(one.name for one in layers.Accounting.schema if one.type == pa.int64())

ANNOUNCED = ""
"""The ``declaration`` of a row that only announces kinds of change: its window is not derived yet."""

StoredAccount = Mapping[str, Any]
"""One row of it."""


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
            **{one.name: [] for one in layers.Accounting.schema if pa.types.is_list(one.type)},
            **{"warnings": {}, "change_kinds": row["change_kinds"], "declaration": ANNOUNCED},
        }
        for row in accounts
        if row["change_kinds"] and not set(row["change_kinds"]) <= known.get(row["table"], set())
    ]
    if new:
        table.append(new)


# Gold folds the changes of all its windows at once, and only the accounts know which window brought how many.

ChangesByWindow = Mapping[str, Mapping[str, int]]
"""By declared table, or by the source's name of one that is not declared: the number of changes by window."""


def changes_by_window(lake: Lake, feed: Feed, windows: Collection[str]) -> ChangesByWindow:
    """The changes of these windows, by table."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    columns = ["window", "source_table", "declared", "changes"]
    for row in lake.in_process_table(Layer.ACCOUNTING, feed.name).rows(
        columns, {"window": [*windows]}
    ):
        if row["changes"]:
            found[row["declared"] or row["source_table"]][row["window"]] += row["changes"]
    return found


def windows_with_events(lake: Lake, feed: Feed, windows: Collection[str]) -> set[str]:
    """Those of the windows of which silver has accounts: something landed in them, whatever became of it."""
    rows = lake.in_process_table(Layer.ACCOUNTING, feed.name).rows(
        ["window"], {"window": [*windows]}
    )
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
