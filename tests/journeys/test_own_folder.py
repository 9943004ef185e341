"""A folder with feeds of one's own: `weir run`, then `weir ui` there shows that run; and a signal ends all of it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.journeys.commands import WEIR, inherited, weir
from tests.journeys.server import Server, free_port, started, wait_for
from tests.support.listening import of_session
from tests.support.pet_feed import change, drop, lay

pytestmark = [pytest.mark.journey, pytest.mark.services]

FEED = """\
format: arcion_s3_json
landing: ../drops
tables: {pets: {key: [id], columns: {id: int, name: string}}}
"""
RUNS = "{ runsOrError { ... on Runs { results { jobName status tags { key value } } } } }"
PAGE = """
query Asset($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { ... on AssetNode {
  assetPartitionStatuses { ... on TimePartitionStatuses { ranges { startKey endKey status } } }
  assetMaterializations(limit: 1) { metadataEntries { label
    ... on TableColumnLineageMetadataEntry { lineage { columnName columnDeps { assetKey { path } columnName } } }
    ... on UrlMetadataEntry { url }
  } }
} } }
"""
SECONDS = 10
"""In which all has to be over."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Drops of two windows, and between them one without any."""
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "zoo.yaml").write_text(FEED)
    for hour, name in ((3, "Ada"), (5, "Bo")):
        record = change("I", hour, after={"id": f"{hour}", "name": name})
        lay(tmp_path / "drops", f"2025-11-20/{hour:02}/a.json", drop(record))
    return tmp_path


@pytest.fixture
def ui(folder: Path) -> Iterator[tuple[Server, int]]:
    """`weir ui` in the folder, ready, and the number of its process."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    server = Server(url, folder / ".dagster", folder / "warehouse", folder / "ui.log")
    assert weir(folder, "run").code == 0
    words = [WEIR, "ui", "--port", f"{port}"]
    with started(words, folder, inherited(), server.log) as process:
        wait_for(server, process)
        yield server, process.pid


def test_the_pages_are_of_the_folder_s_feeds_and_runs(ui: tuple[Server, int], folder: Path) -> None:
    server, number = ui
    assert server.log.read_text().splitlines()[:4] == [
        f"feeds: zoo, of {folder}/feeds",
        f"warehouse: {folder}/warehouse",
        f"history of runs: {folder}/.dagster",
        f"pages: {server.url}, in half a minute; Ctrl-C ends them",
    ]
    (run,) = server.ask(RUNS)["runsOrError"]["results"]
    tags = {tag["key"]: tag["value"] for tag in run["tags"]}
    assert (run["jobName"], run["status"]) == ("zoo_to_gold", "SUCCESS")
    assert (tags["feed"], tags["from"], tags["to"]) == ("zoo", "2025-11-20T03", "2025-11-20T05")
    asset = server.ask(PAGE, key={"path": ["gold", "zoo", "pets"]})["assetNodeOrError"]
    made = [one for one in asset["assetPartitionStatuses"]["ranges"]]
    assert [(one["startKey"], one["endKey"]) for one in made] == [
        ("2025-11-20T03", "2025-11-20T03"),
        ("2025-11-20T05", "2025-11-20T05"),
    ]
    (event,) = asset["assetMaterializations"]
    shown = {one["label"]: one for one in event["metadataEntries"]}
    assert shown["data_docs"]["url"] == "/weir/data_docs/zoo/index.html"
    (name,) = [
        one for one in shown["dagster/column_lineage"]["lineage"] if one["columnName"] == "name"
    ]
    assert {(*one["assetKey"]["path"], one["columnName"]) for one in name["columnDeps"]} == {
        ("silver", "zoo", "zoo_silver", "after"),
        ("silver", "zoo", "zoo_silver", "effect"),
    }
    ended_by(signal.SIGTERM, server, number)


def test_where_its_process_is_killed_nothing_is_left(ui: tuple[Server, int]) -> None:
    ended_by(signal.SIGKILL, *ui)


def ended_by(number: signal.Signals, server: Server, process: int) -> None:
    """Send the process that was started a signal; ten seconds later none of its session is left."""
    port = urlsplit(server.url).port
    assert port in of_session(process)
    assert len(in_session(process)) >= 5
    os.kill(process, number)
    deadline = time.monotonic() + SECONDS
    while in_session(process) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert in_session(process) == []
    assert of_session(process) == {}


def in_session(session: int) -> list[str]:
    """The processes of a session that run: names, and numbers."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = status.read_text().rpartition(") ")
        except OSError:
            continue
        state, _, _, of_session, *_ = rest.split()
        if int(of_session) == session and state != "Z":
            found.append(name)
    return found
