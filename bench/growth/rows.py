"""The same changes into gold of more and more rows, of keys all over it and of the newest ones: what grows with it.

The textbook takes turns with Weir, for its MERGE reads the table, too.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from bench.growth.points import points, shrunk
from bench.lines.appliers import appliers, feed_of
from bench.lines.bringing import bring
from bench.made import base, drops, restoring, row
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
        say(f"writing a table of {rows:,} rows")
        table = work.lake(f"rows_{rows}")
        base.write(table, feed_of(work.folder, [TABLE]), TABLE, rows)
        newest = max(0, rows - 2 * changes)
        for name, of, first in (
            ("all", "changes", 0),
            ("newest", "changes of the newest rows", newest),
        ):
            landing = work.folder / f"landing_{rows}_{name}"
            some = drawn(rows=rows, count=changes, seed=sizes.seed, first=first)
            drops.lay(landing, TABLE.name, some)
            feed, lake = feed_of(landing, [TABLE]), work.lake(f"gold_{rows}_{name}")
            restoring.copy(Path(table.warehouse), Path(lake.warehouse))
            bring(lake, feed)
            every = appliers(work, f"gold_{rows}_{name}", feed)
            ours = {who: every[who] for who in ("weir", "textbook")}
            yield Line(f"{of} into {rows:,} rows", changes, "changes", ours)
            shutil.rmtree(lake.warehouse)
        shutil.rmtree(table.warehouse)
