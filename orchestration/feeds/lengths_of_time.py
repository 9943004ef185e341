"""Lengths of time, as a feed file and ``--windows`` write them: ``12h``, ``30d``."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from orchestration.feeds.faults import InvalidKey

_LENGTH: Final = re.compile(r"(\d{1,5})([hd])")
_HOURS: Final = {"h": 1, "d": 24}


def length_from(text: str) -> timedelta | None:
    """A length of time, or None where the text is none."""
    found = _LENGTH.fullmatch(text)
    return timedelta(hours=int(found[1]) * _HOURS[found[2]]) if found else None


def length_of(key: str, text: str, examples: str, *, least: int = 1) -> timedelta:
    """The length of time that stands under a key, of ``least`` hours or more."""
    length = length_from(text)
    if length is None or length < timedelta(hours=least):
        raise InvalidKey(key, f"{text!r} is no length of time: write {examples}")
    return length
