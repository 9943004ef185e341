"""Unity Catalog's open server for tests, where somebody has built one: on loopback, its database in a folder that goes.

No repository of jars has it, so that tests use it on request alone: ``WEIR_UNITY_CATALOG`` names the file of the class
path that its build writes (``server/target/classpath``). docs/catalogues.md says how it is built.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from orchestration.spark.java import find_java
from tests.services.kafka import JVM, free_ports
from tests.services.seen_tables import SeenTable
from tests.services.server_process import ServerProcess

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
class UnityServer(ServerProcess):
    """A server in its folder, running or not."""

    NAME = "Unity Catalog"

    classpath: str
    port: int

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
        self.launch(
            [
                *(str(find_java().program), "-Xmx512m", *JVM, "-cp", self.classpath),
                *("io.unitycatalog.server.UnityCatalogServer", "-p", str(self.port)),
            ],
            lambda: self.ask("GET", "/catalogs").ok,
        )
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
