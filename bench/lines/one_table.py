"""One large table: its drops to silver, changes applied to it, applied again, and a look that finds nothing new."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.control import progress
from assets.gold import apply as apply_table
from assets.storage.lake import Lake, Layer
from bench.lines.appliers import WINDOWS, appliers, feed_of, restored
from bench.lines.bringing import bring
from bench.made import base, drops, restoring, row
from bench.made.changes import drawn
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared, say
from bench.others import other_tools
from bench.rivals import by_default, floor, textbook
from bench.sizes import Sizes
from orchestration.runs import planning
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import RESET

NAMES = ("ingest", "apply", "again", "nothing")
TABLE = row.table("item")


def lines_of_one_table(
    work: Workspace, sizes: Sizes, wanted: Sequence[str], environments_in: Path
) -> Iterator[Line]:
    """The lines of ``NAMES``, and the one beside other tools, as far as they are wanted.

    Args:
        work: Where drops and tables go, and the Spark session.
        sizes: How many rows the table has, and how many changes go into it.
        wanted: The names of the lines.
        environments_in: The folder of the other tools' environments.
    """
    landing = work.folder / "landing"
    changes = drawn(rows=sizes.rows, count=sizes.changes, seed=sizes.seed)
    say(f"writing drops of {sizes.changes:,} changes")
    size = drops.lay(landing, TABLE.name, changes)
    feed = feed_of(landing, [TABLE])
    if "ingest" in wanted:
        yield _ingest(work, feed, size)
    if not set(wanted) & {*NAMES, "others"} - {"ingest"}:
        return
    say(f"writing a table of {sizes.rows:,} rows")
    lake = work.lake("base")
    base.write(lake, feed, TABLE, sizes.rows)
    say("bringing the changes to silver")
    bring(lake, feed)
    if "apply" in wanted:
        with closing(by_default.ByDefault(landing)) as plain:
            competitors = appliers(work, "base", feed)
            competitors[by_default.NAME] = restored(
                work, "base", lambda lake: plain.apply(lake.warehouse)
            )
            yield Line("apply changes", sizes.changes, "changes", competitors)
    if set(wanted) & {"again", "nothing"}:
        yield from _again(work, sizes, feed, wanted)
    if "others" in wanted:
        every = appliers(work, "base", feed)
        ours = {name: every[name] for name in ("weir", "textbook")}
        task = other_tools.Task(work, feed, TABLE, WINDOWS, sizes.changes)
        yield other_tools.line_of_other_tools(task, ours, environments_in)


def _ingest(work: Workspace, feed: Feed, size: int) -> Line:
    """The drops brought to silver in an empty warehouse."""

    def ingested(ingest: Callable[[Lake, Feed], object]) -> Callable[[], Prepared]:
        def prepare() -> Prepared:
            lake = work.fresh()
            return lambda: ingest(lake, feed)

        return prepare

    competitors = {
        "weir": ingested(bring),
        "floor": ingested(lambda lake, feed: floor.ingest(lake, feed, drops.WINDOW)),
    }
    return Line("landing to silver", size, "bytes", competitors)


def _again(work: Workspace, sizes: Sizes, feed: Feed, wanted: Sequence[str]) -> Iterator[Line]:
    """The same window once more, and a run that finds nothing to do; both change nothing, so one warehouse will do."""
    done, by_textbook = work.lake("done"), work.lake("by_book")
    for lake, apply in ((done, apply_table.apply), (by_textbook, textbook.apply)):
        restoring.copy(Path(work.lake("base").warehouse), Path(lake.warehouse))
        apply(lake, feed, TABLE, WINDOWS)
    progress.finish(done, feed, WINDOWS)
    agree(done, by_textbook, feed, TABLE)
    if "again" in wanted:
        competitors: dict[str, Callable[[], Prepared]] = {
            "weir": lambda: lambda: apply_table.apply(done, feed, TABLE, WINDOWS),
            "textbook": lambda: lambda: textbook.apply(by_textbook, feed, TABLE, WINDOWS),
            "floor": lambda: lambda: floor.apply_again(by_textbook, feed, TABLE, WINDOWS),
        }
        yield Line("apply them again", sizes.changes, "changes", competitors, is_warm=True)
    if "nothing" in wanted:
        planned: dict[str, Callable[[], Prepared]] = {
            "weir": lambda: lambda: planning.due(done, feed)
        }
        yield Line("find nothing new", sizes.changes, "changes", planned, is_warm=True)


class TablesDiffer(Exception):
    """Weir and the textbook made different tables of the same changes."""


def agree(lake: Lake, other: Lake, feed: Feed, table: Table) -> None:
    """Make sure that gold is the same in Weir's warehouse and in the textbook's.

    Raises:
        TablesDiffer: it is not.
    """
    tables = (place.table(Layer.GOLD, feed.name, table.name).read() for place in (lake, other))
    # The column by which Weir recognises late changes is one that the textbook does not have.
    own, textbook = (fingerprint(rows.drop(RESET)) for rows in tables)
    if own != textbook:
        raise TablesDiffer(f"Weir's table and the textbook's differ: {own} and {textbook}")


def fingerprint(rows: DataFrame) -> tuple[int, str]:
    """How many rows there are, and a sum that every one of their values has a part in."""
    digest = F.xxhash64(*rows.columns).cast("decimal(38,0)")
    counted = rows.agg(F.count("*").alias("rows"), F.sum(digest).alias("digest")).first()
    assert counted is not None  # an aggregate without groups has one row
    return counted["rows"], str(counted["digest"])
