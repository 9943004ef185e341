"""Debezium in Kafka Connect for tests: one standalone process that reads a Postgres and writes to a broker."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from orchestration.spark.java import find_java
from tests.services.ivy import Module, classpath, fetched
from tests.services.kafka import JVM, Broker, free_ports
from tests.services.kafka import VERSION as KAFKA
from tests.services.postgres import DATABASE, USER, Postgres

VERSION = "3.3.1.Final"
MODULES = (
    Module("org.apache.kafka", "connect-runtime", KAFKA),
    Module("org.apache.kafka", "connect-json", KAFKA),
    Module("io.debezium", "debezium-connector-postgres", VERSION),
    Module("org.slf4j", "slf4j-simple", "1.7.36"),
)
SHA256 = "db64e219000e877e734f8aa42bf580b8f6acb01a4768ddfaa83a3f00b4e1ac6b"

CONVERTER = "org.apache.kafka.connect.json.JsonConverter"


@dataclass(frozen=True, slots=True)
class Connector:
    """A connector that runs, and what its process says."""

    process: subprocess.Popen[bytes]
    log: Path

    def check(self) -> None:
        """Raise where it has ended, or its task has failed."""
        said = self.log.read_text()
        failed = "Task threw an uncaught" in said
        if failed or self.process.poll() is not None:
            raise RuntimeError(f"Debezium ended:\n{said[-3000:]}")


@contextmanager
def running_connector(
    folder: Path, broker: Broker, postgres: Postgres, settings: Mapping[str, str]
) -> Iterator[Connector]:
    """Debezium's connector for Postgres; ``settings`` are its own, such as ``topic.prefix``.

    Its offsets are in the folder: started again there, it goes on where it was.
    """
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
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "tasks.max": "1",
        "plugin.name": "pgoutput",
        "database.hostname": "127.0.0.1",
        "database.port": str(postgres.port),
        "database.user": USER,
        "database.password": "trusted",
        "database.dbname": DATABASE,
        "topic.creation.default.replication.factor": "1",
        "topic.creation.default.partitions": "1",
        **settings,
    }
    for name, content in (("worker", worker), ("connector", connector)):
        lines = "".join(f"{key}={value}\n" for key, value in content.items())
        (folder / f"{name}.properties").write_text(lines)
    jars = fetched(f"debezium-{VERSION}", MODULES, SHA256)
    log = folder / "connect.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            [
                *(str(find_java().program), "-Xmx256m", *JVM, "-cp", classpath(jars)),
                "org.apache.kafka.connect.cli.ConnectStandalone",
                *(str(folder / "worker.properties"), str(folder / "connector.properties")),
            ],
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            start_new_session=True,
        )
    try:
        yield Connector(process, log)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)


def wait_until(is_there: Callable[[], bool], connector: Connector, seconds: float = 240) -> None:
    """Wait for what the connector is to bring; a busy machine takes its time to start it."""
    deadline = time.monotonic() + seconds
    while not is_there():
        connector.check()
        if time.monotonic() > deadline:
            raise RuntimeError(f"nothing came:\n{connector.log.read_text()[-3000:]}")
        time.sleep(0.5)
