"""One small window of an ordinary day, from landing to gold: in this session, and as ``weir run``.

There is no competitor here: the figures are compared with those of earlier versions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from assets.control import progress
from assets.gold import apply
from assets.storage.lake import Lake
from bench.lines.bringing import bring
from bench.lines.commands import line_of_command, run_weir
from bench.made import drops, row
from bench.made.changes import drawn
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared, say
from bench.sizes import Sizes
from transforms.feed.feed import Feed

NAMES = ("window", "process")

EVENTS = 20
"""The events of a small window."""

TABLE = row.table("item")


def lines_of_small_window(work: Workspace, sizes: Sizes, wanted: Sequence[str]) -> Iterator[Line]:
    """A window of a few events from landing to gold: in this session, and as ``weir run`` in a process of its own."""
    folder = work.folder / "day"
    changes = drawn(rows=1_000, count=1_000 + EVENTS, seed=sizes.seed)
    drops.lay(folder / "landing", TABLE.name, islice(changes, 1_000), drops.BASE_WINDOW)
    feed = feed_of_table(folder / "landing")
    say("bringing the window before the small one to gold")
    to_gold(work.lake("day_before"), feed, [drops.BASE_WINDOW])
    drops.lay(folder / "landing", TABLE.name, changes, drops.WINDOW)
    declare(folder / "feeds", feed)

    def warm() -> Prepared:
        lake = work.fresh("day_before")
        return lambda: to_gold(lake, feed, [drops.WINDOW])

    def cold() -> Prepared:
        lake = work.fresh("day_before")
        words = ("run", "--feeds", str(folder / "feeds"), "--warehouse", lake.warehouse)
        return lambda: run_weir(*words)

    if "window" in wanted:
        yield Line("one small window", EVENTS, "events", {"weir": warm})
    if "process" in wanted:
        yield line_of_command("one small window, weir run", EVENTS, "events", cold)


def to_gold(lake: Lake, feed: Feed, windows: Sequence[str]) -> None:
    """These windows of the bench's one table, from landing to gold, as Weir's assets bring them."""
    bring(lake, feed, windows)
    apply.apply(lake, feed, TABLE, windows)
    progress.finish(lake, feed, windows)


def feed_of_table(landing: Path) -> Feed:
    """The bench's feed with its one table."""
    return Feed("bench", "arcion_s3_json", str(landing), tables={TABLE.name: TABLE})


def declare(folder: Path, feed: Feed, **more: object) -> None:
    """Write the feed's file into a folder of feeds, for commands; it is JSON, which is YAML, too.

    ``more``: other keys of the file, and their values.
    """
    tables = {
        name: {"key": list(table.key), "columns": dict(table.columns)}
        for name, table in feed.tables.items()
    }
    declared = {"format": feed.format, "landing": feed.landing, "tables": tables} | more
    folder.mkdir()
    (folder / "bench.yaml").write_text(json.dumps(declared))
