"""Reports and Data Docs at the address of Dagster's pages, which link them: a browser opens no file from there.

What sources wrote is on these pages, too. So a browser takes each for a page of another website (the sandbox of its
Content-Security-Policy): a script in it could not act in Dagster's pages, whatever made it.
"""

from __future__ import annotations

import mimetypes
import re
from datetime import UTC, datetime
from threading import Lock

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from assets.quality.data_docs import DATA_DOCS, QualityFolder, build_pages_of
from assets.storage import stored_text
from orchestration.feeds.load import feed_files, load_feed
from orchestration.observability.report import html_page
from orchestration.resources import Deployment, lake_of

_FEED = "{feed:str}"
_KEPT_APART = {
    "Content-Security-Policy": "sandbox allow-scripts allow-popups",
    "X-Content-Type-Options": "nosniff",
}
_BUILDING = Lock()
"""Great Expectations makes the pages of one feed at a time."""


def routes(deployment: Deployment) -> list[Route]:
    """The paths of these pages, for the feeds and the warehouse of a deployment; to be asked by GET alone."""

    def data_docs(request: Request) -> Response:
        feed, page = request.path_params["feed"], request.path_params["page"]
        return _answer(page, _data_docs(deployment.warehouse, feed, page))

    def report(request: Request) -> Response:
        return _answer("report.html", _report(deployment, request.path_params["feed"]))

    return [
        Route(f"{DATA_DOCS}/{_FEED}/{{page:path}}", data_docs),
        Route(f"{html_page.REPORTS}/{_FEED}.html", report),
    ]


def _data_docs(warehouse: str, feed: str, page: str) -> bytes | None:
    """A page of Data Docs, made now where only its result is there; None where there is neither."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", feed) or {"", ".", ".."} & {*page.split("/")}:
        return None
    address = QualityFolder(warehouse, feed).address(page)
    found = stored_text.read_text(address)
    if found is None and page.endswith(".html"):
        with _BUILDING:
            build_pages_of(warehouse, feed)
        found = stored_text.read_text(address)
    return found


def _report(deployment: Deployment, name: str) -> bytes | None:
    """The report that the feed's last run has made, or one that is made now; None where there is no such feed."""
    file = feed_files(deployment.feeds).get(name)
    if file is None:
        return None
    feed, lake = load_feed(file), lake_of(deployment.warehouse)
    kept = stored_text.read_text(html_page.address_of(lake, feed))
    return kept or html_page.make_report(lake, feed, datetime.now(UTC)).encode()


def _answer(page: str, content: bytes | None) -> Response:
    if content is None:
        return PlainTextResponse(
            "There is no such page: no run has kept a result for it, or the feed has another name.\n",
            404,
            _KEPT_APART,
        )
    kind = mimetypes.guess_type(page)[0] or "application/octet-stream"
    return Response(content, headers=_KEPT_APART, media_type=kind)
