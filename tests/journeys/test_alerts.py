"""Somebody is told: the daemon of `make ui` runs a window in which a check fails, and a web server gets one message."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.server import Server, running
from tests.services.receiver import Receiver, running_receiver
from tests.support.pet_feed import change, drop, lay

pytestmark = pytest.mark.journey

SECONDS = 420
WINDOW = "2025-11-20T03"
FEED = """\
format: arcion_s3_json
landing: ../drops
checks: {nothing_quarantined: {severity: fail}}
tables: {pets: {key: [id], columns: {id: int, name: string}}}
"""
ASSETS = (
    ("bronze", "zoo", "zoo_bronze"),
    ("silver", "zoo", "zoo_silver"),
    ("quarantine", "zoo", "zoo_quarantine"),
    ("gold", "zoo", "pets"),
)
TICKS = """
{
  sensorOrError(sensorSelector: {
    repositoryName: "__repository__", repositoryLocationName: "weir", sensorName: "weir_alerts"
  }) {
    ... on Sensor { sensorState { status ticks(limit: 20) { status skipReason error { message } } } }
  }
}
"""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as running:
        yield running


@pytest.fixture
def server(tmp_path: Path, root: Path, receiver: Receiver) -> Iterator[Server]:
    """Dagster over a feed with a record that cannot be read, and with somebody to be told."""
    lay(tmp_path, "feeds/zoo.yaml", FEED.encode())
    line = change("I", 1, after={"id": "1", "name": "Ada"})
    lay(tmp_path, "drops/2025-11-20/03/a.json", drop(line, "{"))
    environment = {
        "WEIR_FEEDS": str(tmp_path / "feeds"),
        "WEIR_WAREHOUSE": str(tmp_path / "warehouse"),
        "WEIR_SPARK_DRIVER_MEMORY": "1g",
        "WEIR_ALERTS": receiver.url,
        "WEIR_UI_URL": "https://dagster.example",
    }
    with running(root, tmp_path, environment) as dagster:
        yield dagster


def ticks(server: Server) -> list[Any]:
    """The sensor's ticks that are over, the newest first; it has to be on by itself."""
    state = server.ask(TICKS)["sensorOrError"]["sensorState"]
    assert state["status"] == "RUNNING"
    return [tick for tick in state["ticks"] if tick["status"] != "STARTED"]


def wait_for_ticks(server: Server, number: int) -> list[Any]:
    """The ticks, as soon as there are so many."""
    deadline = time.monotonic() + SECONDS
    while len(found := ticks(server)) < number:
        assert time.monotonic() < deadline, f"{found}\n{server.said}"
        time.sleep(1)
    return found


def test_one_message_tells_of_a_run_that_the_daemon_has_run(
    server: Server, receiver: Receiver
) -> None:
    # What ended before the sensor's first look is nobody's business any more.
    wait_for_ticks(server, 1)
    (run,) = server.backfilled(ASSETS, WINDOW).runs
    # The tick that tells of it, and one more, which has nothing to tell.
    found = wait_for_ticks(server, len(ticks(server)) + 2)
    assert [tick["error"] for tick in found] == [None] * len(found)
    assert [tick["skipReason"] for tick in found].count("1 message sent") == 1

    (message,) = receiver.posted
    assert message["weir"]["key"] == run["runId"]
    assert message["weir"]["subject"] == f"Weir: zoo ({WINDOW}): check failed: nothing_quarantined"
    (check,) = message["weir"]["checks"]
    assert (check["asset"], check["severity"]) == ("silver.zoo", "failed")
    assert "weir quarantine list zoo" in message["text"]
    assert message["text"].endswith(f"The run: https://dagster.example/runs/{run['runId']}")
