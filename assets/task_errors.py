"""Weir's own errors on their way out of Spark's tasks: Spark carries only text, so an error's parts go in the text.

Here, too, is what to say of a worker that said nothing. Not here: the errors that have another cause than Spark's
tasks (``transforms/errors.py``).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from transforms import errors
from transforms.errors import RecordFailed, WeirError


class TaskFailed(Exception):
    """A ``WeirError`` on its way out of a task: Spark carries only text, so the error's parts are in the text."""

    def __init__(self, error: WeirError) -> None:
        parts = {"kind": type(error).__name__, "text": str(error), "parts": vars(error)}
        coded = base64.b64encode(json.dumps(parts, default=str).encode()).decode()
        super().__init__(f"{error}\nweir-error:{coded}")


class WorkerLost(WeirError):
    """A Python worker of Spark's ended in the middle of its task: somebody killed it, or the system for its memory."""

    def __init__(self) -> None:
        super().__init__(
            "a Python worker of Spark's was killed in the middle of its work, as systems do that are short of memory. "
            "Nothing is half-written: run again. If it dies again, give it more memory or fewer neighbours "
            "(WEIR_SPARK_MASTER=local[1]), or bound what it reads at once (WEIR_LARGEST_OBJECT)."
        )


@dataclass(slots=True)
class Place:
    """What a task is reading just now."""

    feed: str
    object: str
    line: int = 0


@contextmanager
def told_with(place: Place) -> Iterator[None]:
    """Around what reads there: what nobody foresaw leaves as an error of Weir's own, which says where it was met."""
    try:
        yield
    except WeirError:
        raise
    except MemoryError:
        fault = "it does not fit into the memory of a Python worker"
        raise RecordFailed(place.feed, place.object, place.line, fault) from None
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise RecordFailed(place.feed, place.object, place.line, told) from error


_LOST = "Python worker exited unexpectedly"
_CODED = re.compile(r"weir-error:([A-Za-z0-9+/]+=*)")


@contextmanager
def raise_clearly() -> Iterator[None]:
    """Around what runs a Spark job: raises a task's ``WeirError`` as it was, without Spark's account of it."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as failure:
        told = str(failure)
        coded = _CODED.search(told)
        if coded is not None:
            raise _decoded(coded[1]) from None
        if _LOST in told:
            raise WorkerLost from None
        raise


def _decoded(coded: str) -> WeirError:
    told = json.loads(base64.b64decode(coded))
    kind = getattr(errors, told["kind"], WeirError)
    error: WeirError = kind.__new__(kind)
    error.args = (told["text"],)
    for name, part in told["parts"].items():
        setattr(error, name, tuple(part) if isinstance(part, list) else part)
    return error
