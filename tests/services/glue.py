"""A server that answers as AWS Glue does: moto's, in an environment of its own, on loopback; it keeps what it is told.

Amazon's own cannot be had. What moto does not judge, a test judges by botocore's description of the service.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import requests

from tests.services.kafka import free_ports
from tests.services.seen_tables import SeenTable
from tests.services.server_process import ServerProcess

REGION = "eu-west-1"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testkey",
    "AWS_SECRET_ACCESS_KEY": "testsecret123",
    "AWS_DEFAULT_REGION": REGION,
}


@dataclass(slots=True)
class GlueServer(ServerProcess):
    """A server, running or not; what it holds goes with it."""

    NAME = "moto"

    python: Path
    port: int

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
        self.launch(
            [self.python, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)],
            lambda: requests.get(f"{self.address}/moto-api/", timeout=5).ok,
        )

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
