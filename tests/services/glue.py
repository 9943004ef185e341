"""A server that answers as AWS Glue does: moto's, in an environment of its own, on loopback; it keeps what it is told.

Amazon's own cannot be had. What moto does not judge, a test judges by botocore's description of the service.
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

import boto3
import requests

from tests.services.kafka import free_ports
from tests.services.seen_tables import SeenTable

REGION = "eu-west-1"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testkey",
    "AWS_SECRET_ACCESS_KEY": "testsecret123",
    "AWS_DEFAULT_REGION": REGION,
}


@dataclass(slots=True)
class GlueServer:
    """A server, running or not; what it holds goes with it."""

    folder: Path
    python: Path
    port: int
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def setting(self) -> str:
        """What ``WEIR_CATALOGUES`` says of it."""
        return f"glue://{REGION}"

    @property
    def environment(self) -> dict[str, str]:
        """By what boto3 finds it."""
        return {**ENVIRONMENT, "AWS_ENDPOINT_URL_GLUE": self.address}

    @property
    def glue(self) -> Any:
        """A client."""
        return boto3.client(
            "glue",
            REGION,
            endpoint_url=self.address,
            aws_access_key_id=ENVIRONMENT["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=ENVIRONMENT["AWS_SECRET_ACCESS_KEY"],
        )

    def start(self) -> None:
        """Start it, and wait until it answers."""
        log = self.folder / "glue.log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [self.python, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)],
                cwd=self.folder,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + 120
        while True:
            try:
                requests.get(f"{self.address}/moto-api/", timeout=5)
                return
            except requests.RequestException as fault:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    tail = log.read_text(errors="replace")[-3000:]
                    raise RuntimeError(f"moto did not start: {fault}\n{tail}") from fault
                time.sleep(0.2)

    def table(self, schema: str, name: str) -> SeenTable:
        """What it says of a table."""
        found = self.glue.get_table(DatabaseName=schema, Name=name)["Table"]
        assert found["TableType"] == "EXTERNAL_TABLE"
        stored = found["StorageDescriptor"]
        return SeenTable(
            location=stored["Location"],
            comment=found["Description"],
            columns=[(one["Name"], one["Type"], one["Comment"]) for one in stored["Columns"]],
            properties=found["Parameters"],
            key=None,
            changed_at=str(found["VersionId"]),
        )

    def set_property(self, schema: str, name: str, key: str, value: str) -> None:
        """What a person does who notes something of a table."""
        found = self.glue.get_table(DatabaseName=schema, Name=name)["Table"]
        known = {"Name", "Description", "TableType", "Parameters", "StorageDescriptor"}
        table = {one: found[one] for one in known}
        table["Parameters"][key] = value
        self.glue.update_table(DatabaseName=schema, TableInput=table)

    def stop(self) -> None:
        """End it, if it runs."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


@contextmanager
def running_glue(folder: Path, python: Path) -> Iterator[GlueServer]:
    """A server of the Python of an environment that has moto."""
    (port,) = free_ports(1)
    server = GlueServer(folder, python, port)
    server.start()
    try:
        yield server
    finally:
        server.stop()
