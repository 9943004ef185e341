"""What a person at a terminal sees while Weir works: one line per step, errors without a wall of text.

Progress goes to standard error: standard output is for results.
"""

# No postponed annotations here: Dagster reads the functions' own.
import logging
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import click
import dagster as dg

from transforms.errors import TablesFailed, WeirError

SILENCE = 10.0
"""After so many seconds without a line, one says what is being waited for."""

NOTICES = (
    b"WARNING: Using incubator modules",
    b'Setting default log level to "',
    b"To adjust logging level use sc.setLogLevel",
)
"""What every JVM of Spark says as it starts, and no setting turns off."""


class _Clock:
    """When the last line was printed, what is being done now, and since when."""

    def __init__(self) -> None:
        self.spoke_at = self.began_at = time.monotonic()
        self.doing = ""

    def begin(self, doing: str) -> None:
        self.doing, self.began_at = doing, time.monotonic()

    def is_silent(self) -> bool:
        return time.monotonic() - self.spoke_at >= SILENCE


_CLOCK = _Clock()


def say(text: str) -> None:
    """One line of progress."""
    print(text, file=sys.stderr, flush=True)
    _CLOCK.spoke_at = time.monotonic()


@contextmanager
def waiting(doing: str) -> Iterator[None]:
    """Say every ten silent seconds what is being waited for: here at first ``doing``, then each step that starts."""
    over = threading.Event()

    def keep_saying() -> None:
        while not over.wait(0.5):
            if _CLOCK.is_silent():
                say(f"  … {_CLOCK.doing} ({time.monotonic() - _CLOCK.began_at:.0f} s)")

    _CLOCK.begin(doing)
    _CLOCK.spoke_at = time.monotonic()
    voice = threading.Thread(target=keep_saying, daemon=True)
    voice.start()
    try:
        yield
    finally:
        over.set()
        voice.join()


def complain(feed: str, fault: Exception) -> None:
    """Say what ended the work on a feed, before the next one's turn; of an error that is none of Weir's own also where.

    Weir's own errors name their feed or table.
    """
    strange = fault.__cause__ if isinstance(fault, TablesFailed) else fault
    if strange is not None and not isinstance(strange, WeirError):
        traceback.print_exception(strange)
    told = fault if isinstance(fault, WeirError) else f"{feed}: {type(fault).__name__}: {fault}"
    click.secho(f"error: {told}", fg="red", err=True)


@contextmanager
def without_notices() -> Iterator[None]:
    """A JVM that starts in here writes to standard error through a filter that drops what every JVM says.

    The JVM keeps the filter for its whole life; this process has its own standard error back afterwards.
    """
    sys.stderr.flush()
    reader, writer = os.pipe()
    kept = os.dup(2)
    os.dup2(writer, 2)
    os.close(writer)
    lines, out = os.fdopen(reader, "rb"), os.fdopen(kept, "wb", buffering=0)
    threading.Thread(target=_pass_on, args=(lines, out), daemon=True).start()
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)


def _pass_on(lines: IO[bytes], out: IO[bytes]) -> None:
    with lines, out:
        for line in lines:
            if not line.startswith(NOTICES):
                out.write(line)


class OnlyWeir(logging.Filter):
    """Lets through what Weir's own steps say; Dagster's events are for the UI."""

    def filter(self, record: logging.LogRecord) -> bool:
        """True for a line that a step logged itself; a step's start is noted for those who wait."""
        meta = getattr(record, "dagster_meta", {}) or {}
        event, step = meta.get("dagster_event"), meta.get("step_key")
        if event is not None and event.event_type_value == "STEP_START" and step:
            _CLOCK.begin(f"working on {asset_of(step)}")
        text = str(meta.get("orig_message", ""))
        # The summary says which check failed, and what was left as it was because of it.
        is_consequence = text.startswith("Dependencies for step")
        of_step = event is None and step is not None and record.levelno >= logging.INFO
        return of_step and not is_consequence


def asset_of(step: str) -> str:
    """A step's name as the table that it makes: ``bronze__shop`` is bronze.shop."""
    return re.sub(r"__?", ".", step, count=1)


class Line(logging.Formatter):
    """The message alone, with a word in front where it is a warning."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        meta = getattr(record, "dagster_meta", {}) or {}
        text = str(meta.get("orig_message", record.getMessage()))
        return f"  {'warning: ' if record.levelno >= logging.WARNING else ''}{text}"


class Voice(logging.Handler):
    """Says every record that it gets."""

    def emit(self, record: logging.LogRecord) -> None:
        """One line of progress."""
        say(self.format(record))


@dg.logger({}, description="One line per step on standard error.")
def progress_lines(init_context: dg.InitLoggerContext) -> logging.Logger:
    """The logger of ``weir run``."""
    logger = logging.Logger("weir", level=logging.DEBUG)
    handler = Voice()
    handler.setFormatter(Line())
    handler.addFilter(OnlyWeir())
    logger.addHandler(handler)
    return logger
