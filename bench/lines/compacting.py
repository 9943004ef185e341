"""``weir compact`` of a table with a long history: a thousand windows, whose changes become base rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

from bench.growth.points import shrunk
from bench.lines.commands import line_of_command, run_weir
from bench.lines.small_window import TABLE, declare, feed_of_table, to_gold
from bench.made import base, drops
from bench.made.changes import drawn
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared, say
from bench.sizes import Sizes

ROWS, WINDOWS, EVENTS = 1_000_000, 1_000, 100
"""The rows of the table, the windows that changed it since, and the events of each of these. A tenth of them stays."""

AT_ONCE = 500
"""How many windows one commit of each layer brings."""


def lines_of_compaction(work: Workspace, sizes: Sizes) -> Iterator[Line]:
    """One line: the command, on a table that has never been compacted."""
    rows, windows = shrunk(ROWS, sizes), shrunk(WINDOWS, sizes)
    folder, lake = work.folder / "compaction", work.lake("history")
    feed = feed_of_table(folder / "landing")
    say(f"writing a table of {rows:,} rows")
    base.write(lake, feed, TABLE, rows)
    changes = drawn(rows=rows, count=windows * EVENTS, seed=sizes.seed)
    named = [window_of(number) for number in range(windows)]
    for window in named:
        drops.lay(folder / "landing", TABLE.name, islice(changes, EVENTS), window)
    for first in range(0, windows, AT_ONCE):
        some = named[first : first + AT_ONCE]
        say(f"bringing windows up to {some[-1]} to gold")
        to_gold(lake, feed, some)
    declare(folder / "feeds", feed, compaction={"retention": f"{windows // 10}h"})

    def compact() -> Prepared:
        words = ("compact", "--feeds", str(folder / "feeds"))
        warehouse = work.fresh("history").warehouse
        return lambda: run_weir(*words, "--warehouse", warehouse)

    name = f"weir compact of {windows:,} windows, {rows:,} rows"
    yield line_of_command(name, windows, "windows", compact)


def window_of(number: int) -> str:
    """The name of an hour, counted from the bench's window on."""
    return (datetime.fromisoformat(drops.WINDOW) + timedelta(hours=number)).strftime("%Y-%m-%dT%H")
