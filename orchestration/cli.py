"""``weir``: a thin way into the same Dagster assets that the UI shows.

Results go to standard output, progress and errors to standard error. Exit codes: 0 done, 1 a check or a step failed,
2 the command or a feed file is wrong.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import click

FEEDS = click.option(
    "--feeds",
    type=click.Path(path_type=Path, file_okay=False),
    default=lambda: os.environ.get("WEIR_FEEDS", "feeds"),
    show_default="$WEIR_FEEDS, else ./feeds",
    help="Folder of feed files.",
)
WAREHOUSE = click.option(
    "--warehouse",
    default=lambda: os.environ.get("WEIR_WAREHOUSE", "warehouse"),
    show_default="$WEIR_WAREHOUSE, else ./warehouse",
    help="Where the tables are: a folder, or s3://bucket/prefix.",
)
FEED = click.option(
    "--feed", "only", multiple=True, metavar="NAME", help="Only this feed; may be repeated."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="weir")
def cli() -> None:
    """Change data in, tables you can trust out: landing to bronze, silver and gold.

    Start with `weir run` in a folder that has a `feeds` folder, then `weir query`.
    """


@cli.command()
@FEEDS
@WAREHOUSE
@FEED
@click.option(
    "--windows",
    metavar="FROM..TO",
    help="These windows, inclusive, such as 2026-11-20T03..2026-11-20T05.",
)
def run(feeds: Path, warehouse: str, only: tuple[str, ...], windows: str | None) -> None:
    """Bring landing to gold: the windows with new drops, or those asked for.

    Exits 0 also with quarantined records, which are counted and shown; 1 if a blocking check or a step fails.
    """
    from orchestration import commands

    sys.exit(commands.run(feeds, warehouse, only, windows))


@cli.command()
@click.argument("sql")
@WAREHOUSE
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "jsonl", "csv"]),
    default="table",
    show_default=True,
)
def query(sql: str, warehouse: str, style: str) -> None:
    """Query the tables with Spark SQL.

    Tables are named bronze.<feed>, silver.<feed>, quarantine.<feed> and gold.<feed>.<table>:

        weir query "SELECT * FROM gold.shop.customers"
    """
    from orchestration import commands

    commands.query(sql, warehouse, style)


@cli.command()
@FEEDS
@WAREHOUSE
@FEED
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
def compact(feeds: Path, warehouse: str, only: tuple[str, ...], dry_run: bool) -> None:
    """Fold old changes into base rows, drop tombstones nothing needs, compact small files.

    Changes older than the feed's `compaction: {retention: ...}` (30 days) go from silver; bronze keeps every record.
    Gold is the same before and after, which is proved before anything goes. Events that come later for what is
    compacted are quarantined as too_late.
    """
    from orchestration import compacting

    compacting.compact(feeds, warehouse, only, dry_run=dry_run)


@cli.command()
@click.argument("feed")
@click.argument("table")
@click.argument("key")
@FEEDS
@WAREHOUSE
def explain(feed: str, table: str, key: str, feeds: Path, warehouse: str) -> None:
    """Tell why a row is as it is: the events of its KEY in order, and what each did.

    A key of several columns is written with commas between them, or as a JSON array:

        weir explain shop orders 42
    """
    from orchestration import explaining

    sys.exit(explaining.explain(feeds, warehouse, feed, table, key))


@cli.command()
@FEEDS
@WAREHOUSE
@FEED
@click.option(
    "--scratch",
    metavar="DIR-or-URI",
    help="Where the copy is made; by default a temporary folder, which is removed.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Deals another order.")
def verify(
    feeds: Path, warehouse: str, only: tuple[str, ...], scratch: str | None, seed: int
) -> None:
    """Prove gold: make it anew from bronze in another order, and compare row by row.

    Records are dealt into other windows, some of them twice, and run in another order. Needs about as much time and
    room as bringing all of bronze to gold again. Exits 0 if every row is the same, 1 if any differs.
    """
    from orchestration import verifying

    sys.exit(verifying.verify(feeds, warehouse, only, scratch, seed))


@cli.command()
@click.argument("feed")
@FEEDS
@WAREHOUSE
def rebuild(feed: str, feeds: Path, warehouse: str) -> None:
    """Make silver and gold of FEED anew from bronze, compacted history included.

    For a declaration or an epoch that alters the past, and to take in what came too late. Gold stays as it is until it
    is replaced, table by table; run nothing else on the feed meanwhile.
    """
    from orchestration import rebuilding

    sys.exit(rebuilding.rebuild(feeds, warehouse, feed))


@cli.group()
def epoch() -> None:
    """Say where a source's positions start again: a reset log, a restored source, a new snapshot."""


@epoch.command("open")
@click.argument("feed")
@click.option("--window", required=True, help="The first landing window with events of the epoch.")
@click.option("--time", help="The source's time from which events are of the epoch (ISO, UTC).")
@click.option("--table", help="Only this table of the feed file; all by default.")
@click.option(
    "--snapshot",
    type=click.Choice(["complete", "partial"]),
    default="partial",
    show_default=True,
    help="complete: rows of older epochs that the epoch does not name are gone.",
)
@click.option("--reason", help="Why, for whoever reads decisions.<feed> later.")
@FEEDS
@WAREHOUSE
def open_epoch(
    feed: str,
    window: str,
    time: str | None,
    table: str | None,
    snapshot: Literal["complete", "partial"],
    reason: str | None,
    feeds: Path,
    warehouse: str,
) -> None:
    """Record that positions start again in FEED. Such a decision is never undone.

    Events made at --time or later are in the new epoch; those that carry no time, and all where --time is not given,
    from --window on.
    """
    from orchestration import deciding
    from orchestration.epoch_texts import DeclaredEpoch

    declared = DeclaredEpoch(window=window, table=table, time=time, snapshot=snapshot)
    deciding.open_epoch(feeds, warehouse, feed, declared, reason)


@epoch.command("list")
@click.argument("feed")
@FEEDS
@WAREHOUSE
def list_epochs(feed: str, feeds: Path, warehouse: str) -> None:
    """List the epochs of FEED."""
    from orchestration import deciding

    deciding.list_epochs(feeds, warehouse, feed)


@cli.command()
@click.argument("feed")
@click.argument("ids", nargs=-1)
@click.option("--all", "all_of_them", is_flag=True, help="Let all of them act.")
@FEEDS
@WAREHOUSE
def release(
    feed: str, ids: tuple[str, ...], all_of_them: bool, feeds: Path, warehouse: str
) -> None:
    """Let held truncates and drops of FEED act, or list them.

    With `scope_deletes: hold` in a feed file, a delete of a whole table waits until somebody looks at it.
    """
    from orchestration import deciding

    deciding.release(feeds, warehouse, feed, ids, all_of_them=all_of_them)


@cli.command()
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    help="Where to lay it out.",
)
def demo(folder: Path) -> None:
    """Lay out sample drops, run them to gold and say what to try next (`make run`)."""
    from orchestration import commands

    sys.exit(commands.demo(folder))


def main(arguments: list[str] | None = None) -> None:
    """The console script: errors made for people come without a stack."""
    _without_stack(cli, arguments)


def _without_stack(command: Callable[..., Any], arguments: list[str] | None) -> None:
    # Imported late, so that --help answers at once.
    from orchestration.jars import JarsMissing
    from orchestration.java import JavaMissing
    from transforms.errors import WeirError

    try:
        command(args=arguments, prog_name="weir")
    except (WeirError, JavaMissing, JarsMissing) as fault:
        click.secho(f"error: {fault}", fg="red", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
