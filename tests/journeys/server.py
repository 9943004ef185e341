"""Dagster as `make ui` starts it, on a free port: web pages, daemon and a code location over a small feed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_SECONDS = 180
LAUNCH = """
mutation Launch($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
  }
}
"""
"""Asks the pages for a backfill, as their dialog does."""
STATE = """
query State($id: String!) {
  partitionBackfillOrError(backfillId: $id) {
    ... on PartitionBackfill { status error { message } }
  }
  runsOrError(filter: {tags: [{key: "dagster/backfill", value: $id}]}) {
    ... on Runs { results { runId status tags { key value } } }
  }
}
"""
BACKFILL_SECONDS = 420


@dataclass(frozen=True)
class Backfill:
    """A backfill that is over: its state and its runs, as GraphQL gives them."""

    server: Server
    status: str
    runs: list[Any]


@dataclass(frozen=True)
class Server:
    """One running `dagster dev`."""

    url: str
    home: Path
    warehouse: Path
    log: Path

    @property
    def said(self) -> str:
        """The end of what the server printed."""
        return self.log.read_text(errors="replace")[-3000:]

    def ask(self, query: str, **variables: object) -> Any:
        """What GraphQL answers; errors of the query itself raise."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"{self.url}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            answer = json.load(response)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    def backfilled(self, assets: Iterable[Sequence[str]], *windows: str) -> Backfill:
        """Launch these windows of these assets as the button on the asset graph does, and wait for the daemon."""
        params = {
            "assetSelection": [{"path": [*path]} for path in assets],
            "partitionNames": [*windows],
        }
        launched = self.ask(LAUNCH, params=params)["launchPartitionBackfill"]
        assert launched["__typename"] == "LaunchBackfillSuccess", launched
        deadline = time.monotonic() + BACKFILL_SECONDS
        while True:
            state = self.ask(STATE, id=launched["backfillId"])
            status = state["partitionBackfillOrError"]["status"]
            if status.startswith("COMPLETED") or status in ("FAILED", "CANCELED"):
                return Backfill(self, status, state["runsOrError"]["results"])
            assert time.monotonic() < deadline, f"{state}\n{self.said}"
            time.sleep(2)


READY = """
{
  workspaceOrError { ... on Workspace { locationEntries { loadStatus locationOrLoadError { __typename } } } }
  instance { daemonHealth { allDaemonStatuses { daemonType required healthy } } }
}
"""


def is_ready(server: Server) -> bool:
    """True once the code location is loaded and every daemon lives."""
    try:
        state = server.ask(READY)
    except OSError:
        return False
    entries = state["workspaceOrError"].get("locationEntries", [])
    daemons = state["instance"]["daemonHealth"]["allDaemonStatuses"]
    return (
        bool(entries)
        and all(entry["loadStatus"] == "LOADED" for entry in entries)
        and all(
            (entry["locationOrLoadError"] or {}).get("__typename") == "RepositoryLocation"
            for entry in entries
        )
        and all(daemon["healthy"] for daemon in daemons if daemon["required"])
    )


@contextlib.contextmanager
def running(root: Path, folder: Path, environment: Mapping[str, str]) -> Iterator[Server]:
    """Start it, wait until it is ready, and end it with everything that it started."""
    home = folder / "dagster"
    home.mkdir(exist_ok=True)
    port = free_port()
    url, log = f"http://127.0.0.1:{port}", folder / "dagster.log"
    server = Server(url, home, Path(environment["WEIR_WAREHOUSE"]), log)
    words = ["make", "ui", f"PORT={port}"]
    given = {**os.environ, "DAGSTER_HOME": str(home), **environment}
    with started(words, root, given, log) as process:
        wait_for(server, process)
        yield server


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextlib.contextmanager
def started(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Type a command in a folder; at the end all of its session is ended."""
    with log.open("wb") as written:
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        end(process)


def wait_for(server: Server, process: subprocess.Popen[bytes]) -> None:
    """Until pages, daemon and code location are there."""
    deadline = time.monotonic() + START_SECONDS
    while not is_ready(server):
        assert process.poll() is None, f"dagster dev ended:\n{server.said}"
        assert time.monotonic() < deadline, f"dagster dev is not ready:\n{server.said}"
        time.sleep(1)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask the whole group to end, and make it end."""
    for number, patience in ((signal.SIGTERM, 20), (signal.SIGKILL, 10)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=patience)
        deadline = time.monotonic() + patience
        while is_alive(process.pid) and time.monotonic() < deadline:
            time.sleep(0.2)


def is_alive(group: int) -> bool:
    """True while any process of the group runs."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
