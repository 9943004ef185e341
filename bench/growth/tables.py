"""A window of more and more tables with ten changes each, from landing to gold: what a table costs among many."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from assets.control import progress
from assets.gold import apply
from assets.storage.lake import Lake
from bench.growth.points import points
from bench.lines.appliers import feed_of, restored
from bench.lines.bringing import bring
from bench.made import drops, row
from bench.made.restoring import Workspace
from bench.measuring import Line, say
from bench.sizes import Sizes
from transforms.feed.feed import Feed

TABLES = (10, 100, 1_000)
CHANGES = 10


def lines_of_tables(work: Workspace, sizes: Sizes) -> Iterator[Line]:
    """One line for each number of tables; each table has a hundred rows before."""
    for tables in points(TABLES, sizes):
        names = drops.small_names(tables)
        landing = work.folder / f"landing_of_{tables}"
        drops.lay_small(landing, names, sizes.seed, CHANGES)
        feed = feed_of(landing, [row.table(name) for name in names])
        say(f"bringing {tables:,} tables to gold")
        _to_gold(work.lake(f"tables_{tables}"), feed, drops.BASE_WINDOW)
        timed = restored(work, f"tables_{tables}", partial(_to_gold, feed=feed))
        yield Line(
            f"{CHANGES} changes each of {tables:,} tables", tables, "tables", {"weir": timed}
        )


def _to_gold(lake: Lake, feed: Feed, window: str = drops.WINDOW) -> None:
    bring(lake, feed, [window])
    apply.apply_tables(lake, feed, [*feed.tables.values()], [window])
    progress.finish(lake, feed, [window])
