"""A web server of Dagster's on a free port, guarded or not, in a home of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.journeys.server import end
from tests.services.kafka import free_ports
from tests.services.server_process import PATIENCE

GUARDED, UNGUARDED = "orchestration.web.pages", "dagster_webserver"


@contextmanager
def pages_of(module: str, home: Path, *options: str, hosts: str = "") -> Iterator[int]:
    """The port of the web server that ``python -m <module>`` starts with these options."""
    root = Path(__file__).resolve().parents[3]
    home.mkdir(exist_ok=True)
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    (port,) = free_ports(1)
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(home),
        "PYTHONPATH": str(root),
        "WEIR_UI_HOSTS": hosts,
        "WEIR_FEEDS": str(home / "feeds"),
        "WEIR_WAREHOUSE": str(home / "warehouse"),
    }
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", module, "-p", f"{port}", *options],
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while not _answers(port):
            said = (home / "log").read_text(errors="replace")[-3000:]
            assert process.poll() is None, said
            assert time.monotonic() < deadline, said
            time.sleep(0.3)
        yield port
    finally:
        end(process)


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/server_info", timeout=5):
            return True
    except OSError:
        return False
