"""The commands that make tables: ``weir run``, ``weir compact``, ``weir rebuild``, ``weir data-docs``, ``weir demo``.

Put here the arguments and the help of a command that writes. Not here: commands that only read (``asking``), and those
that record a decision (``deciding``).
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from orchestration.cli.options import EXECUTOR, JSON, Place, in_place, in_place_by, of_feeds


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
    from orchestration.cli.documents import data_docs

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
