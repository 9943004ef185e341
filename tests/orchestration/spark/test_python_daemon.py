"""Spark's daemon of Python workers as sessions start it: an idle worker whose connection ends says nothing."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from orchestration.spark.settings import session_config

ROOT = Path(__file__).resolve().parents[3]
OURS = session_config({})["spark.python.daemon.module"]
PATIENCE = 60


def said_by(module: str) -> str:
    """What the daemon prints whose only worker loses its connection before it was asked for anything."""
    # Pytest's own folders have names that are too long for a socket.
    with (
        tempfile.TemporaryDirectory(dir="/tmp") as folder,
        subprocess.Popen(
            [sys.executable, "-m", module, "pyspark.worker"],
            cwd=ROOT,
            env={
                **os.environ,
                "PYTHON_UNIX_DOMAIN_ENABLED": "true",
                "PYTHON_WORKER_FACTORY_SOCK_DIR": folder,
                "PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE": "1",
                "SPARK_REUSE_WORKER": "1",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        assert process.stdin is not None and process.stdout is not None
        (length,) = struct.unpack("!i", process.stdout.read(4))
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(process.stdout.read(length))
            (worker,) = struct.unpack("!i", connection.recv(4))
        # Its end is not the daemon's, which has to go on.
        while is_alive(worker):
            assert process.poll() is None
        return process.communicate(timeout=PATIENCE)[1].decode()


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(("module", "errors"), [("pyspark.daemon", 1), (OURS, 0)])
def test_an_idle_worker_ends_in_silence(module: str, errors: int) -> None:
    assert said_by(module).count("BrokenPipeError") == errors
