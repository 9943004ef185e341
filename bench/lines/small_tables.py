"""Many small tables in one window: what a table costs that has little in it."""

from __future__ import annotations

from assets.gold import apply
from bench.lines.appliers import appliers, feed_of
from bench.lines.bringing import bring
from bench.made import drops, row
from bench.made.restoring import Workspace
from bench.measuring import Line, say
from bench.sizes import Sizes


def line_of_small_tables(work: Workspace, sizes: Sizes) -> Line:
    """Many small tables in one window: each has rows already, and gets a few changes."""
    names = drops.small_names(sizes.tables)
    landing = work.folder / "small_landing"
    say(f"making {sizes.tables} small tables")
    drops.lay_small(landing, names, sizes.seed)
    feed = feed_of(landing, [row.table(name) for name in names])
    lake = work.lake("small")
    bring(lake, feed, [drops.BASE_WINDOW])
    apply.apply_tables(lake, feed, [*feed.tables.values()], [drops.BASE_WINDOW])
    bring(lake, feed)
    return Line("small tables", sizes.tables, "tables", appliers(work, "small", feed))
