"""``weir``: a thin way into the same Dagster assets that the UI shows.

Results go to standard output, progress and errors to standard error. Exit codes: 0 done, 1 a check or a step failed,
2 the command or a feed file is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from orchestration.cli import decisions
from orchestration.cli.options import FEED, WAREHOUSE, Place, in_place


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="weir")
def cli() -> None:
    """Change data in, tables you can trust out: landing to bronze, silver and gold.

    Start with `weir run` in a folder that has a `feeds` folder, then `weir query`.
    """


@cli.command()
@in_place
@FEED
@click.option(
    "--windows",
    metavar="FROM..TO",
    help="These windows, inclusive, such as 2026-11-20T03..2026-11-20T05.",
)
def run(place: Place, only: tuple[str, ...], windows: str | None) -> None:
    """Bring landing to gold: the windows with new drops, or those asked for.

    Exits 0 also with quarantined records, which are counted and shown; 1 if a blocking check or a step fails; 2 if the
    command or a feed file is wrong, or a landing cannot be read.
    """
    from orchestration.cli import run as work

    sys.exit(work.run(place, only, windows))


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
    from orchestration.cli import query as work

    work.query(sql, warehouse, style)


@cli.command()
@in_place
@FEED
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
def compact(place: Place, only: tuple[str, ...], dry_run: bool) -> None:
    """Fold old changes into base rows, drop tombstones nothing needs, compact small files.

    Changes older than the feed's `compaction: {retention: ...}` (30 days) go from silver; bronze keeps every record.
    Gold is the same before and after, which is proved before anything goes. Events that come later for what is
    compacted are quarantined as too_late.
    """
    from orchestration.cli import compact as work

    sys.exit(work.compact(place, only, dry_run=dry_run))


@cli.command()
@click.argument("feed")
@click.argument("table")
@click.argument("key")
@in_place
def explain(feed: str, table: str, key: str, place: Place) -> None:
    """Tell why a row is as it is: the events of its KEY in order, and what each did.

    A key of several columns is written with commas between them, or as a JSON array:

        weir explain shop orders 42
    """
    from orchestration.cli import explain as work

    sys.exit(work.explain(place, feed, table, key))


@cli.command()
@in_place
@FEED
@click.option(
    "--scratch",
    metavar="DIR-or-URI",
    help="Where the copy is made; by default a temporary folder, which is removed.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Deals another order.")
def verify(place: Place, only: tuple[str, ...], scratch: str | None, seed: int) -> None:
    """Prove gold: make it anew from bronze in another order, and compare row by row.

    Records are dealt into other windows (their own, where epochs or a `since` begin with one), some of them twice, and
    run in another order. Needs about as much time and room as bringing all of bronze to gold again. Exits 0 if every
    row is the same, 1 if any differs, 2 if there is nothing to prove yet.
    """
    from orchestration.cli import verify as work

    sys.exit(work.verify(place, only, scratch, seed))


@cli.command()
@in_place
@FEED
def status(place: Place, only: tuple[str, ...]) -> None:
    """Say how every feed stands: windows, events, rows, what waits and what cannot be known.

    Of what was read; `weir run` says what is new in the landing.
    """
    from orchestration.cli import status as work

    sys.exit(work.status(place, only))


@cli.command()
@click.argument("feed")
@in_place
def rebuild(feed: str, place: Place) -> None:
    """Make silver and gold of FEED anew from bronze, compacted history included.

    For a declaration or an epoch that alters the past, and to take in what came too late. Gold stays as it is until it
    is replaced, table by table; run nothing else on the feed meanwhile.
    """
    from orchestration.cli import rebuild as work

    sys.exit(work.rebuild(place, feed))


@cli.command()
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    help="Where to lay it out.",
)
def demo(folder: Path) -> None:
    """Lay out sample drops, run them to gold and say what to try next (`make run`)."""
    from orchestration.cli import demo as work

    sys.exit(work.demo(folder))


for decision in (decisions.epoch, decisions.release, decisions.dismiss):
    cli.add_command(decision)


def main(arguments: list[str] | None = None) -> None:
    """The console script: errors made for people come without a stack."""
    _without_stack(cli, arguments)


def _without_stack(command: Callable[..., Any], arguments: list[str] | None) -> None:
    # Imported late, so that --help answers at once.
    from orchestration.spark.jars import JarsMissing
    from orchestration.spark.java import JavaMissing
    from transforms.errors import WeirError

    try:
        command(args=arguments, prog_name="weir")
    except (WeirError, JavaMissing, JarsMissing) as fault:
        click.secho(f"error: {fault}", fg="red", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
