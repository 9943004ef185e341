"""How every module of this package reports what is wrong in a feed file, and what several of them check.

Put here what several kinds of declarations share. Not here: the words for what pydantic finds (``faults``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Protocol

from transforms.errors import FeedMisdeclared
from transforms.feed.object_paths import matches


class Misdeclared(Protocol):
    """Makes the error that names the file, the key, what is wrong there, and what is known instead."""

    def __call__(self, key: str, fault: str, known: Collection[str] = ()) -> FeedMisdeclared:
        """The error, to be raised."""
        ...


class FeedFaults(FeedMisdeclared):
    """Several faults of one feed file, ``faults``: all that can be found at once; the rest is the first one's."""

    def __init__(self, faults: Sequence[FeedMisdeclared]) -> None:
        first = faults[0]
        super().__init__(first.file, first.key, first.fault, first.known)
        self.faults = tuple(faults)
        lines = [f"  {str(fault).removeprefix(f'{first.file}: ')}" for fault in faults]
        self.args = (f"{first.file}: {len(faults)} faults:", *lines)


def faults_of(checks: Iterable[Callable[[], object]]) -> list[FeedMisdeclared]:
    """What is wrong by these checks, of which each ends with its first fault."""
    found = []
    for check in checks:
        try:
            check()
        except FeedMisdeclared as fault:
            found.append(fault)
    return found


def refuse(faults: Sequence[FeedMisdeclared]) -> None:
    """Raise the faults, if there are any.

    Raises:
        FeedMisdeclared: there is one, or ``FeedFaults``: there are several.
    """
    if faults:
        raise faults[0] if len(faults) == 1 else FeedFaults(faults)


class Unfit(ValueError):
    """A part of a feed file is not valid: which key, and why, as the end of a sentence."""

    def __init__(self, key: str, fault: str) -> None:
        self.key, self.fault = key, fault
        super().__init__(f"{key} {fault}")


def check_glob(misdeclared: Misdeclared, place: str, glob: str | None) -> None:
    """Refuse a text that is no glob over object names.

    Raises:
        FeedMisdeclared: it is none.
    """
    try:
        matches("", glob or "")
    except re.error as fault:
        raise misdeclared(place, f"{glob!r} is no glob: {fault}") from None
