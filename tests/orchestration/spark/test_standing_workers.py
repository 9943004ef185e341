"""A Python worker that neither takes nor gives anything is ended; where Spark tries twice, its task is done again."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import pytest

from orchestration.spark import settings
from orchestration.spark.settings import session_config

pytestmark = pytest.mark.journey

# In a process of its own: the setting concerns all of a session.
SCRIPT = """
import os, time
from pyspark import TaskContext
from assets.executors.spark_errors import raise_clearly
from orchestration.spark.session import WeirSpark
from orchestration.spark.settings import session_config

def stage(batches):
    for batch in batches:
        if TaskContext.get().attemptNumber() == 0:
            time.sleep(3_600)
        yield batch

settings = session_config(os.environ)
settings["spark.python.worker.idleTimeoutSeconds"] = "5"
spark = WeirSpark(spark_config=settings).spark_session
with raise_clearly():
    print(spark.range(7).coalesce(1).mapInArrow(stage, "id long").count())
"""


SOCKETS = """
import os, stat
from pathlib import Path
import pyarrow as pa
from orchestration.spark.session import WeirSpark
from orchestration.spark.settings import session_config
from orchestration.spark.settings import SOCKETS

def held(batches):
    for _ in batches:
        folder = Path("/proc/self/fd")
        open_now = [os.readlink(one) for one in folder.iterdir() if os.path.lexists(one)]
        known = {kind: Path("/proc/net", kind).read_text().split() for kind in ("unix", "tcp", "tcp6")}
        kinds = {kind for kind, lines in known.items() for one in open_now if one[8:-1] in lines}
        yield pa.RecordBatch.from_pydict({"kind": sorted(kinds)})

spark = WeirSpark(spark_config=session_config(os.environ)).spark_session
print([one["kind"] for one in spark.range(1).mapInArrow(held, "kind string").collect()])
folder = Path(spark.conf.get(SOCKETS))
print(folder, oct(stat.S_IMODE(folder.stat().st_mode)), len([*folder.iterdir()]) > 0)
"""


def run(master: str, script: str = SCRIPT) -> subprocess.CompletedProcess[str]:
    """The script in a session of this master."""
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).resolve().parents[3],
        env={**os.environ, "WEIR_SPARK_MASTER": master, "WEIR_SPARK_DRIVER_MEMORY": "1g"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_task_whose_worker_stands_still_is_done_again() -> None:
    ended = run("local[1,2]")
    assert ended.stdout.splitlines()[-1:] == ["7"], ended.stderr[-3000:]


def test_where_spark_tries_once_the_run_ends_and_says_why() -> None:
    ended = run("local[1]")
    assert ended.returncode != 0
    assert "WorkerStill: a Python worker of Spark's stood still for half an hour" in ended.stderr


def test_every_session_ends_workers_that_stand_still() -> None:
    for master in ("local[*]", "spark://master.example:7077"):
        settings = session_config({"WEIR_SPARK_MASTER": master})
        assert settings["spark.python.worker.killOnIdleTimeout"] == "true"
        # As the error says.
        assert settings["spark.python.worker.idleTimeoutSeconds"] == str(30 * 60)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells of sockets")
def test_java_and_its_workers_talk_by_sockets_that_nobody_else_reaches() -> None:
    ended = run("local[1]", SOCKETS)
    assert ended.returncode == 0, ended.stderr[-3000:]
    kinds, folder = ended.stdout.splitlines()[-2:]
    assert kinds == "['unix']"
    name, mode, has_sockets = folder.rsplit(" ", 2)
    assert (mode, has_sockets) == ("0o700", "True")
    assert not Path(name).exists()


@pytest.mark.parametrize(("more", "is_around"), [(0, True), (1, False)])
def test_a_socket_s_name_is_never_too_long(
    monkeypatch: pytest.MonkeyPatch, more: int, is_around: bool
) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        around = Path(folder, "x" * (settings.LONGEST + more - len(folder) - 1))
        around.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(around))
        made = Path(settings.socket_folder.__wrapped__())
        assert made.stat().st_mode & 0o777 == 0o700
        assert made.parent == (around if is_around else Path("/tmp"))
        # The longest name that macOS takes.
        assert len(str(made / f".{uuid.uuid4()}.sock")) <= 103
        made.rmdir()


def test_executors_of_yarn_have_a_short_folder_for_sockets_and_others_their_own() -> None:
    assert session_config({"WEIR_SPARK_MASTER": "yarn"})[settings.SOCKETS] == "/tmp"
    assert settings.SOCKETS not in session_config(
        {"WEIR_SPARK_MASTER": "spark://master.example:7077"}
    )
