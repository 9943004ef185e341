"""Runs a program in a process group, and ends the whole group when this process is told to end, or dies.

Dagster's pages are six processes and more, each of which waits for others when it is asked to end, a minute at most.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, NoReturn

PATIENCE: Final = 5.0
"""Seconds that the processes have to end by themselves, so that all is over within ten on a busy machine, too."""


def become(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Put in place of this process a small one that does ``run_in_group``: it has the same number, and ends at once."""
    words = [sys.executable, "-P", "-m", "orchestration.web.process_group", *command]
    os.execve(sys.executable, words, environment)


def run_in_group(command: Sequence[str]) -> int:
    """Run a program until it ends, or this process is told to; of what it has started nothing is left then.

    It has a process group of its own, so that Ctrl-C reaches it by way of this process alone, and a pipe as standard
    input, whose end tells it that this process has died (``end_with_parent``). Returns its exit code; 0 where this
    process was told to end.
    """
    told: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: told.append(number))
    child = subprocess.Popen(command, stdin=subprocess.PIPE, process_group=0)
    while child.poll() is None and not told:
        time.sleep(0.2)
    _end(child)
    return 0 if told else child.wait()


def _end(child: subprocess.Popen[bytes]) -> None:
    """As Ctrl-C in a terminal does it; and what has not ended in time is killed."""
    _send(child.pid, signal.SIGINT)
    deadline = time.monotonic() + PATIENCE
    while _send(child.pid, 0) and time.monotonic() < deadline:
        child.poll()
        time.sleep(0.1)
    _send(child.pid, signal.SIGKILL)
    child.wait()


def _send(group: int, number: int) -> bool:
    """Send a signal to a process group; whether there is any process in it."""
    with suppress(ProcessLookupError):
        os.killpg(group, number)
        return True
    return False


def end_with_parent() -> None:
    """End this process and its group as soon as the process dies that has started it by ``run_in_group``."""

    def watch() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        # It outlives this process, and kills what is left of the group then.
        last = f"sleep {PATIENCE}; kill -KILL -{os.getpgrp()}"
        subprocess.Popen(["sh", "-c", last], stdin=subprocess.DEVNULL, start_new_session=True)
        os.killpg(0, signal.SIGINT)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    sys.exit(run_in_group(sys.argv[1:]))
