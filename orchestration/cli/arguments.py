"""The arguments and the help texts of all commands; each imports what it does only when it is called."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from assets.control.choice import Choice
from orchestration.cli.options import (
    EXECUTOR,
    FEEDS,
    JSON,
    WAREHOUSE,
    Place,
    in_place,
    in_place_by,
    of_feeds,
)
from transforms.addresses import without_credentials

WHY = "Why, for whoever reads decisions.<feed> later"
BY = click.option("--by", metavar="NAME", help="Who decides this. By default your user's name.")


@click.group("feeds", short_help="Check and list the feed files.")
def feeds_command() -> None:
    """Check and list the feed files, without Spark."""


@feeds_command.command("check", short_help="Name every fault of every feed file at once.")
@click.argument("only", nargs=-1, metavar="[NAME]...")
@FEEDS
@click.option(
    "--probe/--no-probe",
    "probes",
    default=True,
    show_default=True,
    help="Whether to look at the landings, too: can they be read, and what lies there.",
)
@JSON
def check_feeds_command(only: tuple[str, ...], feeds: Path, probes: bool, as_json: bool) -> None:
    """Name every fault of every feed file at once, with file, line and column.

    A feed that is sound is one line, with what a quick look at its landing found. Exits with 2 where a file is wrong or
    a landing cannot be read.
    """
    from orchestration.cli.feeds import check_feeds

    sys.exit(check_feeds(feeds, only, probes=probes, as_json=as_json))


@feeds_command.command("list", short_help="List the feeds: format, landing, window, tables.")
@FEEDS
@JSON
def list_feeds_command(feeds: Path, as_json: bool) -> None:
    """List the feeds with format, window, tables and landing, as their files declare them."""
    from orchestration.cli.feeds import list_feeds

    sys.exit(list_feeds(feeds, as_json=as_json))


@click.command("onboard", short_help="Write a feed file for drops, from a sample of them.")
@click.argument("landing")
@click.option("--format", "format_name", metavar="FORMAT", help="The format, where it is known.")
@click.option("--name", metavar="NAME", help="The feed's name. By default the landing's last part.")
@FEEDS
@click.option("--files", metavar="GLOB", help="Only objects of these names are drops: '**/*.json'.")
@click.option(
    "--write/--print", "writes", default=True, help="Write the feed file (default), or print it."
)
@click.option("--force", is_flag=True, help="Write over a feed file that is there already.")
@click.option(
    "--sample",
    "objects",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="How many objects are read at most; of topics so many hundred records.",
)
def onboard_command(landing: str, feeds: Path, **asked: object) -> None:
    """Write a commented feed file for drops that lie in LANDING, from a sample of them.

    LANDING is a folder, s3://bucket/prefix/ or kafka://broker:9092/topic. The command reads a few drops, says by which
    marks it recognises their format, proposes tables, keys, types and windows with the evidence for each, and shows the
    rows that gold would have. No table is written, and Spark is not started:

        weir onboard s3://drops/shop/
    """
    from orchestration.console import say

    # What is imported next takes a second.
    say(f"looking at {without_credentials(landing)}")
    from orchestration.cli import onboard

    sys.exit(onboard.onboard(onboard.Request(landing=landing, feeds=feeds, **asked)))  # type: ignore[arg-type]


# The commands that make tables.


@click.command("run", short_help="Bring what is new in the landing to bronze, silver and gold.")
@in_place_by
@of_feeds
@click.option(
    "--windows",
    metavar="WINDOWS",
    help="Only these windows: 2026-11-20T03, a day 2026-11-20 (of an hourly feed all its hours), a range"
    " 2026-11-18..2026-11-20 with both ends included; or, of those that have drops, an open range 2026-11-18.. or"
    " ..2026-11-20, 'last 12h' or 'last 3d', counted back from now. All in UTC.",
)
@JSON
def run_command(place: Place, only: tuple[str, ...], windows: str | None, as_json: bool) -> None:
    """Bring the landing to bronze, silver and gold: the windows with new drops, or those that you name.

    Exits with 0 also where records were quarantined: they are counted and shown. Exits with 1 if a blocking check or a
    step fails, and with 2 if the command or a feed file is wrong, or a landing cannot be read.
    """
    from orchestration.cli import run

    sys.exit(run.run(place, only, windows, as_json))


@click.command("compact", short_help="Fold old history into base rows, and compact small files.")
@in_place_by
@of_feeds
@click.option("--dry-run", is_flag=True, help="Say what would be done, and change nothing.")
@JSON
def compact_command(place: Place, only: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Fold old changes into base rows, drop tombstones that nothing needs, and compact small files.

    Changes older than the feed's `compaction: {retention: ...}` (30 days unless the feed file says otherwise) are
    removed from silver; bronze keeps every record. Gold is the same before and after, which is proved before anything
    is removed. An event that arrives later for a compacted part of the history is quarantined with the reason too_late.
    """
    from orchestration.cli import compact

    sys.exit(compact.compact(place, only, dry_run=dry_run, as_json=as_json))


@click.command("rebuild", short_help="Make all of a feed's silver and gold again from bronze.")
@click.argument("feed")
@in_place_by
@JSON
def rebuild_command(feed: str, place: Place, as_json: bool) -> None:
    """Make all of silver and gold of FEED again from bronze, compacted history included.

    Use it after a change of the feed file or an epoch that alters compacted history, for another key of a table, or to
    take in events that were quarantined as too_late. Gold stays as it is until it is replaced, table by table. Run
    nothing else on the feed meanwhile.
    """
    from orchestration.cli import rebuild

    sys.exit(rebuild.rebuild(place, feed, as_json))


@click.command(
    "data-docs", short_help="Ask tables as they stand, and make Data Docs of all results."
)
@in_place
@of_feeds
def data_docs_command(place: Place, only: tuple[str, ...]) -> None:
    """Ask every table as it stands, and make Data Docs, the pages of what checks have found.

    Asked are keys that are never null and stand once, and changes that are whole, of gold where it has changed and of
    the newest 48 windows of silver. Exits with 1 where one of them is broken.

    Runs of feeds that declare `expectations` make their pages themselves. Runs of others only keep the results, for
    Great Expectations takes seconds to start.
    """
    from orchestration.cli import data_docs

    sys.exit(data_docs.data_docs(place, only))


@click.command("demo", short_help="Lay out sample drops, bring them to gold, and say what to try.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    show_default="the folder you are in",
    help="Where the sample drops, their feed files and the tables go.",
)
@EXECUTOR
def demo_command(folder: Path, executor: str | None) -> None:
    """Lay out sample drops and their feed files, bring them to gold, and say what to try next.

    `make run` does this in the project's own folder. Files that exist already are kept as they are.
    """
    from orchestration.cli import demo

    sys.exit(demo.demo(folder, executor))


# The commands that only read.


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
@click.option(
    "--engine",
    type=click.Choice(["auto", "spark"]),
    default="auto",
    show_default=True,
    help="Who answers: DuckDB, and Spark what only Spark can; or Spark in any case.",
)
def query_command(sql: str, warehouse: str, style: str, all_columns: bool, engine: str) -> None:
    """Query the tables with one statement of Spark SQL that reads.

    Tables are named bronze.<feed>, silver.<feed>, quarantine.<feed> and gold.<feed>.<table>:

        weir query "SELECT * FROM gold.shop.customers"

    SHOW TABLES lists them. Joins, windows, aggregates and the like of small tables are answered without Java, by
    DuckDB, with the answers that Spark would give; all else by Spark. Files, programs and tables that are not Weir's
    are refused. docs/tables.md says which is which, and what a query may do.
    """
    from orchestration.cli import query

    query.query(sql, warehouse, style, all_columns, engine)


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
    from orchestration.cli import status

    sys.exit(status.status(place, only, style or "table", max_age))


@click.command(
    "dbt-sources", short_help="Print a sources.yml for dbt: gold's tables and freshness."
)
@in_place
@of_feeds
def dbt_sources_command(place: Place, only: tuple[str, ...]) -> None:
    """Print a sources.yml for dbt: a source for each feed, with gold's tables, columns, tests and freshness.

        weir dbt-sources > models/sources.yml

    dbt-spark reads the tables by their paths, and dbt-duckdb by its extension for Delta (docs/tables.md).
    """
    from orchestration.cli import dbt_sources

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
    from orchestration.cli import report

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


# The commands by which a person decides something about a feed.


@click.group("epoch", short_help="Declare or list where a source's positions start again.")
def epoch_command() -> None:
    """Declare or list where a source's positions start again: a reset log, a restored source, a new snapshot."""


@epoch_command.command("open")
@click.argument("feed")
@click.option("--window", required=True, help="The first landing window with events of the epoch.")
@click.option(
    "--time", help="The source's time from which on events are of the epoch (ISO, in UTC)."
)
@click.option("--table", help="Only this table. By default all of them.")
@click.option(
    "--snapshot",
    type=click.Choice(["complete", "partial"]),
    default="partial",
    show_default=True,
    help="complete: rows of older epochs are removed if the new epoch does not name them.",
)
@click.option("--reason", help=f"{WHY}.")
@click.option("--dry-run", is_flag=True, help="Say what it would do to gold, and record nothing.")
@click.option(
    "--yes", "is_sure", is_flag=True, help="Do not ask; without a terminal nobody is asked."
)
@in_place
def open_epoch_command(
    place: Place, feed: str, reason: str | None, *, dry_run: bool, is_sure: bool, **declared: Any
) -> None:
    """Record that positions start again in FEED. Such a decision is never undone.

    What it does to gold is said first, table by table: how many changes the new epoch has by now, and with --snapshot
    complete which rows they do not name.

    Events made at --time or later are in the new epoch. Events that carry no time are in it from --window on, and so
    are all events where --time is not given. Give --time where older events may be delivered again: without it, they
    would count as new.
    """
    from orchestration.cli import epoch
    from orchestration.console import agrees
    from orchestration.feeds.keys import DeclaredEpoch

    def is_wanted() -> bool:
        return not dry_run and (is_sure or agrees("Record this? It is never undone"))

    epoch.open_epoch(place, feed, DeclaredEpoch(**declared), reason, is_wanted)


@epoch_command.command("list")
@click.argument("feed")
@in_place
@JSON
def list_epochs_command(place: Place, feed: str, as_json: bool) -> None:
    """List the epochs of FEED."""
    from orchestration.cli import epoch

    epoch.list_epochs(place, feed, as_json)


def with_choice(
    all_help: str, reason_help: str = f"{WHY}.", metavar: str | None = None
) -> Callable[..., Callable[..., None]]:
    """A command of a FEED that takes ids, ``--all`` and ``--reason``, which come as one ``choice``."""

    def declared(command: Callable[..., None]) -> Callable[..., None]:
        @click.argument("feed")
        @click.argument("ids", nargs=-1, metavar=metavar)
        @click.option("--all", "everything", is_flag=True, help=all_help)
        @click.option("--reason", help=reason_help)
        @in_place
        @wraps(command)
        def chosen(place: Place, feed: str, ids: tuple[str, ...], **others: Any) -> None:
            choice = Choice(ids, others.pop("everything"), others.pop("reason"))
            command(place, feed, choice, **others)

        return chosen

    return declared


@click.command("release", short_help="List the deletes that wait, or let them act.")
@with_choice("Let all of them act.")
@click.option("--keep", "keeps", is_flag=True, help="Never let them act: gold keeps the rows.")
@JSON
def release_command(place: Place, feed: str, choice: Choice, keeps: bool, as_json: bool) -> None:
    """List the deletes of FEED that wait, or let those with these IDS act.

    With `range_deletes: hold` in a feed file, a delete of a whole table waits until somebody looks at it. So does what
    would remove most of a table (`loss_guard`), what a snapshot does not name that is not known to be complete, and
    what a delete of one TigerGraph partition does to rows of others that changed at about its time.
    Without IDS and without --all, the command lists what waits. The beginning of an id is enough. Deletes that come
    from one record act together.
    """
    from orchestration.cli import release

    release.release(place, feed, choice, as_json, keeps=keeps)


@click.group("quarantine", short_help="List, show, repair or dismiss quarantined records.")
def quarantine_command() -> None:
    """Work with the records that could not be taken: see what is wrong, repair them, replay them, or give them up."""


@quarantine_command.command("list", short_help="List records by the reason why they are there.")
@click.argument("feed")
@click.option("--reason", metavar="REASON", help="Only records with this reason.")
@click.option(
    "--state",
    type=click.Choice(["open", "repaired", "dismissed", "too late", "all"]),
    default="open",
    show_default=True,
    help="Only records in this state.",
)
@JSON
@in_place
def list_quarantine_command(
    place: Place, feed: str, reason: str | None, state: str, as_json: bool
) -> None:
    """List the quarantined records of FEED, by reason, each with its source location and the start of its payload."""
    from orchestration.cli import quarantine

    quarantine.list_records(place, feed, reason, state, as_json=as_json)


@quarantine_command.command("show", short_help="Show one record, what is wrong and what to do.")
@click.argument("feed")
@click.argument("id")
@JSON
@in_place
def show_quarantine_command(place: Place, feed: str, id: str, as_json: bool) -> None:
    """Show one record of FEED: payload, source location, state and reason, what to do, and what is read in its place.

    The beginning of the ID is enough.
    """
    from orchestration.cli import quarantine

    quarantine.show_record(place, feed, id, as_json=as_json)


@quarantine_command.command("export", short_help="Write records out, to be repaired in an editor.")
@click.argument("feed")
@click.argument("ids", nargs=-1)
@click.option("--reason", metavar="REASON", help="Only records with this reason.")
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    show_default="quarantine-<feed>",
    help="The folder to write to.",
)
@in_place
def export_quarantine_command(
    place: Place, feed: str, ids: tuple[str, ...], reason: str | None, to: Path | None
) -> None:
    """Write the open records of FEED, or those with these IDS, to a folder: a file for each, as it landed.

    A file source_locations.json beside them says which record each file is. Repair the files, and give the folder or
    single files to `weir quarantine replay`.
    """
    from orchestration.cli import quarantine

    quarantine.export(place, feed, Choice(ids), reason, to)


@quarantine_command.command("replay", short_help="Bring records through their windows once more.")
@with_choice("All open records, as they are.", metavar="[WHAT]...")
@BY
@click.option("--later", is_flag=True, help="Only record it: the next `weir run` does the rest.")
@click.option(
    "--force", is_flag=True, help="Record also a payload that would be quarantined again."
)
def replay_quarantine_command(place: Place, feed: str, choice: Choice, **ways: Any) -> None:
    """Bring records of FEED through their windows once more: repaired files, or records as they are.

    WHAT: files or folders of `weir quarantine export`, of which those that you changed are recorded (that needs
    --reason) and read in place of the records in bronze; or ids of records that a changed feed file can take as they
    are. Exits with 1 if one of the records is still in quarantine afterwards.
    """
    from orchestration.cli import quarantine_replay

    sys.exit(quarantine_replay.replay(place, feed, choice, quarantine_replay.Ways(**ways)))


@quarantine_command.command("dismiss", short_help="Give up records that nobody can repair.")
@with_choice("All open records.", f"{WHY}. Needed.")
@BY
def dismiss_quarantine_command(place: Place, feed: str, choice: Choice, by: str | None) -> None:
    """Dismiss the records of FEED with these IDS: nobody will repair them.

    They stay in quarantine and no longer hold compaction up or fail a check; `weir status` counts them. If the feed
    file is changed later so that such a record can be taken, it counts like any other. The beginning of an id is
    enough. All events of a record are dismissed together.
    """
    from orchestration.cli import quarantine

    quarantine.dismiss(place, feed, choice, by)


@click.command("notify", short_help="Try the addresses that are told of failures.")
@click.option(
    "--test", "is_test", is_flag=True, required=True, help="Send a message that is a test."
)
def notify_command(is_test: bool) -> None:
    """Send a test message to each address in WEIR_ALERTS.

    The sensor weir_alerts sends a message where a run or a check has failed; docs/watching.md has the settings.
    """
    from orchestration.cli import notify

    sys.exit(notify.notify())
