"""What each applier makes of the histories, window by window, as it would be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

from assets.control import progress
from assets.gold import apply
from assets.storage.lake import Layer
from bench.answers.delivery import WINDOWS, Group, groups, lay_drops, lay_rows
from bench.answers.histories import COLUMNS, Row
from bench.lines.bringing import bring
from bench.made.restoring import Workspace
from bench.measuring import say
from bench.others.scripts import run_steps
from bench.rivals import textbook
from transforms.feed.feed import Feed, Table

TABLE = Table("item", ("id",), COLUMNS, tuple(COLUMNS))

Found = Mapping[str, Sequence[Row]]
"""The rows of each applier's tables, by its name."""


Applier = Callable[[Group, Path], list[Row]]
"""Applies the windows of a group, whose drops and rows lie in a folder; returns the rows of its table."""


def all_appliers(work: Workspace, pythons: Mapping[str, Path]) -> dict[str, Applier]:
    """Weir, the textbook, and the other tools, each by the Python of its environment."""
    return {
        "weir": partial(by_weir, work),
        "textbook": partial(by_textbook, work),
        **{name: partial(by_tool, name, python) for name, python in pythons.items()},
    }


def found_rows(folder: Path, appliers: Mapping[str, Applier]) -> Found:
    """Give every history to every applier."""
    found: dict[str, list[Row]] = {name: [] for name in appliers}
    for group in groups():
        place = folder.absolute() / group.name
        lay_drops(group, place / "landing", TABLE.name)
        lay_rows(group, place / "rows")
        for name, applier in appliers.items():
            say(f"answers: {name}, {len(group.histories)} histories")
            found[name] += applier(group, place)
    return found


def by_weir(work: Workspace, group: Group, folder: Path) -> list[Row]:
    """From the drops to gold, by what Weir's assets call."""
    lake = work.lake(str(folder / "warehouse"))
    feed = Feed("answers", "arcion_s3_json", str(folder / "landing"), tables={"item": TABLE})
    for run in group.runs:
        window = [WINDOWS[run]]
        bring(lake, feed, window)
        apply.apply_tables(lake, feed, [TABLE], window)
        progress.finish(lake, feed, window)
    gold = lake.in_process_table(Layer.GOLD, feed.name, TABLE.name)
    rows: list[Row] = gold.read([*COLUMNS]).to_pylist()
    return rows


def by_textbook(work: Workspace, group: Group, folder: Path) -> list[Row]:
    """By Spark: the newest change of each key, then MERGE with the position's condition."""
    spark, table = work.session.spark, str(folder / "textbook")
    spark.read.parquet(str(folder / "rows" / "none")).write.format("delta").save(table)
    for run in group.runs:
        changes = spark.read.parquet(str(folder / "rows" / WINDOWS[run]))
        textbook.merge(textbook.newest(changes, *TABLE.key), table, TABLE.key)
    found = spark.read.format("delta").load(table).select(*COLUMNS)
    return [row.asDict() for row in found.collect()]


def by_tool(name: str, python: Path, group: Group, folder: Path) -> list[Row]:
    """By a tool of its own process, which keeps its own table."""
    rows, table, file = folder / "rows", folder / f"table_of_{name}", folder / f"{name}.parquet"
    merges = [("merge", rows / WINDOWS[run], table) for run in group.runs]
    run_steps(
        name, python, folder, ("prepare", rows / "none", table), *merges, ("export", table, file)
    )
    read: list[Row] = pq.read_table(file, columns=[*COLUMNS]).to_pylist()
    return read
