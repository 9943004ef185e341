"""What every JVM prints is left out, and nothing else is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from orchestration.spark import on_first_use

NOISY = """
import subprocess, sys, time
from orchestration.spark.on_first_use import without_notices
child = '''
import sys, time
sys.stderr.write("WARNING: Using incubator modules: jdk.incubator.vector\\\\n")
sys.stderr.write('Setting default log level to "WARN".\\\\n')
sys.stderr.write("To adjust logging level use sc.setLogLevel(newLevel).\\\\n")
sys.stderr.write("out of memory\\\\n")
sys.stderr.flush()
time.sleep(0.5)
sys.stderr.write("later\\\\n")
'''
with without_notices():
    jvm = subprocess.Popen([sys.executable, "-c", child])
print("my own", file=sys.stderr, flush=True)
jvm.wait()
time.sleep(0.5)
"""


def test_what_every_jvm_says_is_left_out_and_the_rest_is_passed_on(root: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", NOISY], cwd=root, capture_output=True, text=True, check=True
    )
    assert sorted(answer.stderr.splitlines()) == ["later", "my own", "out of memory"]


FRAMES = [
    b'  File "/x/pyspark.zip/pyspark/daemon.py", line 262, in manager\n',
    b'  File "/x/pyspark.zip/pyspark/daemon.py", line 95, in worker\n',
]
BEGIN, BROKEN = (
    b"Traceback (most recent call last):\n",
    b"BrokenPipeError: [Errno 32] Broken pipe\n",
)
END_OF_WORKER = [BEGIN, *FRAMES, BROKEN]


@pytest.mark.parametrize(
    "told",
    [
        [],
        [b"spark WARN Executor: killed\n"],
        # Errors of others are whole, those of a worker in a task, too.
        [BEGIN, b'  File "/x/mine.py", line 1, in it\n', BROKEN],
        [BEGIN, *FRAMES, b'  File "/x/mine.py", line 1, in it\n', b"ImportError: none\n"],
        [BROKEN],
    ],
)
def test_the_end_of_an_idle_worker_is_left_out_and_every_other_error_is_whole(
    told: list[bytes],
) -> None:
    lines = [*END_OF_WORKER, *told, *END_OF_WORKER, *told, BEGIN, FRAMES[0]]
    assert [*on_first_use._without_ends_of_workers(lines)] == told * 2
