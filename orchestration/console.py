"""What a person at a terminal sees while Weir works: lines of progress, and errors without a wall of text.

Progress goes to standard error: standard output is for results. Put here how something is printed. Not here: which of
Dagster's events are printed (``runs/progress_lines``).
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import click

from transforms.errors import TablesFailed, WeirError

FIRST_SILENCE = 1.0
"""After how many seconds without any line a person is told what a command does."""

SILENCE = 8.0
"""After how many seconds since the last line one is printed that says what is still being waited for."""


class _Clock:
    """When the last line was printed, what is being done now, and since when."""

    def __init__(self) -> None:
        self.spoke_at = self.began_at = time.monotonic()
        self.doing = ""
        self.has_spoken = False

    def begin(self, doing: str) -> None:
        self.doing, self.began_at = doing, time.monotonic()

    def is_silent(self) -> bool:
        longest = SILENCE if self.has_spoken else FIRST_SILENCE
        return time.monotonic() - self.spoke_at >= longest


_CLOCK = _Clock()


def begin(doing: str) -> None:
    """Note what is being done from now on, for the lines that ``waiting`` prints."""
    _CLOCK.begin(doing)


def say(text: str) -> None:
    """Print one line of progress."""
    print(text, file=sys.stderr, flush=True)
    _CLOCK.spoke_at, _CLOCK.has_spoken = time.monotonic(), True


@contextmanager
def waiting(doing: str) -> Iterator[None]:
    """Say in every long silence what is being waited for: ``doing``, until ``begin`` names something else."""
    over = threading.Event()

    def keep_saying() -> None:
        while not over.wait(0.25):
            if _CLOCK.is_silent():
                say(f"  … {_CLOCK.doing} ({time.monotonic() - _CLOCK.began_at:.0f} s)")

    _CLOCK.begin(doing)
    _CLOCK.spoke_at, _CLOCK.has_spoken = time.monotonic(), False
    speaker = threading.Thread(target=keep_saying, daemon=True)
    speaker.start()
    try:
        yield
    finally:
        over.set()
        speaker.join()


def print_error(feed: str, fault: Exception) -> None:
    """Print the error that ended the work on a feed, before the next feed's turn.

    Weir's own errors name their feed or table. Any other error is printed with its stack, too.
    """
    cause = fault.__cause__ if isinstance(fault, TablesFailed) else fault
    if cause is not None and not isinstance(cause, WeirError):
        traceback.print_exception(cause)
    text = fault if isinstance(fault, WeirError) else f"{feed}: {type(fault).__name__}: {fault}"
    click.secho(f"error: {text}", fg="red", err=True)
