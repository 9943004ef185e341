"""What gold has of a key today, and whether that agrees with what the key should be."""

from __future__ import annotations

from dataclasses import dataclass

from transforms.compaction_watermarks import CompactionWatermark
from transforms.gold.change import LogPosition
from transforms.gold.fold import Fold
from transforms.gold.state import State


@dataclass(frozen=True, slots=True)
class StoredRow:
    """What gold has of a key: the newer of its row and its tombstone.

    ``state``: what the key is (``state.unread`` where its values were not asked for), with the last change that counted
    and the reset position. ``is_torn``: the tombstone is newer than a row that is still there, as a run leaves it that
    ended between its two commits.
    """

    state: State
    is_torn: bool = False

    def says(
        self, fold: Fold, state: State, compaction_watermark: CompactionWatermark | None = None
    ) -> bool:
        """Whether gold already has all of this state: the last change and the values; False where values were not read.

        ``compaction_watermark``: of the table, where its history is compacted.
        """
        mine = self.state
        return (
            not self.is_torn
            and mine.last is not None
            and state.last is not None
            and (mine.effect, mine.copies) == (state.effect, state.copies)
            and mine.last[:3] == state.last[:3]
            and _equal_above(mine.reset, state.reset, compaction_watermark)
            and self.has_row_of(fold, state)
        )

    def has_row_of(self, fold: Fold, state: State) -> bool:
        """Whether gold has the row that the state describes, or no row where it describes none; positions do not count.

        Of a row whose values were not read, only its presence is compared.
        """
        mine = self.state
        if "remove" in (mine.effect, state.effect):
            return mine.effect == state.effect
        if mine.effect == "update":
            return True
        # In a table with a key, further rows of the key were written by somebody else.
        is_as_often = fold.has_key or mine.copies == state.copies
        return is_as_often and all(
            mine.columns.get(name) == state.columns.get(name) for name in fold.values
        )


def _equal_above(
    one: LogPosition | None,
    other: LogPosition | None,
    compaction_watermark: CompactionWatermark | None,
) -> bool:
    """Whether two reset positions are equal above the compaction watermark.

    No change at or below the compaction watermark ever comes to gold, so that a reset position there is as good as
    none. Gold may have one that the base rows no longer have, and the base rows one that gold never had.
    """
    above = [
        None
        if at is None
        or (compaction_watermark is not None and compaction_watermark.covers(at, len(at)))
        else at
        for at in (one, other)
    ]
    return above[0] == above[1]
