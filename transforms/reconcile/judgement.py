"""What a key that differs means: gold is still on its way there, or it is wrong, and in which way.

A source goes on while it is compared. So a key is judged by three looks, in this order: at gold, at the source in one
snapshot, and at gold again once that has come past the snapshot's place in the source's log. Whatever the source had
committed by then has arrived. Where gold's row is still the one of the first look, no change of the key was under way,
neither before the snapshot nor behind it, and what differs is a difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from transforms.change import BEHIND_ALL_POINTS, BY_OFFSET, STREAM, Key, LogPosition
from transforms.column_types.column_type import UnknownType
from transforms.column_types.registry import column_type
from transforms.reconcile.row_texts import Compared

Row: TypeAlias = "Mapping[str, str | None]"
"""The columns of a row that are compared, by gold's names, each as the text of its form."""

Judgement = Literal["equal", "behind", "ahead", "different"]
"""Gold has the source's row; gold has not come to the snapshot; gold's row has changed meanwhile, so that the key is
to be looked at again; gold has come past the snapshot without that row."""

Kind = Literal["missing", "extra", "stale", "column", "type"]
KINDS: Final[Mapping[Kind, str]] = {
    "missing": "the source has the row, and gold has not",
    "extra": "gold has the row, and the source has not",
    "stale": "several columns differ, as of a row that lacks a change",
    "column": "one column differs",
    "type": "the source's value is none of gold's type",
}


@dataclass(frozen=True, slots=True)
class GoldState:
    """What gold says of a key: its row, if there is one, and the change that made the row, or that removed it.

    ``change``: the change's position and its event; None where gold never had the key.
    """

    row: Row | None = None
    change: tuple[LogPosition, str] | None = None


def judgement(
    in_source: Row | None, before: GoldState, after: GoldState, *, has_passed: bool
) -> Judgement:
    """What is known of a key that differed, by the state of gold before and after the snapshot.

    ``has_passed``: whether gold, when it was looked at again, had all that came before the snapshot.
    """
    if after.row == in_source:
        return "equal"
    if after.change != before.change:
        return "ahead"
    return "different" if has_passed else "behind"


@dataclass(frozen=True, slots=True)
class Difference:
    """One key whose rows differ: ``columns`` are those that do, and both rows have all that was compared."""

    key: Key
    kind: Kind
    columns: tuple[str, ...]
    in_source: Row | None
    in_gold: Row | None


def difference(
    key: Key, in_source: Row | None, in_gold: Row | None, compared: Sequence[Compared]
) -> Difference:
    """In which way two rows differ."""
    if in_source is None or in_gold is None:
        kind: Kind = "missing" if in_gold is None else "extra"
        return Difference(key, kind, (), in_source, in_gold)
    columns = [one for one in compared if in_source.get(one.name) != in_gold.get(one.name)]
    kind = "column" if len(columns) == 1 else "stale"
    if any(not fits(in_source.get(one.name), one) for one in columns):
        kind = "type"
    return Difference(key, kind, tuple(one.name for one in columns), in_source, in_gold)


_JUDGED: Final = ("number", "truth", "day", "moment", "clock")


def fits(text: str | None, column: Compared) -> bool:
    """Whether gold's type has the source's value."""
    if text is None or column.form.name not in _JUDGED:
        return True
    try:
        return column_type(column.kind).judge(text) is not None
    except UnknownType:
        return False


# Places in a source's log.


class LogPlace(NamedTuple):
    """A place in a source's log: the ``numbers`` to which those of changes compare, and how the source writes it.

    Postgres: the LSN. MySQL and MariaDB: the number of the log file, and the point in it.
    """

    numbers: tuple[int, ...]
    text: str


BY_LOG: Final = ("debezium",)
"""The formats whose changes stand in their source's own log, as the source itself says where it is."""


def place_of(position: LogPosition | None, like: LogPlace) -> LogPlace | None:
    """Where a change of a format ``BY_LOG`` stands in the log of a place; None where it stands by its topic.

    Numbers behind its place may be left out, as accounts leave out what differs from delivery to delivery.
    """
    size = len(like.numbers)
    if position is None or len(position) <= BY_OFFSET or position[1] != STREAM:
        return None
    numbers = position[2 : 2 + size]
    if size == 1:
        return LogPlace(numbers, lsn_text(numbers[0]))
    if numbers[1] >= BEHIND_ALL_POINTS:
        # Of its place only the file is known: it counts as the file's beginning.
        return LogPlace((numbers[0], 0), f"log file {numbers[0]}")
    return LogPlace(numbers, f"log file {numbers[0]}, position {numbers[1]}")


def is_past(newest: LogPosition | None, place: LogPlace) -> bool:
    """Whether gold has come past a place in the log: a change stands behind it, and so behind all that came before.

    ``newest``: the position of the newest change. The place is one of today, as the changes of the newest epoch are.
    """
    found = place_of(newest, place)
    return found is not None and found.numbers > place.numbers


def lsn_text(place: int) -> str:
    """A place in Postgres's log, as Postgres writes it."""
    return f"{place >> 32:X}/{place & 0xFFFFFFFF:X}"
