"""Making a feed's tables anew from bronze: under a changed declaration, a new epoch, or to take in what came too late.

What compaction has folded away is read again from bronze, so that nothing is settled any more until the next
compaction. Not here: the command (``orchestration/rebuilding.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from delta.tables import DeltaTable

from assets import current_state, decisions, ledger, silver
from assets.current_state import Applied
from assets.lake import Lake
from transforms.errors import RebuildRefused
from transforms.feed import Feed, Table

AT_ONCE = 48
"""So many windows are derived in one pass: enough for Spark to have work, few enough to show progress."""


@dataclass(frozen=True, slots=True)
class Derived:
    """So many of the windows are in silver again."""

    windows: int
    of: int


def windows_of(lake: Lake, feed: Feed) -> list[str]:
    """Every window of bronze.

    Raises:
        RebuildRefused: bronze lacks windows that silver was made from.
    """
    windows = sorted({one.window for one in ledger.read_objects(lake, feed)})
    books = lake.table("accounting", feed.name)
    if books.exists():
        had = books.read().where("events > 0").select("window").distinct().collect()
        if gone := sorted({row["window"] for row in had} - set(windows)):
            raise RebuildRefused(feed.name, gone)
    return windows


def rebuild(lake: Lake, feed: Feed, windows: Sequence[str]) -> Iterator[Derived]:
    """Derive silver anew from these, all windows of bronze; gold follows with ``apply_anew``.

    A run that ends in between leaves every window due, so that the next run or rebuild goes on.
    """
    feed = decisions.with_recorded(lake, feed)
    # In this order: without progress every window is due; without its horizon, history is whole again.
    for layer in ("progress", "base", "compacted"):
        table = lake.table(layer, feed.name)
        if table.exists():
            DeltaTable.forPath(lake.spark, table.path).delete()
    for start in range(0, len(windows), AT_ONCE):
        some = windows[start : start + AT_ONCE]
        silver.derive(lake, feed, some)
        yield Derived(start + len(some), len(windows))


def apply_anew(lake: Lake, feed: Feed, table: Table, windows: Sequence[str]) -> Applied:
    """Make every gold table that mirrors the declared one from all of silver, each in one commit."""
    return current_state.apply(lake, feed, table, windows, anew=True)
