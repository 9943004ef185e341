"""A real Spark cluster for tests: pyspark's own standalone master and workers, each a process on loopback.

The workers' Python is the first of its version on the path that is not this environment's, so that tasks find Weir and
its packages only if these reach them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyspark

from tests.services.kafka import free_ports
from tests.services.server_process import PATIENCE

HOST: Final = "127.0.0.1"
HOME: Final = Path(pyspark.__file__).parent


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker of one core: the process, and what its folder holds of the executors that it starts."""

    process: subprocess.Popen[bytes]
    folder: Path

    def kill(self) -> None:
        """Kill it and its executors, as a host that goes away."""
        # Executors are processes of its group.
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass(slots=True)
class Cluster:
    """A master and its workers."""

    folder: Path
    port: int
    page: int
    environment: Mapping[str, str]
    settings: Mapping[str, str]
    """What a session needs in its environment to be let in."""
    workers: list[Worker] = field(default_factory=list)

    @property
    def master(self) -> str:
        """The address for ``WEIR_SPARK_MASTER``."""
        return f"spark://{HOST}:{self.port}"

    def state(self) -> dict[str, Any]:
        """What the master says of its workers and applications."""
        with urllib.request.urlopen(f"http://{HOST}:{self.page}/json/", timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def alive(self) -> int:
        """How many workers the master has."""
        with suppress(OSError, json.JSONDecodeError):
            return sum(worker["state"] == "ALIVE" for worker in self.state()["workers"])
        return 0

    def add_worker(self, memory: str = "1g") -> Worker:
        """Start one more worker of one core, and wait until the master has it."""
        number, before = len(self.workers) + 1, self.alive()
        folder = self.folder / f"worker-{number}"
        folder.mkdir()
        process = _start(
            *("org.apache.spark.deploy.worker.Worker", "--host", HOST, "--webui-port", "0"),
            *("--cores", "1", "--memory", memory, "--work-dir", str(folder), self.master),
            log=self.folder / f"worker-{number}.log",
            environment=self.environment,
        )
        worker = Worker(process, folder)
        self.workers.append(worker)
        wait(lambda: self.alive() > before, f"{folder} did not reach its master")
        return worker


@contextmanager
def running_cluster(
    folder: Path,
    environment: Mapping[str, str],
    workers: int = 2,
    memory: str = "1g",
    conf: Mapping[str, str] | None = None,
) -> Iterator[Cluster]:
    """A cluster whose workers have this in their environment (credentials of a store, say); ended with all of it.

    ``conf``: Spark's own settings, of the master, the workers and every session that has the cluster's ``settings``.
    """
    port, page = free_ports(2)
    settings = _configured(folder / "conf", conf) if conf else {}
    host = {**_environment_of_a_host(environment), **settings}
    cluster = Cluster(folder, port, page, host, settings)
    master = _start(
        *("org.apache.spark.deploy.master.Master", "--host", HOST),
        *("--port", str(port), "--webui-port", str(page)),
        log=folder / "master.log",
        environment=cluster.environment,
    )
    try:
        wait(lambda: _answers(cluster), f"the master did not start: see {folder / 'master.log'}")
        for _ in range(workers):
            cluster.add_worker(memory)
        yield cluster
    finally:
        for worker in cluster.workers:
            worker.kill()
        with suppress(ProcessLookupError):
            os.killpg(master.pid, signal.SIGKILL)
        master.wait()


def _configured(folder: Path, conf: Mapping[str, str]) -> dict[str, str]:
    folder.mkdir()
    lines = [f"{name} {value}\n" for name, value in conf.items()]
    (folder / "spark-defaults.conf").write_text("".join(lines))
    return {"SPARK_CONF_DIR": str(folder)}


def wait(until: Any, otherwise: str, seconds: float = PATIENCE) -> None:
    """Wait until it is so; raises AssertionError with the words ``otherwise``."""
    deadline = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.2)


def _answers(cluster: Cluster) -> bool:
    # A master's page answers before the parts behind it do: with an empty body then.
    with suppress(OSError, json.JSONDecodeError):
        return bool(cluster.state()["status"] == "ALIVE")
    return False


def _environment_of_a_host(more: Mapping[str, str]) -> dict[str, str]:
    """That of a host of its own: this environment's folder is not on its path, and nothing names Weir."""
    own = re.compile("WEIR_|PYTHON|PYSPARK_|SPARK_|DAGSTER_|VIRTUAL_ENV|AWS_")
    kept = {name: value for name, value in os.environ.items() if not own.match(name)}
    here = Path(sys.executable).parent
    folders = [one for one in kept.get("PATH", "").split(os.pathsep) if Path(one) != here]
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    found = shutil.which(version, path=os.pathsep.join(folders))
    assert found is not None, f"no {version} on the path besides the tests' own"
    java = {"JAVA_HOME": os.environ["JAVA_HOME"]} if "JAVA_HOME" in os.environ else {}
    spark = {"SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": HOST, "SPARK_NO_DAEMONIZE": "1"}
    return {**kept, **java, **spark, "PATH": os.pathsep.join(folders), **more}


def _start(*words: str, log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            [str(HOME / "bin" / "spark-class"), *words],
            env=dict(environment),
            cwd=log.parent,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
