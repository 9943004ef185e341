"""Lengths of time, as people write them in a feed file: how long history is kept, how long a transaction may be open.

Put here what is checked of ``compaction`` and ``transaction_timeout``. Not here: what is kept
(``transforms/feed/feed``), and what becomes of the rest (``assets/upkeep/compaction``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from transforms.feed.feed import Retention, WindowSize
from transforms.feed.windows import parse_window

_Text = Annotated[str, Field(min_length=1)]
_LENGTH: Final = re.compile(r"(\d{1,5})([hd])")
_HOURS: Final = {"h": 1, "d": 24}


class DeclaredCompaction(BaseModel):
    """A feed file's ``compaction``."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    retention: _Text = "30d"
    """Changes are kept so long, counted back from the newest window: ``30d``, ``12h`` or ``forever``."""
    retired: list[_Text] = Field(default_factory=list)
    """Streams (partitions, tablets) that have ended, so that they no longer hold compaction back."""
    dismissed: list[_Text] = Field(default_factory=list)
    """Windows whose quarantined records will not be repaired, so that they no longer hold compaction back."""


def retention_from(
    declared: DeclaredCompaction, window: WindowSize, refused: Callable[[str, str], Exception]
) -> Retention:
    """How long history is kept; ``refused`` makes the error that is raised where a part of it is not valid."""
    retired, dismissed = tuple(declared.retired), tuple(declared.dismissed)
    for text in dismissed:
        try:
            parse_window(text, window)
        except ValueError as no_window:
            raise refused("compaction.dismissed", str(no_window)) from None
    if declared.retention == "forever":
        return Retention(None, retired, dismissed)
    kept = length_from(declared.retention)
    if kept is None:
        fault = f"{declared.retention!r} is no length of time: write 30d, 12h or forever"
        raise refused("compaction.retention", fault)
    return Retention(kept, retired, dismissed)


def timeout_from(declared: str, refused: Callable[[str, str], Exception]) -> timedelta:
    """How long a transaction may be open; ``refused`` makes the error that is raised where it is no length of time."""
    timeout = length_from(declared)
    if timeout is None:
        fault = f"{declared!r} is no length of time: write 24h or 2d"
        raise refused("transaction_timeout", fault)
    return timeout


def length_from(text: str) -> timedelta | None:
    """A length of time, or None where the text is none."""
    found = _LENGTH.fullmatch(text)
    return timedelta(hours=int(found[1]) * _HOURS[found[2]]) if found else None
