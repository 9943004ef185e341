"""What Spark's exceptions mean: an error that a task of Weir's raised, a worker or a Java process that is gone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from transforms.errors import SparkLost, WorkerLost, WorkerStill
from transforms.task_errors import TaskFailed, error_in


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
        if (error := error_in(text)) is not None:
            raise error from None
        if _LOST in text:
            raise WorkerLost from None
        if _STILL in text:
            raise WorkerStill from None
        raise
