"""What is timed: the lines of the table, and what each competitor does in them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.bookkeeping import window_progress
from assets.columns.gold import RESET
from assets.gold.apply import apply_feed, apply_table
from assets.lake import Lake
from assets.layers import Layer
from bench import everyday, late_events
from bench.bringing import bring
from bench.made import base, drops, restoring, row
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared, say
from bench.others import environments
from bench.others import line as others
from bench.rivals import by_default, floor, textbook
from bench.sizes import Sizes
from orchestration.runs import planning
from transforms.feed.feed import Feed, Table

LINES = ("ingest", "apply", "again", "nothing", "tables", *late_events.LINES, *everyday.LINES)
ASKED_FOR = ("others",)
"""Lines that run only when they are named: their tools have to be downloaded."""
TABLE = row.table("item")
WINDOWS = [drops.WINDOW]


class ResultsDiffer(Exception):
    """Weir and the textbook made different tables of the same changes."""


def lines(
    work: Workspace,
    sizes: Sizes,
    wanted: Sequence[str],
    environments_in: Path = environments.FOLDER,
) -> Generator[Line, None, None]:
    """The lines asked for, each prepared when it is its turn. Close it where not all are taken: a process may wait."""
    if set(wanted) & {"ingest", "apply", "again", "nothing", "others"}:
        yield from _of_one_table(work, sizes, wanted, environments_in)
    if "tables" in wanted:
        yield _tables(work, sizes)
    if set(wanted) & set(late_events.LINES):
        yield from late_events.lines(work, sizes)
    yield from everyday.lines(work, sizes, wanted)


def _feed(landing: Path, tables: Sequence[Table]) -> Feed:
    declared = {table.name: table for table in tables}
    return Feed("bench", "arcion_s3_json", str(landing), tables=declared)


def _of_one_table(
    work: Workspace, sizes: Sizes, wanted: Sequence[str], environments_in: Path
) -> Iterator[Line]:
    landing = work.folder / "landing"
    drawn = drops.changes(rows=sizes.rows, count=sizes.changes, seed=sizes.seed)
    say(f"writing drops of {sizes.changes:,} changes")
    size = drops.lay(landing, TABLE.name, drawn)
    feed = _feed(landing, [TABLE])
    if "ingest" in wanted:

        def ingested(ingest: Callable[[Lake, Feed], object]) -> Callable[[], Prepared]:
            def prepare() -> Prepared:
                lake = work.fresh()
                return lambda: ingest(lake, feed)

            return prepare

        competitors = {
            "weir": ingested(bring),
            "floor": ingested(lambda lake, feed: floor.ingest(lake, feed, drops.WINDOW)),
        }
        yield Line("landing to silver", size, "bytes", competitors)
    if not set(wanted) & {"apply", "again", "nothing", "others"}:
        return
    say(f"writing a table of {sizes.rows:,} rows")
    lake = work.lake("base")
    base.write(lake, feed, TABLE, sizes.rows)
    say("bringing the changes to silver")
    bring(lake, feed)
    if "apply" in wanted:
        with closing(by_default.ByDefault(landing)) as plain:
            competitors = _appliers(work, "base", feed)
            competitors[by_default.NAME] = _restored(
                work, "base", lambda lake: plain.apply(lake.warehouse)
            )
            yield Line("apply changes", sizes.changes, "changes", competitors)
    if set(wanted) & {"again", "nothing"}:
        yield from _again(work, sizes, feed, wanted)
    if "others" in wanted:
        appliers = _appliers(work, "base", feed)
        ours = {name: appliers[name] for name in ("weir", "textbook")}
        size = sizes.changes
        yield others.line(work, feed, TABLE, WINDOWS, size, ours, environments_in)


def _appliers(work: Workspace, like: str, feed: Feed) -> dict[str, Callable[[], Prepared]]:
    tables = [*feed.tables.values()]

    def one_after_another(
        apply: Callable[[Lake, Feed, Table, Sequence[str]], object],
    ) -> Callable[[Lake], object]:
        return lambda lake: [apply(lake, feed, table, WINDOWS) for table in tables]

    # The floor of few changes in a small table is its one commit: there is no column worth scanning.
    least = floor.apply if len(feed.tables) == 1 else floor.commit
    return {
        "weir": _restored(
            work, like, lambda lake: apply_feed.apply_tables(lake, feed, tables, WINDOWS)
        ),
        "textbook": _restored(work, like, one_after_another(textbook.apply)),
        "floor": _restored(work, like, one_after_another(least)),
    }


def _restored(
    work: Workspace, like: str, apply: Callable[[Lake], object]
) -> Callable[[], Prepared]:
    def prepare() -> Prepared:
        lake = work.fresh(like)
        return lambda: apply(lake)

    return prepare


def _again(work: Workspace, sizes: Sizes, feed: Feed, wanted: Sequence[str]) -> Iterator[Line]:
    """The same window once more, and a run that finds nothing to do; both change nothing, so one warehouse will do."""
    done, by_textbook = work.lake("done"), work.lake("by_book")
    for lake, apply in ((done, apply_table.apply), (by_textbook, textbook.apply)):
        restoring.copy(Path(work.lake("base").warehouse), Path(lake.warehouse))
        apply(lake, feed, TABLE, WINDOWS)
    window_progress.finish(done, feed, WINDOWS)
    agree(done, by_textbook, feed)
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


def agree(lake: Lake, other: Lake, feed: Feed) -> None:
    """Make sure that two ways of applying the changes have the same outcome."""
    tables = (one.table(Layer.GOLD, feed.name, TABLE.name).read() for one in (lake, other))
    # What Weir keeps to know a late change by is nothing that the textbook has.
    found = [fingerprint(rows.drop(RESET)) for rows in tables]
    if found[0] != found[1]:
        raise ResultsDiffer(f"Weir's table and the textbook's differ: {found[0]} and {found[1]}")


def fingerprint(rows: DataFrame) -> tuple[int, str]:
    """How many rows, and a number that every one of their values goes into."""
    digest = F.xxhash64(*rows.columns).cast("decimal(38,0)")
    counted = rows.agg(F.count("*").alias("rows"), F.sum(digest).alias("digest")).first()
    assert counted is not None  # an aggregate without groups has one row
    return counted["rows"], str(counted["digest"])


def _tables(work: Workspace, sizes: Sizes) -> Line:
    """Many small tables in one window: each has rows already, and gets a few changes."""
    names = drops.small_names(sizes.tables)
    landing = work.folder / "small_landing"
    say(f"making {sizes.tables} small tables")
    drops.lay_small(landing, names, sizes.seed)
    feed = _feed(landing, [row.table(name) for name in names])
    lake = work.lake("small")
    bring(lake, feed, [drops.BASE_WINDOW])
    apply_feed.apply_tables(lake, feed, [*feed.tables.values()], [drops.BASE_WINDOW])
    bring(lake, feed)
    return Line("small tables", sizes.tables, "tables", _appliers(work, "small", feed))
