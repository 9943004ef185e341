"""What a key is at one point of its history: a row, no row, or a row whose values were not read.

Put here the values that the fold goes from and to. Not here: the fold itself (``fold``), and what gold has of a key
(``stored_row``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from transforms.gold.change import Image, LogPosition


class Last(NamedTuple):
    """The last change of a key that counted; ``event_at`` in microseconds since 1970 (UTC)."""

    log_position: LogPosition
    event_id: str
    event_at: int | None
    is_range_delete: bool


@dataclass(frozen=True, slots=True)
class State:
    """What a key is after some changes.

    ``effect``: ``replace`` (a row of exactly these ``columns``), ``update`` (the row that is there, with these columns
    overwritten) or ``remove`` (absent). ``copies``: how many such rows there are: more than one only in a table without
    a key. ``last``: None where no change counted yet.

    ``reset``: the position of the newest change after which nothing older can matter (a replace, a remove, an update of
    every column); None where there is none, or where it is not known.
    """

    effect: str
    columns: Image
    copies: int
    last: Last | None = None
    reset: LogPosition | None = None


ABSENT = State("remove", {}, 0)
"""A key without a row."""


def unread(*, is_present: bool, last: Last, reset: LogPosition | None = None) -> State:
    """A key whose row, if there is one, has not been read."""
    return State("update" if is_present else "remove", {}, int(is_present), last, reset)
