"""A real S3 server for tests: SeaweedFS in one process, on loopback, in a folder that is thrown away."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest
from botocore.client import Config
from botocore.exceptions import BotoCoreError, ClientError

from tests.services.server_process import PATIENCE

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

ACCESS_KEY = "testkey"
SECRET_KEY = "testsecret123"
ACTIONS = ["Admin", "Read", "Write", "List", "Tagging"]

# Every HTTP port brings a gRPC port 10000 above it, and the kernel hands out ports from 32768 on.
LOWEST_PORT, HIGHEST_PORT = 12000, 22000
GRPC = 10000


@dataclass(frozen=True, slots=True)
class Store:
    """A running S3 server; ``metrics``: where it counts the requests that it gets."""

    endpoint: str
    metrics: str

    def environment(self) -> dict[str, str]:
        """The variables by which a client finds the store and may use it."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def client(self) -> S3Client:
        """A client that needs no variables."""
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            region_name="us-east-1",
            config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
        )

    def put(self, bucket: str, objects: Mapping[str, bytes]) -> None:
        """Create the bucket and put the objects, by key."""
        client = self.client()
        with suppress(client.exceptions.BucketAlreadyOwnedByYou):
            client.create_bucket(Bucket=bucket)
        for key, body in objects.items():
            client.put_object(Bucket=bucket, Key=key, Body=body)


@contextmanager
def running_store(folder: Path) -> Iterator[Store]:
    """A store that keeps its data in the folder and is killed at the end: asked to stop, it takes 15 s."""
    config = folder / "s3.json"
    credentials = [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}]
    identity = {"name": "admin", "credentials": credentials, "actions": ACTIONS}
    config.write_text(json.dumps({"identities": [identity]}))
    data = folder / "data"
    data.mkdir()
    master, volume, filer, s3, metrics = _free_ports(5)
    command = [
        *(str(Path(sys.executable).with_name("weed")), "server", f"-dir={data}"),
        *("-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-metricsPort={metrics}"),
        *(f"-master.port={master}", "-master.electionTimeout=1s", "-master.telemetry=false"),
        "-master.volumeSizeLimitMB=64",
        *(f"-volume.port={volume}", "-volume.max=0", "-volume.preStopSeconds=0"),
        *("-filer", f"-filer.port={filer}", f"-filer.localSocket={folder / 'filer.sock'}"),
        *("-s3", f"-s3.port={s3}", f"-s3.config={config}", "-s3.iam=false"),
        # Both would listen on ports of their own, and two stores on one machine would clash.
        *("-s3.port.iceberg=0", "-s3.port.lance=0"),
    ]
    log = folder / "weed.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "WEED_MASTER_VOLUME_GROWTH_COPY_1": "1"},
            start_new_session=True,
        )
    try:
        store = Store(f"http://127.0.0.1:{s3}", f"http://127.0.0.1:{metrics}/metrics")
        _wait_until_writable(store, server, log)
        yield store
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def _wait_until_writable(store: Store, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            store.put("ready", {"ready": b"ready"})
            return
        except (BotoCoreError, ClientError) as error:
            if server.poll() is not None or time.monotonic() > deadline:
                tail = log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"SeaweedFS did not start: {error}\n{tail}") from error
            time.sleep(0.2)


def _free_ports(count: int) -> list[int]:
    ports: list[int] = []
    while len(ports) < count:
        port = random.randrange(LOWEST_PORT, HIGHEST_PORT)
        if port not in ports and _is_free(port) and _is_free(port + GRPC):
            ports.append(port)
    return ports


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with running_store(tmp_path_factory.mktemp("seaweed")) as running:
        yield running
