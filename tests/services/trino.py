"""A real Trino for tests, where somebody has unpacked one: one process on loopback, its catalog in a folder that goes.

Trino is some 800 MB and wants a newer Java than Spark, so that tests use it on request alone: ``WEIR_TRINO`` names
the folder of an unpacked server, and ``WEIR_TRINO_JAVA`` the home of a Java that it runs on. docs/tables.md says where
both come from. Its protocol is that of https://trino.io/docs/current/develop/client-protocol.html.
"""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from tests.services.kafka import free_ports
from tests.services.server_process import PATIENCE

SERVER, JAVA = "WEIR_TRINO", "WEIR_TRINO_JAVA"
CATALOG, SCHEMA = "weir", "gold"


@dataclass(frozen=True, slots=True)
class Trino:
    """A running server, and the warehouse whose tables it may be told of."""

    address: str
    warehouse: Path

    def ask(self, sql: str) -> list[dict[str, Any]]:
        """The rows that a statement finds, with values as Trino writes them in JSON.

        Raises:
            RuntimeError: Trino refuses the statement; the text is its own.
        """
        headers = {
            "X-Trino-User": "weir",
            "X-Trino-Time-Zone": "UTC",
            # Without it Trino shows moments to the millisecond.
            "X-Trino-Client-Capabilities": "PARAMETRIC_DATETIME",
        }
        begin = f"{self.address}/v1/statement"
        page = requests.post(begin, sql.encode(), headers=headers, timeout=60).json()
        found: list[dict[str, Any]] = []
        while True:
            if "error" in page:
                raise RuntimeError(page["error"]["message"])
            types = {one["name"]: one["type"] for one in page.get("columns") or ()}
            found += [
                {name: value(of, one) for (name, of), one in zip(types.items(), row, strict=True)}
                for row in page.get("data") or ()
            ]
            if "nextUri" not in page:
                return found
            page = requests.get(page["nextUri"], timeout=60).json()

    def read(self, path: str) -> list[dict[str, Any]]:
        """All rows of a table of the warehouse; Trino is told of the table first."""
        name = Path(path).name
        place = f"local:///{Path(path).relative_to(self.warehouse)}"
        self.ask(f"CALL {CATALOG}.system.register_table('{SCHEMA}', '{name}', '{place}')")
        return self.ask(f'SELECT * FROM {CATALOG}.{SCHEMA}."{name}"')


def value(kind: str, written: Any) -> Any:
    """A value as the other readers give it: Trino writes bytes in base 64, and moments with a blank and a zone."""
    if kind == "varbinary" and written is not None:
        return base64.b64decode(written)
    if kind.startswith("timestamp") and written is not None:
        return written.removesuffix(" UTC").replace(" ", "T")
    return written


@contextmanager
def running_trino(folder: Path, server: Path, java: Path, warehouse: Path) -> Iterator[Trino]:
    """A server that keeps everything in the folder, and sees the tables of one warehouse."""
    (port,) = free_ports(1)
    settings = _settings(folder, port, warehouse)
    for name, lines in settings.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(lines) + "\n")
    log = folder / "trino.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [server / "bin" / "launcher", "run", f"--etc-dir={folder}", f"--data-dir={folder}"],
            env={**os.environ, "JAVA_HOME": str(java), "PATH": f"{java}/bin:{os.environ['PATH']}"},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        trino = Trino(f"http://127.0.0.1:{port}", warehouse)
        _wait_until_ready(trino, process, log)
        yield trino
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _settings(folder: Path, port: int, warehouse: Path) -> Mapping[str, list[str]]:
    """Trino's configuration files, by their names: https://trino.io/docs/current/installation/deployment.html."""
    return {
        "node.properties": ["node.environment=test", f"node.data-dir={folder}"],
        "jvm.config": ["-server", "-Xmx1G", "--add-modules=jdk.incubator.vector"],
        "config.properties": [
            "coordinator=true",
            "node-scheduler.include-coordinator=true",
            f"http-server.http.port={port}",
            "node.internal-address=127.0.0.1",
            "node.bind-ip=127.0.0.1",
            f"discovery.uri=http://127.0.0.1:{port}",
        ],
        f"catalog/{CATALOG}.properties": [
            "connector.name=delta_lake",
            "hive.metastore=file",
            "hive.metastore.catalog.dir=local:///metastore",
            "fs.native-local.enabled=true",
            f"local.location={warehouse}",
            "delta.register-table-procedure.enabled=true",
        ],
    }


def _wait_until_ready(trino: Trino, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            trino.ask(f"CREATE SCHEMA {CATALOG}.{SCHEMA}")
            return
        except (requests.RequestException, RuntimeError) as error:
            if process.poll() is not None or time.monotonic() > deadline:
                tail = log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"Trino did not start: {error}\n{tail}") from error
            time.sleep(1)
