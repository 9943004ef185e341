"""Errors of a stage that Spark may run: which record it was, written into text and read from it again."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from transforms.errors import RecordFailed, WeirError
from transforms.feed.feed import Feed

MEMORY = "the memory of the Python process that works on it"


class TaskFailed(Exception):
    """A ``WeirError`` on its way out of a task: Spark carries only text, so the error's parts are in the text."""

    def __init__(self, error: WeirError) -> None:
        self.error = error
        parts = {"kind": type(error).__name__, "text": str(error), "parts": vars(error)}
        coded = base64.b64encode(json.dumps(parts, default=str).encode()).decode()
        super().__init__(f"{error}\nweir-error:{coded}")


_CODED: Final = re.compile(r"weir-error:([A-Za-z0-9+/]+=*)")


def error_in(text: str) -> WeirError | None:
    """The error that a ``TaskFailed`` of this text was raised for; None where the text is of none."""
    coded = _CODED.search(text)
    if coded is None:
        return None
    told = json.loads(base64.b64decode(coded[1]))
    kind = next((one for one in _kinds(WeirError) if one.__name__ == told["kind"]), WeirError)
    error = kind.__new__(kind)
    error.args = tuple(told["text"].split("\n"))
    for name, part in told["parts"].items():
        setattr(error, name, tuple(part) if isinstance(part, list) else part)
    return error


def _kinds(kind: type[WeirError]) -> Iterator[type[WeirError]]:
    """The class and all that are derived from it, wherever they stand."""
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)


@contextmanager
def with_clear_errors(feed: Feed) -> Iterator[None]:
    """Let errors leave a task as Weir's own, which name the feed."""
    try:
        yield
    except WeirError as error:
        raise TaskFailed(error) from None
    except MemoryError:
        fault = f"a record or a group of records does not fit into {MEMORY}"
        raise TaskFailed(RecordFailed(feed.name, "", 0, fault)) from None


@dataclass(slots=True)
class Reading:
    """What a task is reading just now."""

    feed: str
    object: str
    line: int = 0


@contextmanager
def naming_record(reading: Reading) -> Iterator[None]:
    """Around what reads ``reading``: an unexpected exception is raised as a ``RecordFailed`` that names it."""
    try:
        yield
    except WeirError:
        raise
    except Exception as error:
        raise failed_at(reading, error) from error


def failed_at(reading: Reading, error: Exception, together: int = 1) -> RecordFailed:
    """An unexpected exception as ``RecordFailed``: the log of a task would not say where it happened.

    ``together``: how many records are worked on as one, of which the first is there.
    """
    if isinstance(error, MemoryError):
        text = f"{'it does' if together == 1 else 'together they do'} not fit into {MEMORY}"
    else:
        text = f"{type(error).__name__}: {error}"
    if together > 1:
        text = f"{together:,} records that belong together begin there: {text}"
    return RecordFailed(reading.feed, reading.object, reading.line, text)
