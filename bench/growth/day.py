"""A whole day of more and more gigabytes by ``weir run`` with a driver of four: time bounds a day, and not memory."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from bench.growth.points import points
from bench.lines.commands import line_of_command, watch_weir
from bench.lines.small_window import TABLE, declare, feed_of_table
from bench.made import drops
from bench.made.changes import drawn
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared, say
from bench.sizes import Sizes

RECORDS = (1_000_000, 5_000_000, 20_000_000)
"""The changes of a day; each is a record of about a kilobyte."""

HOURS = [f"2025-11-20T{hour:02}" for hour in range(24)]

SETTINGS = {"WEIR_SPARK_DRIVER_MEMORY": "4g"}


def lines_of_a_day(work: Workspace, sizes: Sizes) -> Iterator[Line]:
    """One line for each number of records, of a run that begins with nothing."""
    for records in points(RECORDS, sizes):
        folder = work.folder / f"day_of_{records}"
        feed = feed_of_table(folder / "landing")
        say(f"laying a day of {records:,} records")
        size = _lay(folder / "landing", records, sizes.seed)
        declare(folder / "feeds", feed)
        counts: dict[str, int] = {}
        runs = _runs(work, folder / "feeds", counts)
        line = line_of_command(f"a day of {records:,} changes", size, "bytes", runs)
        yield replace(line, counts=counts)
        shutil.rmtree(folder)


def _lay(landing: Path, records: int, seed: int) -> int:
    """A day's drops, hour by hour; returns their bytes."""
    changes, hour = drawn(rows=records // 2, count=records, seed=seed), -(-records // len(HOURS))
    return sum(drops.lay(landing, TABLE.name, islice(changes, hour), window) for window in HOURS)


def _runs(work: Workspace, feeds: Path, counts: dict[str, int]) -> Callable[[], Prepared]:
    """Prepares an empty warehouse; ``counts`` gets how large it is after the run."""

    def prepare() -> Prepared:
        warehouse = Path(work.fresh().warehouse)
        words = ("run", "--feeds", str(feeds), "--warehouse", str(warehouse))

        def run() -> object:
            took = watch_weir(*words, settings=SETTINGS)
            files = [one for one in warehouse.rglob("*") if one.is_file()]
            counts["bytes in the warehouse"] = sum(one.stat().st_size for one in files)
            counts["files in the warehouse"] = len(files)
            return took

        return run

    return prepare
