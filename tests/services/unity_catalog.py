"""Unity Catalog's open server for tests, where somebody has built one: on loopback, its database in a folder that goes.

No repository of jars has it, so that tests use it on request alone: ``WEIR_UNITY_CATALOG`` names the file of the class
path that its build writes (``server/target/classpath``). docs/catalogues.md says how it is built.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from orchestration.spark.java import find_java
from tests.services.kafka import JVM, free_ports
from tests.services.seen_tables import SeenTable

SERVER = "WEIR_UNITY_CATALOG"
CATALOG = "main"
SETTINGS = """\
server.env=dev
server.authorization=disable
"""
# As the server's own etc/conf/hibernate.properties, with the database in the folder.
DATABASE = """\
hibernate.connection.driver_class=org.h2.Driver
hibernate.connection.url=jdbc:h2:file:./etc/db/h2db;DB_CLOSE_DELAY=-1
hibernate.hbm2ddl.auto=update
"""


@dataclass(slots=True)
class UnityServer:
    """A server in its folder, running or not."""

    folder: Path
    classpath: str
    port: int
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def setting(self) -> str:
        """What ``WEIR_CATALOGUES`` says of it."""
        return f"unity+{self.address}/{CATALOG}"

    def start(self) -> None:
        """Start it, wait until it answers, and make the catalog where it is missing."""
        log = self.folder / "server.log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [
                    *(str(find_java().program), "-Xmx512m", *JVM, "-cp", self.classpath),
                    *("io.unitycatalog.server.UnityCatalogServer", "-p", str(self.port)),
                ],
                cwd=self.folder,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + 180
        while True:
            try:
                if self.ask("GET", "/catalogs").status_code == 200:
                    break
            except requests.RequestException:
                pass
            if self._process.poll() is not None or time.monotonic() > deadline:
                tail = log.read_text(errors="replace")[-3000:]
                raise RuntimeError(f"Unity Catalog did not start\n{tail}")
            time.sleep(0.2)
        if self.ask("GET", f"/catalogs/{CATALOG}").status_code != 200:
            self.ask("POST", "/catalogs", {"name": CATALOG}).raise_for_status()

    def ask(self, method: str, path: str, body: Any = None) -> requests.Response:
        """Ask its REST interface."""
        url = f"{self.address}/api/2.1/unity-catalog{path}"
        return requests.request(method, url, json=body, timeout=60)

    def table(self, schema: str, name: str) -> SeenTable:
        """What it says of a table."""
        answer = self.ask("GET", f"/tables/{CATALOG}.{schema}.{name}")
        answer.raise_for_status()
        found = answer.json()
        assert (found["table_type"], found["data_source_format"]) == ("EXTERNAL", "DELTA")
        columns = sorted(found["columns"], key=lambda one: int(one["position"]))
        return SeenTable(
            location=found["storage_location"],
            comment=found["comment"],
            columns=[(one["name"], one["type_text"], one.get("comment") or "") for one in columns],
            properties=found["properties"],
            key=None,
            changed_at=f"{found['table_id']} {found['updated_at']}",
        )

    def set_property(self, schema: str, name: str, key: str, value: str) -> None:
        """What a person does who notes something of a table: this server has no other way."""
        full = f"/tables/{CATALOG}.{schema}.{name}"
        found = self.ask("GET", full).json()
        self.ask("DELETE", full).raise_for_status()
        found["properties"][key] = value
        self.ask("POST", "/tables", found).raise_for_status()

    def stop(self) -> None:
        """End it, if it runs; what it holds stays in the folder."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


@contextmanager
def running_unity(folder: Path, classpath: Path) -> Iterator[UnityServer]:
    """A server that keeps everything in the folder."""
    (port,) = free_ports(1)
    (folder / "etc/conf").mkdir(parents=True)
    (folder / "etc/conf/server.properties").write_text(SETTINGS)
    (folder / "etc/conf/hibernate.properties").write_text(DATABASE)
    server = UnityServer(folder, classpath.read_text().strip(), port)
    server.start()
    try:
        yield server
    finally:
        server.stop()
