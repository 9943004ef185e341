"""A change: one row of silver as gold's fold sees it, and the words and positions that events and changes share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from transforms.column_types.registry import column_type

CONTROL = ("begin", "commit", "note")
"""The effects that change no row. ``begin`` and ``commit`` bound a transaction; a ``note`` is an event about no row."""

HOLD = "hold"
"""The effect of a range delete, or of a column drop, that waits for a person's decision."""

EPOCH = 0
"""The first element of every position that a format gives: the feed's decisions open later epochs."""

BY_OFFSET = 4
"""How many numbers the position of a record has that stands as in its topic: epoch, phase, offset, partition.

No other position has as many. The partition is behind the offset, for offsets of several partitions do not compare.
"""

SNAPSHOT, STREAM = 0, 1
"""The second element of a position: rows of a snapshot stand before all changes of the stream."""

BEFORE_ALL_FILES: Final = 0
"""In place of a log file's number, where the log does not say it. Files are numbered from 1."""

BEHIND_ALL_POINTS: Final = 2**62
"""No point in a log file is larger: added to the offset of an event of which only the log file is known."""

POINT: Final = 3
"""Which number of a position is its point in a log file."""

IN_FILE: Final = 6
"""How many numbers the position of a record has that may stand by its offset, in a log file or before all of them."""


def partition_of(log_position: Sequence[int]) -> int | None:
    """The partition of a position that is by offset; None of one in the source's own log."""
    is_by_offset = is_in_file_by_offset(log_position) or (
        len(log_position) == IN_FILE and log_position[2] == BEFORE_ALL_FILES
    )
    return log_position[-1] if is_by_offset or len(log_position) == BY_OFFSET else None


def is_in_file_by_offset(log_position: Sequence[int]) -> bool:
    """Whether a position has the offset of its record behind its log file."""
    return len(log_position) == IN_FILE and log_position[POINT] >= BEHIND_ALL_POINTS


Key: TypeAlias = "tuple[str | None, ...]"
"""A key's values as canonical texts, in the declared order of its columns."""

LogPosition: TypeAlias = "tuple[int, ...]"
Image: TypeAlias = "Mapping[str, str | None]"

RANKS: Final = {
    **{"remove": 0, "remove_if": 0, "decrement": 0},
    **{"replace": 1, "move": 1, "increment": 1},
    "update": 2,
}
"""The order of changes at one position, by effect: the smallest first."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one key; or a range delete, as it applies to one of its keys.

    The fields are columns of silver (``CHANGE`` in ``assets/columns/silver.py``), and these: ``is_range_delete``: it is
    for every key of a scope. ``is_derived``: it follows from another event, or is for many keys, so that it does not
    count as an event of this key. ``is_past``: it is a range delete of an earlier window, which may have been applied
    to the key before. ``is_update``: the source says that it updates a row. ``event_at`` is in microseconds since 1970
    (UTC). ``stream``: the part of the source within which positions compare.
    """

    effect: str
    log_position: LogPosition
    dedup_prefix: int
    event_id: str
    event_at: int | None
    before: Image
    after: Image
    attribute_ops: Mapping[str, str]
    moved_from: Key | None = None
    is_range_delete: bool = False
    is_derived: bool = False
    is_past: bool = False
    is_update: bool = False
    stream: str | None = None

    @property
    def standing(self) -> tuple[LogPosition, int]:
        """Where it stands among the changes of its key: changes with one standing tie."""
        return self.log_position, RANKS[self.effect]

    @property
    def stable(self) -> LogPosition:
        """The part of its position that is the same in every delivery of the event."""
        return self.log_position[: self.dedup_prefix]


def text_of_key(key: Sequence[str | None]) -> str:
    """A key as one text, as Spark writes it."""
    text = column_type("array<string>").judge(json.dumps(key, ensure_ascii=False))
    assert text is not None  # a list of texts and nulls
    return text


def key_of_text(text: str) -> Key:
    """The key that ``text_of_key`` made a text of."""
    return tuple(json.loads(text))
