"""Which executor did what, as the log, the metadata and the summary of a run say it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

EXECUTOR: Final = "executor"
"""The name of the metadata that says which executor did a step's work."""


def by(*executors: str) -> str:
    """The end of a line of the log that says who did the work: `` (spark)``; nothing where nothing was done."""
    return f" ({', '.join(executors)})" if executors else ""


def executors_of(executors: Iterable[str]) -> dict[str, str]:
    """The metadata of these executors; none where nothing was done."""
    names = ", ".join(executors)
    return {EXECUTOR: names} if names else {}
