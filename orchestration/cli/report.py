"""``weir report``: a feed's report as a page, made now of the tables as they are."""

from __future__ import annotations

import webbrowser
from datetime import UTC, datetime
from pathlib import Path

from orchestration.cli import session
from orchestration.cli.options import Place
from orchestration.console import put, say, waiting
from orchestration.observability import stored_text
from orchestration.observability.report import html_page


def report(place: Place, name: str, to: Path | None, *, opened: bool) -> int:
    """Make the report and print where it is; ``to``: a file, instead of its place in the warehouse."""
    (feed,) = session.choose(place.feeds, [name])
    lake = session.reached(place.warehouse)
    address = html_page.address_of(lake, feed) if to is None else str(to.expanduser().resolve())
    with waiting(f"looking at {feed.name}"):
        page = html_page.make_report(lake, feed, datetime.now(UTC))
    stored_text.store_text(address, page, stored_text.HTML)
    put(address)
    if opened:
        link = html_page.opened_by_browser(lake, feed) if to is None else Path(address).as_uri()
        if not webbrowser.open(link):
            say(f"no browser was found: open {link}")
    return 0
