"""Weir's own errors on their way out of Spark's tasks: Spark carries only text, so an error's parts go in the text.

Not here: which errors there are (``transforms/errors.py``).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from transforms import errors
from transforms.errors import WeirError


class TaskFailed(Exception):
    """A ``WeirError`` on its way out of a task: Spark carries only text, so the error's parts are in the text."""

    def __init__(self, error: WeirError) -> None:
        parts = {"kind": type(error).__name__, "text": str(error), "parts": vars(error)}
        coded = base64.b64encode(json.dumps(parts, default=str).encode()).decode()
        super().__init__(f"{error}\nweir-error:{coded}")


_CODED = re.compile(r"weir-error:([A-Za-z0-9+/]+=*)")


@contextmanager
def raise_clearly() -> Iterator[None]:
    """Around what runs a Spark job: raises a task's ``WeirError`` as it was, without Spark's account of it."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as failure:
        coded = _CODED.search(str(failure))
        if coded is None:
            raise
        raise _decoded(coded[1]) from None


def _decoded(coded: str) -> WeirError:
    told = json.loads(base64.b64decode(coded))
    kind = getattr(errors, told["kind"], WeirError)
    error: WeirError = kind.__new__(kind)
    error.args = (told["text"],)
    for name, part in told["parts"].items():
        setattr(error, name, tuple(part) if isinstance(part, list) else part)
    return error
