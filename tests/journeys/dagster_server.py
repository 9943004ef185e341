"""A real ``dagster dev``: webserver, daemon and code server, as `make ui` starts them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
LOCATION_LOADED = """
{ workspaceOrError { ... on Workspace { locationEntries { name loadStatus locationOrLoadError {
    ... on PythonError { message } } } } }
  instance { daemonHealth { allDaemonStatuses { required healthy daemonType } } } }
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server, and the folder of its instance."""

    address: str
    home: Path

    def ask(self, query: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The data that a GraphQL query gives."""
        body = json.dumps({"query": query, "variables": dict(variables or {})}).encode()
        request = urllib.request.Request(
            f"{self.address}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            answer = json.load(response)
        assert not answer.get("errors"), answer["errors"]
        data: dict[str, Any] = answer["data"]
        return data


@contextmanager
def running(folder: Path, feeds: Path, warehouse: Path) -> Iterator[Server]:
    """Start the server over these feeds and stop it with everything that it started."""
    home = folder / "dagster_home"
    home.mkdir()
    shutil.copyfile(ROOT / "dagster.yaml", home / "dagster.yaml")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "DAGSTER_HOME": str(home),
        "WEIR_FEEDS": str(feeds),
        "WEIR_WAREHOUSE": str(warehouse),
        "WEIR_SPARK_DRIVER_MEMORY": "1g",
    }
    dagster = str(Path(sys.executable).parent / "dagster")
    command = [
        dagster,
        "dev",
        "-w",
        str(ROOT / "workspace.yaml"),
        "-h",
        "127.0.0.1",
        "-p",
        str(port),
    ]
    with (folder / "dagster.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            server = Server(f"http://127.0.0.1:{port}", home)
            until(
                lambda: is_ready(server), 180, lambda: (folder / "dagster.log").read_text()[-3000:]
            )
            yield server
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(20)


def is_ready(server: Server) -> bool:
    """True once the code is loaded and every daemon is well."""
    try:
        state = server.ask(LOCATION_LOADED)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
    entries = state["workspaceOrError"].get("locationEntries", [])
    daemons = state["instance"]["daemonHealth"]["allDaemonStatuses"]
    loaded = bool(entries) and all(entry["loadStatus"] == "LOADED" for entry in entries)
    return loaded and all(daemon["healthy"] for daemon in daemons if daemon["required"])


def until(holds: Callable[[], bool], seconds: float, told: Callable[[], str]) -> None:
    """Wait for something, and say what there was where it does not come."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds} s:\n{told()}"
        time.sleep(1)
