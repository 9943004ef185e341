"""A change as gold sees it: one row of silver that counts, at the position where it takes effect.

Put here what the fold has to know of a change. Not here: which rows of silver count and where transactions put them
(``assets``), and what becomes of a change (``fold``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

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
