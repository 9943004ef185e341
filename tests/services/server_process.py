"""A server for tests as a process of its own: started in its folder, awaited, and ended with all it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final

PATIENCE: Final = 240
"""Seconds for which a server that has not ended is waited for: a busy machine takes ten times as long as an idle."""


@dataclass(slots=True)
class ServerProcess:
    """A server in its folder, running or not; ``NAME`` is what errors call it."""

    NAME: ClassVar[str]
    folder: Path
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False, repr=False)

    def launch(self, command: Sequence[str | Path], answers: Callable[[], bool]) -> None:
        """Start it, and wait until it answers; an ``OSError``, as of a refused connection, is no answer yet.

        Raises:
            RuntimeError: it ended, or did not answer in time; with the end of its log.
        """
        log = self.folder / "server.log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                cwd=self.folder,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + PATIENCE
        while not _is_there(answers):
            if self._process.poll() is not None or time.monotonic() > deadline:
                tail = log.read_text(errors="replace")[-3000:]
                raise RuntimeError(f"{self.NAME} did not start\n{tail}")
            time.sleep(0.2)

    def stop(self) -> None:
        """End it, if it runs; what it has written stays in the folder."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


def _is_there(answers: Callable[[], bool]) -> bool:
    try:
        return answers()
    except OSError:
        return False
