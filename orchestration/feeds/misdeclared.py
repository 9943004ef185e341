"""How every module of this package reports what is wrong in a feed file, and what several of them check.

Put here what several kinds of declarations share. Not here: the words for what pydantic finds (``faults``).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Protocol

from transforms.errors import FeedMisdeclared
from transforms.feed.object_paths import matches


class Misdeclared(Protocol):
    """Makes the error that names the file, the key, what is wrong there, and what is known instead."""

    def __call__(self, key: str, fault: str, known: Collection[str] = ()) -> FeedMisdeclared:
        """The error, to be raised."""
        ...


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
