"""The line beside other tools: the work of an apply, by Weir, by the textbook and by each of them.

Spark exports silver's changes and gold's rows as Parquet before anything is timed. A tool is a process of its own,
and reports how long it took from reading the changes to its table on disk: starting Python is left out, as Spark's
start is.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.storage.lake import Lake, Layer
from bench.made.restoring import Workspace
from bench.measuring import Line, OwnTime, Prepared, say
from bench.others.scripts import DELTA_RS, DLT, DUCKDB, TOOLS, pythons_of, run_steps
from bench.rivals import textbook
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import LOG_POSITION


class ResultsDiffer(Exception):
    """A tool made another table of the changes than it should."""


@dataclass(frozen=True, slots=True)
class Result:
    """How many rows a table has, and the sum of their quantities."""

    rows: int
    quantity: int


def result_of(rows: DataFrame) -> Result:
    """Count the rows and add up their quantities."""
    counted = rows.agg(F.count("*").alias("rows"), F.sum("quantity").alias("quantity")).first()
    assert counted is not None  # an aggregate without groups has one row
    return Result(counted["rows"], counted["quantity"])


def newest_delivered(
    lake: Lake, feed: Feed, table: Table, windows: Sequence[str]
) -> tuple[int, Result]:
    """What a table holds if the newest delivered change of each key wins even over a row that is newer.

    Returns how many rows are older for that than they should be, and the whole table's result.

    On the bench's drops a late change is an update of a row that is there, so that counting rows would not tell.
    """
    changes = textbook.typed(textbook.of_windows(lake, feed, table, windows), table)
    kept = ("quantity", LOG_POSITION, "is_delete")
    newest = changes.groupBy("id").agg(
        F.max_by(F.struct(*kept), F.col(LOG_POSITION)).alias("newest")
    )
    newest = newest.select("id", "newest.*")
    old = lake.table(Layer.GOLD, feed.name, table.name).read()
    before = old.select("id", F.col(LOG_POSITION).alias("before"))
    late = newest.join(before, on="id", how="inner").where(F.col("before") > F.col(LOG_POSITION))
    untouched = old.join(newest, on="id", how="left_anti").select("quantity")
    arrived = newest.where("NOT is_delete").select("quantity")
    return late.count(), result_of(untouched.unionByName(arrived))


@dataclass(frozen=True, slots=True)
class Task:
    """The apply that is timed: the changes of these windows, ``size`` of them, into the table of the warehouse base."""

    work: Workspace
    feed: Feed
    table: Table
    windows: Sequence[str]
    size: int


@dataclass(frozen=True, slots=True)
class OtherTools:
    """The tools at one task: the Python of each, and a folder for exports and for their own tables."""

    task: Task
    pythons: Mapping[str, Path]
    folder: Path

    @property
    def changes(self) -> Path:
        """The exported changes."""
        return self.folder / "exports" / "changes"

    @property
    def rows(self) -> Path:
        """The exported rows of gold before the changes."""
        return self.folder / "exports" / "rows"

    def export(self) -> None:
        """Write the changes and the rows before them as Parquet."""
        say("exporting changes and rows for the other tools")
        task, base = self.task, self.task.work.lake("base")
        changes = textbook.of_windows(base, task.feed, task.table, task.windows)
        export(textbook.typed(changes, task.table), self.changes)
        export(base.table(Layer.GOLD, task.feed.name, task.table.name).read(), self.rows)

    def right_result(self) -> Result:
        """What the table holds after the textbook has applied the changes."""
        task, lake = self.task, self.task.work.fresh("base")
        textbook.apply(lake, task.feed, task.table, task.windows)
        return result_of(lake.table(Layer.GOLD, task.feed.name, task.table.name).read())

    def on_gold(self, right: Result) -> Callable[[], Prepared]:
        """Prepares delta-rs: it merges into a copy of gold."""

        def prepare() -> Prepared:
            task = self.task
            copied = task.work.fresh("base").table(Layer.GOLD, task.feed.name, task.table.name)
            return self._merge(DELTA_RS, Path(copied.path).absolute(), right)

        return prepare

    def on_its_own(self, name: str, right: Result) -> Callable[[], Prepared]:
        """Prepares a tool that merges into a table of its own, which is made of the exported rows now."""
        made = self.folder / f"table_of_{TOOLS[name]}"
        run_steps(name, self.pythons[name], self.folder, ("prepare", self.rows, made))

        def prepare() -> Prepared:
            # Copied and not linked: DuckDB writes into its file.
            copied = self.folder / f"run_of_{TOOLS[name]}"
            shutil.rmtree(copied, ignore_errors=True)
            shutil.copytree(made, copied)
            return self._merge(name, copied, right)

        return prepare

    def _merge(self, name: str, table: Path, right: Result) -> Prepared:
        """Applies the changes to a tool's table, and compares its result with the right one."""
        exported = self.folder / "found.parquet"
        steps = (("merge", self.changes, table), ("export", table, exported))

        def merge() -> OwnTime:
            seconds = run_steps(name, self.pythons[name], self.folder, *steps)
            result = result_of(self.task.work.session.spark.read.parquet(str(exported)))
            if result != right:
                raise ResultsDiffer(f"{name}'s table has {result}, and should have {right}")
            return OwnTime(seconds)

        return merge


def line_of_other_tools(
    task: Task, ours: Mapping[str, Callable[[], Prepared]], environments_in: Path
) -> Line:
    """The line, with ``ours`` (Weir and the textbook) first; the tools' environments go into a folder of theirs.

    Raises:
        NoEnvironment: the packages of a tool cannot be had.
    """
    pythons = pythons_of((DELTA_RS, DLT, DUCKDB), environments_in)
    folder = task.work.folder.absolute() / "others"
    folder.mkdir()
    tools = OtherTools(task, pythons, folder)
    tools.export()
    right = tools.right_result()
    base = task.work.lake("base")
    late, by_delivery = newest_delivered(base, task.feed, task.table, task.windows)
    others = {
        DELTA_RS: tools.on_gold(right),
        DLT: tools.on_its_own(DLT, by_delivery),
        DUCKDB: tools.on_its_own(DUCKDB, right),
    }
    note = f"dlt lets late changes win: {late:,} of its rows are older than the other tables'."
    return Line("beside others", task.size, "changes", {**ours, **others}, notes=(note,))


def export(rows: DataFrame, folder: Path) -> None:
    """Write the rows as Parquet, with microseconds, which every reader knows: Spark's default is its old INT96."""
    setting = "spark.sql.parquet.outputTimestampType"
    spark = rows.sparkSession
    before = spark.conf.get(setting)
    spark.conf.set(setting, "TIMESTAMP_MICROS")
    try:
        rows.write.parquet(str(folder))
    finally:
        spark.conf.set(setting, str(before))
