"""How many changes each window of a run has for each table, as silver's accounts count them.

Gold folds the changes of all its windows at once, so an apply does not know which window brought how many. Put here
what the accounts say of that for the UI. Not here: what the fold did (``applied``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from assets.bookkeeping import accounting
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed

ChangesByWindow = Mapping[str, Mapping[str, int]]
"""By declared table, or by the source's name of one that is not declared: the number of changes by window."""


def changes_by_window(lake: Lake, feed: Feed, windows: Collection[str]) -> ChangesByWindow:
    """The changes of these windows, by table."""
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name, columns=accounting.COLUMNS)
    found: dict[str, Counter[str]] = defaultdict(Counter)
    columns = ["window", "source_table", "declared", "changes"]
    for row in accounts.rows(columns, {"window": [*windows]}):
        if row["changes"]:
            found[row["declared"] or row["source_table"]][row["window"]] += row["changes"]
    return found


def windows_with_events(lake: Lake, feed: Feed, windows: Collection[str]) -> set[str]:
    """Those of the windows of which silver has accounts: something landed in them, whatever became of it."""
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name, columns=accounting.COLUMNS)
    return {row["window"] for row in accounts.rows(["window"], {"window": [*windows]})}


def of_tables(found: ChangesByWindow, tables: Iterable[str]) -> dict[str, dict[str, int]]:
    """The metadata of each window for an asset that makes these tables."""
    total: Counter[str] = Counter()
    for table in tables:
        total.update(found.get(table, {}))
    return {window: {"changes": count} for window, count in total.items()}


def first_and_last(windows: Sequence[str]) -> str:
    """The windows of a run, in words."""
    return windows[0] if len(windows) == 1 else f"{windows[0]} .. {windows[-1]} ({len(windows)})"
