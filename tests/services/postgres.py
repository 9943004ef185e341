"""A real Postgres for tests: Debian's, one process on loopback, in a folder that is thrown away."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.services.kafka import free_ports
from tests.services.server_process import PATIENCE

INSTALL = "apt-get install postgresql"
DATABASE, USER = "postgres", "weir"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "wal_level": "logical",
    "shared_buffers": "32MB",
    # The machine may well fail: the folder is thrown away then, too.
    "fsync": "off",
    "TimeZone": "UTC",
}


@dataclass(frozen=True, slots=True)
class Postgres:
    """A server in its folder."""

    folder: Path
    programs: Path
    port: int

    def run(self, sql: str) -> str:
        """What psql prints for these statements, each of which commits unless it is in a transaction."""
        answer = subprocess.run(
            [
                *(str(self.programs / "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"),
                *("-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "-d", DATABASE),
            ],
            input=sql,
            capture_output=True,
            text=True,
            check=False,
        )
        if answer.returncode != 0:
            raise RuntimeError(f"psql: {answer.stderr}")
        return answer.stdout


def programs() -> Path | None:
    """Where Debian keeps the newest Postgres; None where there is none."""
    found = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max((one.parent for one in found), key=lambda one: float(one.parent.name), default=None)


@contextmanager
def running_postgres(folder: Path, found: Path) -> Iterator[Postgres]:
    """A server that keeps its data in the folder, and is stopped at the end."""
    server = Postgres(folder, found, free_ports(1)[0])
    data = str(folder / "data")
    if os.getuid() == 0:
        # Postgres refuses to run as root.
        shutil.chown(folder, "nobody")
    options = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
    control = [str(found / "pg_ctl"), "-D", data, "-w", "-t", str(PATIENCE)]
    _run([str(found / "initdb"), "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C"])
    _run(
        [*control, "-l", f"{folder}/log", "-o", f"-p {server.port} -k {folder} {options}", "start"]
    )
    try:
        yield server
    finally:
        with suppress(RuntimeError):
            _run([*control, "-m", "immediate", "stop"])


@contextmanager
def running_replica(folder: Path, of: Postgres) -> Iterator[Postgres]:
    """A server that follows another one, and answers what only reads."""
    replica = Postgres(folder, of.programs, free_ports(1)[0])
    data = str(folder / "data")
    if os.getuid() == 0:
        shutil.chown(folder, "nobody")
    at = ["-h", "127.0.0.1", "-p", str(of.port), "-U", USER]
    _run([str(of.programs / "pg_basebackup"), *at, "-D", data, "-R", "-c", "fast"])
    control = [str(of.programs / "pg_ctl"), "-D", data, "-w"]
    _run([*control, "-l", f"{folder}/log", "-o", f"-p {replica.port} -k {folder}", "start"])
    try:
        yield replica
    finally:
        with suppress(RuntimeError):
            _run([*control, "-m", "immediate", "stop"])


def _run(command: list[str]) -> None:
    lowered = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    prefix = lowered if os.getuid() == 0 else []
    # Its server outlives pg_ctl and would hold a pipe open.
    answer = subprocess.run(
        [*prefix, *command],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if answer.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {answer.returncode}")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for all tests of this process; they skip where there is none to start."""
    found = programs()
    if found is None:
        pytest.skip(f"no Postgres on this machine; install it with: {INSTALL}")
    # Not pytest's own temporary folder, which it closes to all but its owner whenever it starts.
    with (
        tempfile.TemporaryDirectory(prefix="weir-postgres-", ignore_cleanup_errors=True) as folder,
        running_postgres(Path(folder), found) as running,
    ):
        yield running
