r"""What Weir prints at a terminal: answers, lines of progress, and errors without a wall of text.

A terminal acts upon some characters, and names and values of sources are in all that is printed: so nothing else
prints, and here they are shown as escapes, such as ``\x1b``. Answers go to standard output, the rest to standard error.
"""

from __future__ import annotations

import csv
import logging
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, Final, TextIO

import click

from transforms.display import as_visible_json, hanging, one_line, visible, visible_json
from transforms.errors import TablesFailed, WeirError

FIRST_SILENCE = 1.0
"""After how many seconds without any line a person is told what a command does."""

SILENCE = 8.0
"""After how many seconds since the last line one is printed that says what is still being waited for."""


_OWN: Final = tuple(
    f"{Path(__file__).parent.parent / name}{os.sep}" for name in ("assets", "orchestration")
)
"""Where Weir's own code lies that writes logs."""


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
    print(one_line(text), file=sys.stderr, flush=True)
    _CLOCK.spoke_at, _CLOCK.has_spoken = time.monotonic(), True


def put(text: str) -> None:
    """Print one line of an answer."""
    print(one_line(text), flush=True)


def put_lines(texts: Iterable[str]) -> None:
    """Print lines of an answer, of which there may be very many."""
    for text in texts:
        print(one_line(text))
    sys.stdout.flush()


def put_json(value: object, *, indent: int | None = 2) -> None:
    """Print an answer for programs: JSON, in which characters that are not seen are JSON's own escapes."""
    print(visible_json(value, indent=indent, default=datetime.isoformat), flush=True)


def put_json_text(document: str, out: TextIO | None = None) -> None:
    """Print what is JSON already, or one line or piece of it."""
    print(as_visible_json(document), file=out)


def put_csv(rows: Iterable[Sequence[str]], out: TextIO | None = None) -> None:
    """Print rows of CSV: values are as they are where they go into a file, and visible where they go to a terminal."""
    out = out or sys.stdout
    shown: Callable[[str], str] = one_line if out.isatty() else str
    csv.writer(_Lines(out)).writerows([shown(value) for value in row] for row in rows)


class _Lines:
    """Lines of CSV that end as lines of Unix do: a writer of such lines would not quote a lone carriage return."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, line: str) -> object:
        return self._out.write(line.removesuffix("\r\n") + "\n")


def put_file(text: str) -> None:
    """Print the text of a file: as it is where it goes into one, and visible where it goes to a terminal."""
    print(visible(text) if sys.stdout.isatty() else text, end="", flush=True)


def agrees(question: str) -> bool:
    """Whether the person at the terminal says yes; True where there is no terminal, for nobody can be asked."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    return click.confirm(one_line(question))


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
        show_stack(cause)
    is_own = isinstance(fault, WeirError)
    complain(fault if is_own else f"{feed}: {type(fault).__name__}: {fault}")


def show_stack(fault: BaseException) -> None:
    """Print an error that nobody expected, with where it comes from."""
    stack = "".join(traceback.format_exception(fault))
    print(visible(stack), end="", file=sys.stderr, flush=True)


def complain(fault: object) -> None:
    """Print why something is not done; errors that are made for people have lines of their own."""
    text = str(fault)
    is_laid_out = isinstance(fault, Exception)
    click.secho(f"error: {visible(text) if is_laid_out else hanging(text)}", fg="red", err=True)


def make_logs_visible() -> None:
    """Have every log of this process, Dagster's included, show control characters and not send them to a terminal.

    Dagster prints events, errors and what Weir's steps say to the terminal in which it was started.
    """
    make = logging.getLogRecordFactory()
    if hasattr(make, "shows_all"):
        return

    @wraps(make)
    def record(*parts: Any, **more: Any) -> logging.LogRecord:
        made = make(*parts, **more)
        # With arguments the text is made of both later, and nothing of Weir or Dagster logs so.
        if isinstance(made.msg, str) and not made.args:
            # What Weir's own code says is one line; Dagster's events have lines of their own, with stacks.
            is_own = made.pathname.startswith(_OWN)
            made.msg = one_line(made.msg) if is_own else visible(made.msg)
        return made

    record.shows_all = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(record)
