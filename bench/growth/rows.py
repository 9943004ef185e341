"""The same changes into gold of more and more rows: what of an apply grows with the table.

The textbook takes turns with Weir, for its MERGE reads the table, too.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from bench.growth.points import points, shrunk
from bench.lines.appliers import appliers, feed_of
from bench.lines.bringing import bring
from bench.made import base, drops, row
from bench.made.changes import drawn
from bench.made.restoring import Workspace
from bench.measuring import Line, say
from bench.sizes import Sizes

TABLE = row.table("item")

ROWS = (1_000_000, 10_000_000, 50_000_000)
CHANGES = 100_000


def lines_of_rows(work: Workspace, sizes: Sizes) -> Iterator[Line]:
    """One line for each number of rows; a table is removed when the next one is due, for they are large."""
    changes = shrunk(CHANGES, sizes)
    for rows in points(ROWS, sizes):
        landing = work.folder / f"landing_{rows}"
        drops.lay(landing, TABLE.name, drawn(rows=rows, count=changes, seed=sizes.seed))
        feed = feed_of(landing, [TABLE])
        lake = work.lake(f"gold_{rows}")
        say(f"writing a table of {rows:,} rows")
        base.write(lake, feed, TABLE, rows)
        bring(lake, feed)
        every = appliers(work, f"gold_{rows}", feed)
        ours = {name: every[name] for name in ("weir", "textbook")}
        yield Line(f"changes into {rows:,} rows", changes, "changes", ours)
        shutil.rmtree(lake.warehouse)
