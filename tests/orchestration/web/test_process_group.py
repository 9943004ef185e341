"""Whoever starts a program in a group, and however it ends: within ten seconds nothing of the group is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from orchestration.web.process_group import run_in_group

STUBBORN = """
import os, signal, subprocess, sys, time
from orchestration.web.process_group import end_with_parent
signal.signal(signal.SIGINT, signal.SIG_IGN)
end_with_parent()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(os.getpid(), child.pid, flush=True)
time.sleep(600)
"""
"""It does not hear Ctrl-C, and its child inherits that, as a run that is in the middle of something."""
SECONDS = 10


@pytest.fixture
def started() -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A program that runs the stubborn one, and the numbers of that one and its child."""
    keeper = subprocess.Popen(
        [sys.executable, "-m", run_in_group.__module__, sys.executable, "-c", STUBBORN],
        cwd=Path(__file__).resolve().parents[3],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert keeper.stdout is not None
    numbers = [int(word) for word in keeper.stdout.readline().split()]
    yield keeper, numbers
    keeper.kill()
    keeper.wait()
    keeper.stdout.close()
    for number in numbers:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_nothing_is_left_however_its_starter_ends(
    started: tuple[subprocess.Popen[str], list[int]], number: signal.Signals, code: int
) -> None:
    keeper, numbers = started
    assert len(numbers) == 2 and all(map(lives, numbers))
    keeper.send_signal(number)
    assert keeper.wait(SECONDS) == code
    assert left_of(numbers) == []


def test_what_the_program_leaves_behind_is_ended_and_its_exit_code_is_told(
    started: tuple[subprocess.Popen[str], list[int]],
) -> None:
    keeper, (program, child) = started
    os.kill(program, signal.SIGKILL)
    assert keeper.wait(SECONDS) != 0
    assert left_of([child]) == []


def left_of(numbers: list[int]) -> list[int]:
    """Those that still run after ten seconds."""
    deadline = time.monotonic() + SECONDS
    while any(map(lives, numbers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return [number for number in numbers if lives(number)]


def lives(number: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    with suppress(OSError):
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        return state not in ("Z", "X")
    return False
