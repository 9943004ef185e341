"""Processes that are ended by SIGKILL at a drawn moment, each with the JVM that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240


@dataclass(frozen=True, slots=True)
class Mark:
    """A step that a life began, and when, by the clock that all processes share."""

    layer: str
    window: str
    at: float


class Life:
    """One process of ``tests.faults.worker`` or another module here; ``settings`` are in its environment besides."""

    def __init__(
        self,
        folder: Path,
        name: str,
        *arguments: str,
        module: str = "worker",
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.journal, self.log = folder / f"{name}.journal", folder / f"{name}.log"
        self.word = folder / f"{name}.go"
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("WEIR_", "PYSPARK_", "SPARK_", "DAGSTER_"))
        }
        # What a killed JVM leaves lies in the test's own folder.
        (folder / "tmp").mkdir(exist_ok=True)
        environment |= {
            "PYTHONPATH": str(ROOT),
            "SPARK_LOCAL_DIRS": str(folder / "tmp"),
            "TMPDIR": str(folder / "tmp"),
            "WEIR_SPARK_DRIVER_MEMORY": "1g",
            **(settings or {}),
        }
        command = [sys.executable, "-m", f"tests.faults.{module}", *arguments]
        command += [str(self.journal), str(self.word)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def go(self) -> None:
        """Give the word: it has started by then, or begins as soon as it has."""
        self.word.touch()

    def marks(self) -> list[Mark]:
        """Every step begun so far."""
        text = self.journal.read_text() if self.journal.exists() else ""
        lines = [line.split() for line in text.splitlines(keepends=True) if line.endswith("\n")]
        return [Mark(layer, window, float(at)) for layer, window, at in lines]

    def wait_for(self, layer: str) -> Mark:
        """The first step of a layer, once it has begun."""
        deadline = time.monotonic() + PATIENCE
        while True:
            for mark in self.marks():
                if mark.layer == layer:
                    return mark
            assert self.process.poll() is None, f"it ended by itself:\n{self.said}"
            assert time.monotonic() < deadline, f"it never came to {layer}:\n{self.said}"
            time.sleep(0.01)

    def wait_until_stopped(self) -> Mark:
        """The last step that a process began which then stopped itself, as if by SIGSTOP from elsewhere."""
        deadline = time.monotonic() + PATIENCE
        while os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is None:
            assert self.process.poll() is None, f"it ended by itself:\n{self.said}"
            assert time.monotonic() < deadline, f"it never stopped:\n{self.said}"
            time.sleep(0.01)
        return self.marks()[-1]

    def go_on(self) -> None:
        """Let a process that stopped go on."""
        os.killpg(self.process.pid, signal.SIGCONT)

    def kill(self) -> Mark | None:
        """End the process and its JVM where they are; says in which step that was."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        marks = self.marks()
        return marks[-1] if marks else None

    @property
    def said(self) -> str:
        """The end of what it printed."""
        return self.log.read_text(errors="replace")[-3000:]
