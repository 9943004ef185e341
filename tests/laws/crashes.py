"""Runs that end between two commits: the process stops where a chosen table is to be written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import isfunction
from typing import Any

import pytest

from assets.storage.in_process_table import InProcessTable
from assets.storage.spark_table import SparkTable

WRITES_NOTHING = {
    SparkTable: {"log", "exists", "read", "schema", "version", "count", "properties"},
    InProcessTable: {
        *("now", "count", "files", "rows_written", "can_put", "has_types"),
        *("read", "rows", "each", "batches", "read_file", "content"),
    },
}
"""The methods that only look."""


class Killed(BaseException):
    """The run ends here; no handler of errors sees it, as none sees a kill."""


@contextmanager
def killed_at(monkeypatch: pytest.MonkeyPatch, paths: Collection[str]) -> Iterator[None]:
    """Let the run within end where it would write the first of the tables at these paths; it has to come there."""
    with monkeypatch.context() as patch:
        for kind, harmless in WRITES_NOTHING.items():
            for name, method in [*vars(kind).items()]:
                if isfunction(method) and not name.startswith("_") and name not in harmless:
                    patch.setattr(kind, name, _dying(method, paths))
        with pytest.raises(Killed):
            yield


def _dying(write: Callable[..., object], paths: Collection[str]) -> Callable[..., object]:
    @wraps(write)
    def dying(table: Any, *args: Any, **kwargs: Any) -> object:
        if table.path in paths:
            raise Killed(f"before {table.path} was written")
        return write(table, *args, **kwargs)

    return dying
