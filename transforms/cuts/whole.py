"""Up to where all tables of a feed are whole, by the transactions that were read and by what waits (docs/cuts.md).

The connector sends one transaction after the other, and its topic of transactions has the end of each in that order.
So whatever ends before an end that was read is known, and is whole once as many of its changes were read as its end
says. The cut is the newest change of the longest row of whole transactions, from the last cut on, before which nothing
else stands that waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from transforms.change import LogPosition

NONE: LogPosition = ()
"""Before every position."""

MOST_NAMED: Final = 10
"""Maximum number of transactions without an end that are named."""


@dataclass(slots=True)
class Transaction:
    """One transaction as far as it was read.

    ``end``: the offset of its end in the topic of transactions; None while that was not read. ``is_whole``: as many of
    its changes were read as its end says. ``first``, ``last``: where its changes stand; None where it has none here.
    """

    id: str
    end: int | None = None
    is_whole: bool = False
    first: LogPosition | None = None
    last: LogPosition | None = None

    def see(self, log_position: LogPosition) -> None:
        """One of its changes."""
        if self.first is None or log_position < self.first:
            self.first = log_position
        if self.last is None or log_position > self.last:
            self.last = log_position


class Hindrance(NamedTuple):
    """What no cut may pass: where it stands, None where nobody knows, and what it is, as a sentence."""

    log_position: LogPosition | None
    says: str


@dataclass(frozen=True, slots=True)
class Reached:
    """How far the tables are whole: ``log_position``, ``NONE`` where nothing is.

    ``end``: the offset of the end of the last transaction in it, -1 before the first. ``held_by``: what keeps it from
    being newer, in sentences; empty where all that was read is in it. ``late``: where transactions begin and end that
    came after a position behind their beginning had been promised; what comes again is among them.
    """

    log_position: LogPosition
    end: int
    held_by: tuple[str, ...] = ()
    late: tuple[tuple[LogPosition, LogPosition], ...] = ()

    def has(self, one: Transaction) -> bool:
        """Whether a transaction is in it."""
        return one.is_whole and one.end is not None and one.end <= self.end


def reached(
    before: Reached, transactions: Iterable[Transaction], hindrances: Sequence[Hindrance] = ()
) -> Reached:
    """How far the tables are whole, from what was reached ``before`` on.

    ``transactions``: at least all that are not in it. Whatever is not in the new cut stands wholly behind it.
    """
    known = [*transactions]
    ended = sorted(
        (one for one in known if one.end is not None and one.end > before.end),
        key=lambda one: one.end or 0,
    )
    # What came again, and was whole before, needs no end once more.
    unended = [
        one
        for one in known
        if one.end is None and not (one.is_whole and (one.last or NONE) <= before.log_position)
    ]
    found, held = [(before.log_position, before.end)], list[str]()
    for one in ended:
        if not one.is_whole:
            held.append(f"transaction {one.id}: not all of its changes were read")
            break
        found.append((max(found[-1][0], one.last or NONE), one.end or 0))
    # From the longest row back: what is left out has to stand behind all that is in.
    left_out = [*unended, *ended[len(found) - 1 :]]
    stops = [one.first for one in left_out if one.first is not None]
    nearest = min([*stops, *(one.log_position or NONE for one in hindrances)], default=None)
    while len(found) > 1 and nearest is not None and nearest <= found[-1][0]:
        found.pop()
        nearest = min(nearest, ended[len(found) - 1].first or nearest)
    if ended or unended:
        held += [one.says for one in sorted(hindrances, key=lambda one: one.log_position or NONE)]
    endless = [one.id for one in unended if one.first is not None]
    held += [f"transaction {name}: its end was not read" for name in endless[:MOST_NAMED]]
    if len(endless) > MOST_NAMED:
        held.append(f"the ends of {len(endless) - MOST_NAMED:,} more transactions were not read")
    late = _late(before.log_position, ended[: len(found) - 1])
    return Reached(*found[-1], tuple(dict.fromkeys(held)), tuple(late))


def _late(
    promised: LogPosition, passed: Iterable[Transaction]
) -> Iterator[tuple[LogPosition, LogPosition]]:
    for one in passed:
        if one.first is not None and one.last is not None and one.first <= promised:
            yield one.first, one.last
