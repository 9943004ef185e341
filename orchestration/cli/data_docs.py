"""``weir data-docs``: the tables asked as they stand, and the pages of what checks have found."""

from __future__ import annotations

from collections.abc import Sequence

from assets.audit import stored_tables
from assets.quality.data_docs import build_pages_of
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.options import Place
from orchestration.console import print_error, put, put_lines, waiting


def data_docs(place: Place, only: Sequence[str]) -> int:
    """Make the pages of results that have none yet, and print where they are.

    The tables are asked as they stand before that. Returns the exit code: 0, or 1 where one of them is not as it should
    be, or the pages of a feed could not be made; the others are done.
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
    return 1 if failed else 0
