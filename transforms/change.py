"""Words and numbers that events and changes share, from a format's decoding to gold's fold (docs/change_model.md).

Put here a constant that a format writes and silver or gold reads. Not here: the event itself (``event``), the rows that
it becomes (``silver``), and what they do to gold (``gold``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

CONTROL = ("begin", "commit", "note")
"""The effects that change no row. ``begin`` and ``commit`` bound a transaction; a ``note`` is an event about no row."""

HOLD = "hold"
"""The effect of a range delete, or of a column drop, that waits for a person's decision."""

EPOCH = 0
"""The first element of every position that a format gives: the feed's decisions open later epochs."""

BY_OFFSET = 4
"""So many numbers has the position of a record that stands as in its topic (epoch, phase, offset, partition), and no
other position: offsets of several partitions do not compare."""

SNAPSHOT, STREAM = 0, 1
"""The second element of a position: rows of a snapshot stand before all changes of the stream."""

BEFORE_ALL_FILES: Final = 0
"""In place of a log file's number, where the log does not say it. Files are numbered from 1."""

BEHIND_ALL_PLACES: Final = 2**62
"""No place in a log file is larger: added to the offset of an event whose file is known, and whose place is none."""

PLACE: Final = 3
"""Where a position has its place in a log file."""

_UNPLACED = 6


def partition_of(log_position: Sequence[int]) -> int | None:
    """The partition of a position that is by offset; None of one in the source's own log."""
    is_unplaced = is_in_file_by_offset(log_position) or (
        len(log_position) == _UNPLACED and log_position[2] == BEFORE_ALL_FILES
    )
    return log_position[-1] if is_unplaced or len(log_position) == BY_OFFSET else None


def is_in_file_by_offset(log_position: Sequence[int]) -> bool:
    """Whether a position has the offset of its record behind its log file."""
    return len(log_position) == _UNPLACED and log_position[PLACE] >= BEHIND_ALL_PLACES
