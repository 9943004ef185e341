"""Where a report lies: ``<warehouse>/_reports/<feed>.html``, in a folder or in S3.

Put here where a report is and how it is made. Not here: what is on it (``page``), storing it (``pages``), and when a
run makes it (``report_asset``).
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from assets.audit import feed_report
from assets.lake import Lake
from orchestration.watching.report.page import page_of
from transforms.addresses import without_credentials
from transforms.feed.feed import Feed

FOLDER = "_reports"
REPORTS_URL = "WEIR_REPORTS_URL"
"""Names the address at which some web server shows the folder of reports, for links in Dagster's pages."""

REPORTS = "/weir/reports"
"""Below this path Weir's own web server shows them (``orchestration/web/documents``)."""


def address_of(lake: Lake, feed: Feed) -> str:
    """Where the feed's report is, or will be."""
    return f"{lake.warehouse.rstrip('/')}/{FOLDER}/{feed.name}.html"


def link_on_pages(feed: Feed) -> str:
    """The link on Dagster's pages: below ``WEIR_REPORTS_URL`` where that is set, else at Weir's own web server."""
    base = without_credentials(os.environ.get(REPORTS_URL, "").strip()).rstrip("/")
    return f"{base or REPORTS}/{quote(feed.name)}.html"


def opened_by_browser(lake: Lake, feed: Feed) -> str:
    """An address that a browser on this machine opens: that of ``WEIR_REPORTS_URL``, else of the file itself."""
    link, address = link_on_pages(feed), address_of(lake, feed)
    if not link.startswith(REPORTS):
        return link
    return address if "://" in address else Path(address).as_uri()


def make(lake: Lake, feed: Feed, now: datetime) -> str:
    """The report's page, of the tables as they are."""
    return page_of(feed, feed_report.facts_of(lake, feed), now)
