"""The commands that only read: ``weir query``, ``explain``, ``verify``, ``status``, ``report`` and ``dbt-sources``.

Put here the arguments and the help of a command that answers a question and leaves the warehouse as it is. Not here:
commands that make tables (``making``), and those that record a decision (``deciding``).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from orchestration.cli.options import JSON, WAREHOUSE, Place, in_place, in_place_by, of_feeds


@click.command("query", short_help="Query the tables with Spark SQL.")
@click.argument("sql")
@WAREHOUSE
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "jsonl", "csv"]),
    default="table",
    show_default=True,
    help="How the rows are printed.",
)
@click.option(
    "--all-columns",
    is_flag=True,
    help="Print Weir's own columns of gold for a star, too, whole digests, and bytes as base64, as jsonl and csv do.",
)
def query_command(sql: str, warehouse: str, style: str, all_columns: bool) -> None:
    """Query the tables with one statement of Spark SQL that reads.

    Tables are named bronze.<feed>, silver.<feed>, quarantine.<feed> and gold.<feed>.<table>:

        weir query "SELECT * FROM gold.shop.customers"

    SHOW TABLES lists them. A plain question to one small table is answered without Spark. Files, programs and tables
    that are not Weir's are refused. docs/tables.md says what is plain, and what a query may do.
    """
    from orchestration.cli import query

    query.query(sql, warehouse, style, all_columns)


@click.command("explain", short_help="Say why a row is as it is: the events of its key, in order.")
@click.argument("feed")
@click.argument("table")
@click.argument("key", nargs=-1, required=True)
@in_place_by
@JSON
def explain_command(
    feed: str, table: str, key: tuple[str, ...], place: Place, as_json: bool
) -> None:
    """Say why a row is as it is: the events of its KEY in order, and what each of them did.

    A key of several columns is several words, or one with commas between them, or a JSON array:

        weir explain shop orders 42
    """
    from orchestration.cli import explain

    one_word = key[0] if len(key) == 1 else json.dumps(key)
    sys.exit(explain.explain(place, feed, table, one_word, as_json))


@click.command("verify", short_help="Prove gold: make it again from bronze, and compare every row.")
@in_place_by
@of_feeds
@click.option(
    "--scratch",
    metavar="DIR-or-URI",
    help="Where the second gold is made. By default a temporary folder, which is removed afterwards.",
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Another number gives another order."
)
@JSON
def verify_command(
    place: Place, only: tuple[str, ...], scratch: str | None, seed: int, as_json: bool
) -> None:
    """Prove gold: make it again from bronze in another order, and compare it row by row.

    Bronze's records are shuffled over other windows (they stay in their own where the feed has epochs or columns with a
    `since`), some of them twice, and the windows are run in another order. This needs about as much time and room as
    bringing all of bronze to gold again. Exits with 0 if every row is the same, with 1 if any differs, and with 2 if
    something cannot be proved now.
    """
    from orchestration.cli import verify

    sys.exit(verify.verify(place, only, scratch, seed, as_json))


@click.command("status", short_help="Say how each feed stands: windows, events, rows, what waits.")
@in_place
@of_feeds
@click.option(
    "--details",
    "style",
    flag_value="details",
    help="All that is known of each feed, its limits too.",
)
@click.option("--json", "style", flag_value="json", help="The same for programs.")
@click.option(
    "--max-age",
    type=click.FloatRange(min=0),
    metavar="HOURS",
    help="Exit with 1 where a feed's newest window in gold ended longer ago.",
)
def status_command(
    place: Place, only: tuple[str, ...], style: str | None, max_age: float | None
) -> None:
    """Say how each feed stands, in a line each: windows, events, quarantine, and what waits.

    It counts what has been read already. What is new in the landing is for `weir run` to find.
    """
    from datetime import timedelta

    from orchestration.cli import status

    oldest = None if max_age is None else timedelta(hours=max_age)
    sys.exit(status.status(place, only, style or "table", oldest))


@click.command(
    "dbt-sources", short_help="Print a sources.yml for dbt: gold's tables and freshness."
)
@in_place
@of_feeds
def dbt_sources_command(place: Place, only: tuple[str, ...]) -> None:
    """Print a sources.yml for dbt: a source for each feed, with gold's tables, columns, tests and freshness.

        weir dbt-sources > models/sources.yml

    dbt-spark reads the tables by their paths, and dbt-duckdb by its extension for Delta (docs/howto/dbt.md).
    """
    from orchestration.cli.documents import dbt_sources

    dbt_sources.dbt_sources(place, only)


@click.command("report", short_help="Make a feed's report: a page with plots.")
@click.argument("feed")
@in_place
@click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where the page goes. By default _reports/<feed>.html in the warehouse.",
)
@click.option("--open", "opened", is_flag=True, help="Open it in a browser, too.")
def report_command(feed: str, place: Place, to: Path | None, opened: bool) -> None:
    """Make a feed's report: its windows, outcomes, lag, growth, tombstones and quarantine, with plots.

    Each run makes it, too. The page has everything in it and needs no network.
    """
    from orchestration.cli.documents import report

    sys.exit(report.report(place, feed, to, opened=opened))


@click.command("ui", short_help="Open Dagster for your feeds, with the history of their runs.")
@in_place
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=3000,
    show_default=True,
    help="The pages are at this port of 127.0.0.1.",
)
def ui_command(place: Place, port: int) -> None:
    """Open Dagster's pages for the feeds of a folder, with the daemon that runs schedules, sensors and backfills.

    The history of runs is in the folder that DAGSTER_HOME names, else in `.dagster` beside the folder of feed files,
    where `weir run` keeps its own. Ctrl-C, or SIGTERM, ends all that is started, a run that is under way included:
    start it again, and it goes on.
    """
    from orchestration.cli import ui

    ui.ui(place, port)
