"""Debezium in Kafka Connect for tests: one standalone process that reads a database and writes to a broker."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from orchestration.spark.java import find_java
from tests.services.ivy import Module, classpath, fetched
from tests.services.kafka import JVM, Broker, free_ports
from tests.services.kafka import VERSION as KAFKA
from tests.services.mariadb import PASSWORD as MARIADB_PASSWORD
from tests.services.mariadb import USER as MARIADB_USER
from tests.services.mariadb import MariaDb
from tests.services.postgres import DATABASE, USER, Postgres
from tests.services.server_process import PATIENCE


class Release(NamedTuple):
    """A connector's release, and the digest of its jars with all that they need."""

    folder: str
    module: str
    version: str
    sha256: str

    @property
    def modules(self) -> tuple[Module, ...]:
        """Those of Connect and of the connector."""
        return (
            Module("org.apache.kafka", "connect-runtime", KAFKA),
            Module("org.apache.kafka", "connect-json", KAFKA),
            Module("io.debezium", self.module, self.version),
            Module("org.slf4j", "slf4j-simple", "1.7.36"),
        )

    def jars(self) -> list[Path]:
        """All jars that it needs, fetched once."""
        return fetched(self.folder, self.modules, self.sha256)


POSTGRES = Release(
    "debezium-3.3.1.Final",
    "debezium-connector-postgres",
    "3.3.1.Final",
    "db64e219000e877e734f8aa42bf580b8f6acb01a4768ddfaa83a3f00b4e1ac6b",
)
MARIADB = {
    version: Release(f"debezium-mariadb-{version}", "debezium-connector-mariadb", version, sha256)
    for version, sha256 in (
        ("3.3.0.Final", "8992338da72a75bf4e11bf8dc6bcc65fad7566c7a073648c03dcead77080e901"),
        ("3.5.0.Final", "c1b9c4a6ab2b59bb2d474d89cfe7bf702583edb91e9d2a3b888518111c053cb5"),
    )
}

CONVERTER = "org.apache.kafka.connect.json.JsonConverter"


@dataclass(frozen=True, slots=True)
class Connector:
    """A connector that runs, and what its process says: in its log, from ``since`` on."""

    process: subprocess.Popen[bytes]
    log: Path
    since: int = 0

    def check(self) -> None:
        """Raise where it has ended, or its task has failed."""
        said = self.log.read_text()[self.since :]
        failed = "Task threw an uncaught" in said
        if failed or self.process.poll() is not None:
            raise RuntimeError(f"Debezium ended:\n{said[-3000:]}")


def running_connector(
    folder: Path, broker: Broker, postgres: Postgres, settings: Mapping[str, str]
) -> AbstractContextManager[Connector]:
    """Debezium's connector for Postgres; ``settings`` are its own, such as ``topic.prefix``."""
    connector = {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "plugin.name": "pgoutput",
        "database.port": str(postgres.port),
        "database.user": USER,
        "database.password": "trusted",
        "database.dbname": DATABASE,
    }
    return _running(folder, broker, POSTGRES, {**connector, **settings})


def running_mariadb_connector(
    folder: Path, broker: Broker, mariadb: MariaDb, release: Release, settings: Mapping[str, str]
) -> AbstractContextManager[Connector]:
    """Debezium's connector for MariaDB, which keeps the history of the schema in the folder, too."""
    connector = {
        "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
        "database.port": str(mariadb.port),
        "database.user": MARIADB_USER,
        "database.password": MARIADB_PASSWORD,
        "database.server.id": "5701",
        "database.ssl.mode": "disable",
        "schema.history.internal": "io.debezium.storage.file.history.FileSchemaHistory",
        "schema.history.internal.file.filename": str(folder / "history"),
    }
    return _running(folder, broker, release, {**connector, **settings})


@contextmanager
def _running(
    folder: Path, broker: Broker, release: Release, settings: Mapping[str, str]
) -> Iterator[Connector]:
    """A connector whose offsets are in the folder: started again there, it goes on where it was."""
    rest = free_ports(1)[0]
    worker = {
        "bootstrap.servers": broker.address,
        "key.converter": CONVERTER,
        "value.converter": CONVERTER,
        "offset.storage.file.filename": str(folder / "offsets"),
        "offset.flush.interval.ms": "500",
        "plugin.discovery": "service_load",
        "listeners": f"HTTP://127.0.0.1:{rest}",
    }
    connector = {
        "name": "weir",
        "tasks.max": "1",
        "database.hostname": "127.0.0.1",
        "topic.creation.default.replication.factor": "1",
        "topic.creation.default.partitions": "1",
        **settings,
    }
    for name, content in (("worker", worker), ("connector", connector)):
        lines = "".join(f"{key}={value}\n" for key, value in content.items())
        (folder / f"{name}.properties").write_text(lines)
    log = folder / "connect.log"
    said_before = len(log.read_text()) if log.exists() else 0
    with log.open("ab") as output:
        process = subprocess.Popen(
            [
                *(str(find_java().program), "-Xmx256m", *JVM, "-cp", classpath(release.jars())),
                "org.apache.kafka.connect.cli.ConnectStandalone",
                *(str(folder / "worker.properties"), str(folder / "connector.properties")),
            ],
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            start_new_session=True,
        )
    try:
        yield Connector(process, log, said_before)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)


def wait_until(is_there: Callable[[], bool], connector: Connector) -> None:
    """Wait for what the connector is to bring; a busy machine takes its time to start it."""
    deadline = time.monotonic() + PATIENCE
    while not is_there():
        connector.check()
        if time.monotonic() > deadline:
            raise RuntimeError(f"nothing came:\n{connector.log.read_text()[-3000:]}")
        time.sleep(0.5)
