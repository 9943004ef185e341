"""``weir report``: a feed's report as a page, made now of the tables as they are.

Put here what the command says and opens. Not here: the page (``orchestration/watching/report``).
"""

from __future__ import annotations

import webbrowser
from datetime import UTC, datetime
from pathlib import Path

from orchestration.cli import session
from orchestration.cli.options import Place
from orchestration.console import put, say, waiting
from orchestration.watching import pages
from orchestration.watching.report import stored


def report(place: Place, name: str, to: Path | None, *, opened: bool) -> int:
    """Make the report and print where it is; ``to``: a file, instead of its place in the warehouse."""
    (feed,) = session.choose(place.feeds, [name])
    lake = session.reached(place.warehouse)
    address = stored.address_of(lake, feed) if to is None else str(to.expanduser().resolve())
    with waiting(f"looking at {feed.name}"):
        page = stored.make(lake, feed, datetime.now(UTC))
    pages.store(address, page, pages.HTML)
    put(address)
    if opened:
        link = stored.opened_by_browser(lake, feed) if to is None else Path(address).as_uri()
        if not webbrowser.open(link):
            say(f"no browser was found: open {link}")
    return 0
