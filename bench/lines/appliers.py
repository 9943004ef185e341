"""How Weir, the textbook and the floor apply the changes of the timed window, each from a fresh copy of the tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from assets.gold import apply
from assets.storage.lake import Lake
from bench.made import drops
from bench.made.restoring import Workspace
from bench.measuring import Prepared
from bench.rivals import floor, textbook
from transforms.feed.feed import Feed, Table

WINDOWS = [drops.WINDOW]


def feed_of(landing: Path, tables: Sequence[Table]) -> Feed:
    """The bench's feed, with these tables."""
    declared = {table.name: table for table in tables}
    return Feed("bench", "arcion_s3_json", str(landing), tables=declared)


def appliers(work: Workspace, like: str, feed: Feed) -> dict[str, Callable[[], Prepared]]:
    """The three competitors by name; each begins with the tables of the warehouse ``like``."""
    tables = [*feed.tables.values()]

    def one_after_another(
        apply: Callable[[Lake, Feed, Table, Sequence[str]], object],
    ) -> Callable[[Lake], object]:
        return lambda lake: [apply(lake, feed, table, WINDOWS) for table in tables]

    # The floor of few changes in a small table is its one commit: there is no column worth scanning.
    least = floor.apply if len(feed.tables) == 1 else floor.commit
    return {
        "weir": restored(work, like, lambda lake: apply.apply_tables(lake, feed, tables, WINDOWS)),
        "textbook": restored(work, like, one_after_another(textbook.apply)),
        "floor": restored(work, like, one_after_another(least)),
    }


def restored(work: Workspace, like: str, apply: Callable[[Lake], object]) -> Callable[[], Prepared]:
    """Prepares a warehouse with the tables of ``like``, to which the changes are then applied."""

    def prepare() -> Prepared:
        lake = work.fresh(like)
        return lambda: apply(lake)

    return prepare
