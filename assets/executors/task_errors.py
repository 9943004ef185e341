"""Weir's own errors on their way out of Spark's tasks: Spark carries text alone, so their parts go in the text.

A worker or a Java process that was killed says nothing itself.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from transforms import errors
from transforms.errors import LandingAway, WeirError
from transforms.task_errors import TaskFailed


class WorkerLost(WeirError):
    """A Python worker of Spark's ended in the middle of its task: somebody killed it, or the system for its memory."""

    def __init__(self) -> None:
        super().__init__(
            "a Python worker of Spark's was killed in the middle of its work, as systems do that are short of memory. "
            "Nothing is half-written: run again. If it dies again, give it more memory or fewer neighbours "
            "(WEIR_SPARK_MASTER=local[1]), or bound what it reads at once (WEIR_LARGEST_OBJECT)."
        )


class WorkerStill(WeirError):
    """A Python worker of Spark's took and gave nothing for minutes, and Spark has ended it."""

    def __init__(self) -> None:
        super().__init__(
            "a Python worker of Spark's stood still for half an hour and was ended. Nothing is half-written: "
            "run again. The connection between it and Java had stopped, or one record takes that long: if it happens "
            "again at the same place, report it."
        )


class SparkLost(WeirError):
    """Spark's Java process ended in the middle of its work: its memory was full, or somebody killed it."""

    def __init__(self) -> None:
        super().__init__(
            "Spark's Java process ended in the middle of its work, as it does when its memory is full. Nothing is "
            "half-written: run again. If it ends again, give it more memory (WEIR_SPARK_DRIVER_MEMORY=8g, say: of a "
            "record of many megabytes it holds several copies) or fewer tasks at once (WEIR_SPARK_MASTER=local[1])."
        )


def is_of_lost_spark(failure: Exception) -> bool:
    """Whether a failure says that Spark's Java process is gone, or about to go."""
    if isinstance(failure, ConnectionError):
        return True
    if isinstance(failure, Py4JError) and not isinstance(failure, Py4JJavaError):
        # Java throws errors of its own while it lives; these are of an answer that makes no sense, or never came.
        return True
    try:
        return "java.lang.OutOfMemoryError" in str(failure)
    except (Py4JError, OSError):
        # Java is asked for the text of its errors.
        return True


_LOST = "Python worker exited unexpectedly"
_STILL = "Python worker process terminated due to idle timeout"
_CODED = re.compile(r"weir-error:([A-Za-z0-9+/]+=*)")


@contextmanager
def raise_clearly() -> Iterator[None]:
    """Around what runs a Spark job, or a task's work in this process: raises a task's ``WeirError`` as it was."""
    try:
        yield
    except TaskFailed as failure:
        raise failure.error from None
    except (PySparkException, Py4JError, ConnectionError) as failure:
        if is_of_lost_spark(failure):
            raise SparkLost from None
        text = str(failure)
        coded = _CODED.search(text)
        if coded is not None:
            raise _decoded(coded[1]) from None
        if _LOST in text:
            raise WorkerLost from None
        if _STILL in text:
            raise WorkerStill from None
        raise


def _decoded(coded: str) -> WeirError:
    text = json.loads(base64.b64decode(coded))
    kind = {**vars(errors), LandingAway.__name__: LandingAway}.get(text["kind"], WeirError)
    error: WeirError = kind.__new__(kind)
    error.args = tuple(text["text"].split("\n"))
    for name, part in text["parts"].items():
        setattr(error, name, tuple(part) if isinstance(part, list) else part)
    return error
