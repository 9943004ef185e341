"""``weir report``: a feed's report as a page, made now of the tables as they are."""

from __future__ import annotations

import webbrowser
from datetime import UTC, datetime
from pathlib import Path

import click

from assets.storage import stored_text
from orchestration.cli import session
from orchestration.cli.options import Place, in_place
from orchestration.console import put, say, waiting
from orchestration.observability.report import html_page


@click.command("report")
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
    (declared,) = session.choose(place.feeds, [feed])
    lake = session.reached(place.warehouse)
    address = html_page.address_of(lake, declared) if to is None else str(to.expanduser().resolve())
    with waiting(f"looking at {feed}"):
        if to is None:
            with html_page.making(lake, declared) as put_page:
                put_page(html_page.make_report(lake, declared, datetime.now(UTC)))
        else:
            page = html_page.make_report(lake, declared, datetime.now(UTC))
            stored_text.store_text(address, page, stored_text.HTML)
    put(address)
    if opened:
        link = html_page.opened_by_browser(lake, declared) if to is None else Path(address).as_uri()
        if not webbrowser.open(link):
            say(f"no browser was found: open {link}")
