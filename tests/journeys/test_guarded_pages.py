"""A foreign page tries to start a run, in a real browser: Dagster's own web server lets it, and the guarded one not."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote

import pytest
from playwright.sync_api import sync_playwright

from tests.journeys.conftest import CHROMIUM
from tests.journeys.server import Server
from tests.orchestration.web.pages_server import GUARDED, UNGUARDED, pages_of

pytestmark = [pytest.mark.journey, pytest.mark.services]

CODE = (
    "import dagster as dg\n\n@dg.job\ndef milking(): ...\n\ndefs = dg.Definitions(jobs=[milking])\n"
)
LAUNCH = """
mutation { launchRun(executionParams: {
  selector: {repositoryLocationName: "barn.py", repositoryName: "__repository__", jobName: "milking"},
  runConfigData: "{}", executionMetadata: {tags: [{key: "way", value: "WAY"}]}
}) { __typename } }
"""
RUNS = "{ runsOrError { ... on Runs { results { tags { key value } } } } }"
WAYS = ("image", "form", "fetch")
SECONDS = 60


def page_against(address: str) -> str:
    """A page that sends one mutation by each of the ways that a browser offers any page."""
    image, form, fetch = (quote(LAUNCH.replace("WAY", way)) for way in WAYS)
    body = json.dumps({"query": LAUNCH.replace("WAY", "fetch")})
    return f"""<!doctype html><title>sent</title><h1>Cats</h1>
<img src="{address}?query={image}">
<iframe name="hidden"></iframe>
<form method="post" target="hidden" action="{address}?query={form}"></form>
<script>
document.forms[0].submit()
fetch("{address}?query={fetch}", {{
  method: "POST", mode: "no-cors", headers: {{"Content-Type": "text/plain"}}, body: {json.dumps(body)}
}})
</script>"""


@contextmanager
def website(text: str) -> Iterator[str]:
    """The address of a website of one page."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None: ...

    site = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=site.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{site.server_port}"
    finally:
        site.shutdown()
        thread.join()
        site.server_close()


def ways_that_started(port: int) -> set[str]:
    """By which ways runs were started."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql",
        json.dumps({"query": RUNS}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        runs = json.load(response)["data"]["runsOrError"]["results"]
    return {tag["value"] for run in runs for tag in run["tags"] if tag["key"] == "way"}


@pytest.mark.parametrize(("module", "started"), [(UNGUARDED, {*WAYS}), (GUARDED, set())])
def test_a_foreign_page_starts_nothing(tmp_path: Path, module: str, started: set[str]) -> None:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install --no-install-recommends chromium")
    (tmp_path / "barn.py").write_text(CODE)
    with (
        pages_of(module, tmp_path, "-f", "barn.py") as port,
        website(page_against(f"http://127.0.0.1:{port}/graphql")) as foreign,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        ended: list[str] = []
        # The browser keeps the answer to an image that is none from the page: that request has failed, and has acted.
        for event in ("requestfinished", "requestfailed"):
            page.on(event, lambda sent: ended.append(sent.url) if f":{port}/" in sent.url else None)
        page.goto(foreign)
        deadline = time.monotonic() + SECONDS
        while len(ended) < len(WAYS) and time.monotonic() < deadline:
            page.wait_for_timeout(200)
        browser.close()
        # The server has answered all three, so that what did not start is not on its way.
        assert len(ended) == len(WAYS)
        assert ways_that_started(port) == started


def test_make_ui_starts_the_guarded_pages(server: Server) -> None:
    with pytest.raises(HTTPError) as refused:
        urllib.request.urlopen(f"{server.url}/graphql?query={quote(RUNS)}", timeout=30)
    with refused.value as answer:
        assert answer.code == 403
