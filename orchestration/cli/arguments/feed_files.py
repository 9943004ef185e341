"""The commands about feed files: ``weir feeds check``, ``weir feeds list`` and ``weir onboard``. None needs Spark.

Put here the arguments and the help of a command that reads or writes feed files. Not here: what it does
(``cli/feed_files``).
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from orchestration.cli.options import FEEDS
from transforms.addresses import without_credentials

_JSON = click.option("--json", "as_json", is_flag=True, help="The same for programs.")


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
@_JSON
def check_command(only: tuple[str, ...], feeds: Path, probes: bool, as_json: bool) -> None:
    """Name every fault of every feed file at once, with file, line and column.

    A feed that is sound is one line, with what a quick look at its landing found. Exits with 2 where a file is wrong or
    a landing cannot be read.
    """
    from orchestration.cli.feed_files import check

    sys.exit(check.check(feeds, only, probes=probes, as_json=as_json))


@feeds_command.command("list", short_help="List the feeds: format, landing, window, tables.")
@FEEDS
@_JSON
def list_command(feeds: Path, as_json: bool) -> None:
    """List the feeds with format, window, tables and landing, as their files declare them."""
    from orchestration.cli.feed_files import listing

    sys.exit(listing.list_feeds(feeds, as_json=as_json))


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
    from orchestration.cli.feed_files import onboard

    sys.exit(onboard.onboard(onboard.Request(landing=landing, feeds=feeds, **asked)))  # type: ignore[arg-type]
