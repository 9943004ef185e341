"""What people wait for on an ordinary day: one small window, a run that finds nothing new, the demo.

Throughput is the matter of ``lines``. There is no competitor here: the figures are compared with those of earlier
versions.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from assets.bookkeeping import window_progress
from assets.gold.apply import apply_table
from assets.lake import Lake
from bench.bringing import bring
from bench.made import drops, row
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared, say
from bench.sizes import Sizes
from orchestration.runs import planning
from transforms.feed.feed import Feed

LINES = ("window", "process", "lake", "demo")

EVENTS = 20
"""The events of a small window."""

MANY = 100
"""How many times the bronze the larger lake has."""

EVENTS_OF_MANY = 500
"""The events of each window of the two lakes in which nothing is new."""

TABLE = row.table("item")
WEIR = Path(sys.executable).parent / "weir"


def lines(work: Workspace, sizes: Sizes, wanted: Sequence[str]) -> Iterator[Line]:
    """The lines asked for, each prepared when it is its turn."""
    if set(wanted) & {"window", "process"}:
        yield from _of_small_window(work, sizes, wanted)
    if "lake" in wanted:
        yield from _of_lakes(work, sizes)
    if "demo" in wanted:
        yield from _of_demo(work)


def _of_small_window(work: Workspace, sizes: Sizes, wanted: Sequence[str]) -> Iterator[Line]:
    """A window of a few events from landing to gold: in this session, and as ``weir run`` in a process of its own."""
    folder = work.folder / "day"
    drawn = drops.changes(rows=1_000, count=1_000 + EVENTS, seed=sizes.seed)
    drops.lay(folder / "landing", TABLE.name, islice(drawn, 1_000), drops.BASE_WINDOW)
    feed = _feed(folder / "landing")
    say("bringing the window before the small one to gold")
    _to_gold(work.lake("day_before"), feed, [drops.BASE_WINDOW])
    drops.lay(folder / "landing", TABLE.name, drawn, drops.WINDOW)
    (folder / "feeds").mkdir()
    (folder / "feeds" / "bench.yaml").write_text(json.dumps(_declared(feed)))

    def warm() -> Prepared:
        lake = work.fresh("day_before")
        return lambda: _to_gold(lake, feed, [drops.WINDOW])

    def cold() -> Prepared:
        lake = work.fresh("day_before")
        words = ("run", "--feeds", str(folder / "feeds"), "--warehouse", lake.warehouse)
        return lambda: _weir(*words)

    if "window" in wanted:
        yield Line("one small window", EVENTS, "events", {"weir": warm})
    if "process" in wanted:
        yield _alone("one small window, weir run", EVENTS, "events", cold)


def _of_lakes(work: Workspace, sizes: Sizes) -> Iterator[Line]:
    """Nothing is new, in a lake of one window and in one of many: what a run does before it knows."""
    for windows in (1, MANY):
        named = [f"2025-11-{20 + number // 24:02}T{number % 24:02}" for number in range(windows)]
        landing, lake = work.folder / f"landing_{windows}", work.lake(f"lake_{windows}")
        drawn = drops.changes(rows=1_000, count=windows * EVENTS_OF_MANY, seed=sizes.seed)
        for window in named:
            drops.lay(landing, TABLE.name, islice(drawn, EVENTS_OF_MANY), window)
        feed = _feed(landing)
        say(f"bringing {windows} windows to silver")
        bring(lake, feed, named)
        window_progress.finish(lake, feed, named)
        name = "find nothing new, little" if windows == 1 else f"find nothing new, {windows} times"
        yield Line(
            name, windows * EVENTS_OF_MANY, "events in bronze", {"weir": _finds_nothing(lake, feed)}
        )


def _finds_nothing(lake: Lake, feed: Feed) -> Callable[[], Prepared]:
    def find() -> None:
        assert not planning.due(lake, feed).windows

    return lambda: find


def _of_demo(work: Workspace) -> Iterator[Line]:
    """``weir demo`` in a new folder, and once more there, when nothing is new; then gold is proved."""
    folder = work.folder / "demo"
    objects = sum(1 for one in _root().joinpath("demo").rglob("*") if one.is_file())

    def first() -> Prepared:
        shutil.rmtree(folder, ignore_errors=True)
        return lambda: _weir("demo", "--folder", str(folder))

    def second() -> Prepared:
        return lambda: _weir("demo", "--folder", str(folder))

    def verified() -> Prepared:
        words = (
            "verify",
            "--feeds",
            str(folder / "feeds"),
            "--warehouse",
            str(folder / "warehouse"),
        )
        return lambda: _weir(*words)

    yield _alone("the demo, first time", objects, "objects", first)
    yield _alone("the demo, second time", objects, "objects", second)
    yield _alone("weir verify of the demo", objects, "objects", verified)


def _alone(name: str, size: int, unit: str, weir: Callable[[], Prepared]) -> Line:
    """A line of commands: each is a process of its own, so that nothing is warm and no job can be counted."""
    return Line(name, size, unit, {"weir": weir}, is_warm=True, is_process=True)


def _to_gold(lake: Lake, feed: Feed, windows: Sequence[str]) -> None:
    bring(lake, feed, windows)
    apply_table.apply(lake, feed, TABLE, windows)
    window_progress.finish(lake, feed, windows)


def _feed(landing: Path) -> Feed:
    return Feed("bench", "arcion_s3_json", str(landing), tables={TABLE.name: TABLE})


def _declared(feed: Feed) -> dict[str, object]:
    """The feed as its file says it; JSON is YAML, too."""
    table = {"key": list(TABLE.key), "columns": dict(TABLE.columns)}
    return {"format": feed.format, "landing": feed.landing, "tables": {TABLE.name: table}}


def _weir(*words: str) -> None:
    """Run ``weir`` to its end.

    Raises:
        subprocess.CalledProcessError: it ended with an error, which stands on stderr.
    """
    plain = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("WEIR_", "DAGSTER_", "PYSPARK_"))
    }
    subprocess.run([WEIR, *words], env=plain, check=True, stdout=subprocess.DEVNULL)


def _root() -> Path:
    return Path(__file__).resolve().parent.parent
