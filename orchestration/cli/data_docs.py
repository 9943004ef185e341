"""``weir data-docs``: the tables asked as they stand, and the pages of what checks have found."""

from __future__ import annotations

import sys

import click

from assets.audit import stored_tables
from assets.quality.data_docs import build_pages_of
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.options import Place, in_place, of_feeds
from orchestration.console import print_error, put, put_lines, waiting


@click.command("data-docs")
@in_place
@of_feeds
def data_docs_command(place: Place, only: tuple[str, ...]) -> None:
    """Ask every table as it stands, and make Data Docs, the pages of what checks have found.

    Asked are keys that are never null and stand once, and changes that are whole, of gold where it has changed and of
    the newest 48 windows of silver. Exits with 1 where one of them is broken.

    Runs of feeds that declare `expectations` make their pages themselves. Runs of others only keep the results, for
    Great Expectations takes seconds to start.
    """
    chosen = session.choose(place.feeds, only)
    lake = session.reached(place.warehouse, chosen)
    failed = False
    for feed in chosen:
        try:
            with waiting(f"making the pages of {feed.name}"):
                stored = [*stored_tables.ask_stored(lake, feed)]
                made, index = build_pages_of(lake.warehouse, feed.name)
        except Exception as fault:  # whatever it is, the other feeds have nothing to do with it
            failed = True
            print_error(feed.name, fault)
        else:
            said = (
                f"{counted(made, 'new result')}, {index}"
                if index
                else "no run has kept a result yet"
            )
            put(f"{feed.name}: {said}")
            if stored:
                put_lines(stored_tables.stored_in_lines(feed, stored))
            failed = failed or any(one.broken for one in stored)
    sys.exit(1 if failed else 0)
