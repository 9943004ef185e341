"""The line of the other tools: the work of an apply, by Weir, by the textbook and by each of them.

Spark exports silver's changes and gold's rows as Parquet before anything is timed. A tool is a process of its own, and
tells how long it took from reading the changes to its table on disk: starting Python is left out, as Spark's start is.
Not here: what the tools do (their scripts), and their environments (``environments``).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.columns.gold import POSITION
from assets.lake import Lake
from assets.layers import Layer
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared, Told, say
from bench.others import environments
from bench.rivals import textbook
from transforms.feed.feed import Feed, Table

DELTA_RS, DLT, DUCKDB = "delta-rs", "dlt", "DuckDB"
TOOLS = {DELTA_RS: "delta_rs", DLT: "dlt_merge", DUCKDB: "duckdb_merge"}
"""What each is called in the report, and its script."""

SETTINGS = {"RUNTIME__DLTHUB_TELEMETRY": "false", "RUNTIME__LOG_LEVEL": "ERROR"}
"""dlt tells its makers of every run, and warns of what is meant, unless it is told not to."""


class ResultsDiffer(Exception):
    """A tool made another table of the same changes than it should."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a table holds in the end, as far as every tool can be asked: how many rows, and the sum of quantities."""

    rows: int
    quantity: int


def line(
    work: Workspace,
    feed: Feed,
    table: Table,
    windows: Sequence[str],
    size: int,
    ours: Mapping[str, Callable[[], Prepared]],
    folder: Path,
) -> Line:
    """The line, with ``ours`` (Weir and the textbook) first; environments go into ``folder``.

    Raises:
        environments.NoEnvironment: the packages of a tool cannot be had.
    """
    pythons = {name: environments.python(script, folder) for name, script in TOOLS.items()}
    own = work.folder.absolute() / "others"
    own.mkdir()
    exports = own / "exports"
    say("exporting changes and rows for the other tools")
    base = work.lake("base")
    changes = textbook.typed(textbook.of_windows(base, feed, table, windows), table)
    export(changes, exports / "changes")
    gold = base.table(Layer.GOLD, feed.name, table.name)
    export(gold.read(), exports / "rows")
    by_textbook = work.fresh("base")
    textbook.apply(by_textbook, feed, table, windows)
    right = outcome(by_textbook.table(Layer.GOLD, feed.name, table.name).read())
    late, without_positions = newest_delivered(base, feed, table, windows)
    made = {}
    for name in (DLT, DUCKDB):
        made[name] = own / f"table_of_{TOOLS[name]}"
        words = ("--rows", str(exports / "rows"), "--table", str(made[name]))
        run(pythons[name], TOOLS[name], own, "prepare", *words)

    def timed(name: str, place: Path, due: Outcome) -> Prepared:
        words = ("--changes", str(exports / "changes"), "--table", str(place))

        def merge() -> Told:
            said = run(pythons[name], TOOLS[name], own, "merge", *words)
            found = Outcome(int(said["rows"]), int(said["quantity"]))
            if found != due:
                raise ResultsDiffer(f"{name}'s table has {found}, and should have {due}")
            return Told(said["seconds"])

        return merge

    def on_gold() -> Prepared:
        copied = work.fresh("base").table(Layer.GOLD, feed.name, table.name)
        return timed(DELTA_RS, Path(copied.path).absolute(), right)

    def on_its_own(name: str, due: Outcome) -> Callable[[], Prepared]:
        def prepare() -> Prepared:
            # Copied and not linked: DuckDB writes into its file.
            place = own / f"run_of_{TOOLS[name]}"
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(made[name], place)
            return timed(name, place, due)

        return prepare

    others = {
        DELTA_RS: on_gold,
        DLT: on_its_own(DLT, without_positions),
        DUCKDB: on_its_own(DUCKDB, right),
    }
    note = f"dlt lets late changes win: {late:,} of its rows are older than the other tables'."
    return Line("beside others", size, "changes", {**ours, **others}, notes=(note,))


def run(python: Path, script: str, folder: Path, *words: str) -> dict[str, float]:
    """Run a tool's script to its end, in this folder; returns what it printed.

    Raises:
        subprocess.CalledProcessError: it ended with an error, which stands on stderr.
    """
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}
    # Isolated: neither this checkout nor PYTHONPATH lends it a module.
    command = [str(python), "-I", str(environments.SCRIPTS / f"{script}.py"), *words]
    # Else dlt leaves a number for the user where it keeps its data, even if it reports to nobody.
    settings = kept | SETTINGS | {"DLT_DATA_DIR": str(folder / "data_of_dlt")}
    answer = subprocess.run(command, cwd=folder, env=settings, stdout=subprocess.PIPE, check=False)
    # Threads of a tool may end its process in a crash when all is done and told.
    if not answer.stdout.endswith(b"}\n"):
        answer.check_returncode()
    said: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return said


def export(rows: DataFrame, folder: Path) -> None:
    """Write the rows as Parquet, with times that every reader knows: Spark's own way of old has nanoseconds."""
    setting = "spark.sql.parquet.outputTimestampType"
    spark = rows.sparkSession
    before = spark.conf.get(setting)
    spark.conf.set(setting, "TIMESTAMP_MICROS")
    try:
        rows.write.parquet(str(folder))
    finally:
        spark.conf.set(setting, str(before))


def outcome(rows: DataFrame) -> Outcome:
    """Count the rows and add up their quantities."""
    counted = rows.agg(F.count("*").alias("rows"), F.sum("quantity").alias("quantity")).first()
    assert counted is not None  # an aggregate without groups has one row
    return Outcome(counted["rows"], counted["quantity"])


def newest_delivered(
    lake: Lake, feed: Feed, table: Table, windows: Sequence[str]
) -> tuple[int, Outcome]:
    """What there is if the newest change of each key wins even over a newer row: how many rows so, and all in all.

    On the bench's drops a late change is an update of a row that is there, so that counting rows would not tell.
    """
    changes = textbook.typed(textbook.of_windows(lake, feed, table, windows), table)
    kept = ("quantity", POSITION, "is_delete")
    newest = changes.groupBy("id").agg(F.max_by(F.struct(*kept), F.col(POSITION)).alias("newest"))
    newest = newest.select("id", "newest.*")
    old = lake.table(Layer.GOLD, feed.name, table.name).read()
    before = old.select("id", F.col(POSITION).alias("before"))
    late = newest.join(before, on="id", how="inner").where(F.col("before") > F.col(POSITION))
    untouched = old.join(newest, on="id", how="left_anti").select("quantity")
    arrived = newest.where("NOT is_delete").select("quantity")
    return late.count(), outcome(untouched.unionByName(arrived))
