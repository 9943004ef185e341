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

from assets.storage.lake import Layer
from bench.made.restoring import Workspace
from bench.measuring import Line, OwnTime, Prepared, say
from bench.others import environments
from bench.others.results import Result, ResultsDiffer, newest_delivered, result_of
from bench.others.scripts import DELTA_RS, DLT, DUCKDB, TOOLS, run_script
from bench.rivals import textbook
from transforms.feed.feed import Feed, Table


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
        words = ("--rows", str(self.rows), "--table", str(made))
        run_script(self.pythons[name], TOOLS[name], self.folder, "prepare", *words)

        def prepare() -> Prepared:
            # Copied and not linked: DuckDB writes into its file.
            copied = self.folder / f"run_of_{TOOLS[name]}"
            shutil.rmtree(copied, ignore_errors=True)
            shutil.copytree(made, copied)
            return self._merge(name, copied, right)

        return prepare

    def _merge(self, name: str, table: Path, right: Result) -> Prepared:
        """Applies the changes to a tool's table, and compares its result with the right one."""
        words = ("--changes", str(self.changes), "--table", str(table))

        def merge() -> OwnTime:
            answer = run_script(self.pythons[name], TOOLS[name], self.folder, "merge", *words)
            result = Result(int(answer["rows"]), int(answer["quantity"]))
            if result != right:
                raise ResultsDiffer(f"{name}'s table has {result}, and should have {right}")
            return OwnTime(answer["seconds"])

        return merge


def line_of_other_tools(
    task: Task, ours: Mapping[str, Callable[[], Prepared]], environments_in: Path
) -> Line:
    """The line, with ``ours`` (Weir and the textbook) first; the tools' environments go into a folder of theirs.

    Raises:
        environments.NoEnvironment: the packages of a tool cannot be had.
    """
    pythons = {name: environments.python(script, environments_in) for name, script in TOOLS.items()}
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
