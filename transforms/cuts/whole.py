"""Up to where all tables of a feed are whole, by the transactions that were read and by what waits (docs/cuts.md).

The connector sends one transaction after the other, and its topic of transactions has the end of each in that order.
So whatever ends before an end that was read is known, and is whole once as many of its changes were read as its end
says. The cut is the newest change of the longest row of whole transactions, from the last cut on, before which nothing
else stands that waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from transforms.change import LogPosition

NONE: LogPosition = ()
"""Before every position."""


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
    found, held = [before], list[str]()
    for one in ended:
        if not one.is_whole:
            held.append(f"transaction {one.id}: not all of its changes were read")
            break
        last = max(found[-1].log_position, one.last or NONE)
        found.append(Reached(last, one.end or 0))
    # From the longest row back: what is left out has to stand behind all that is in.
    while len(found) > 1:
        at = found[-1].log_position
        rest = [*ended[len(found) - 1 :], *unended]
        stops = [one for one in hindrances if (one.log_position or NONE) <= at]
        if not stops and all(one.first is None or one.first > at for one in rest):
            break
        found.pop()
    if ended or unended:
        held += [one.says for one in sorted(hindrances, key=lambda one: one.log_position or NONE)]
    held += [
        f"transaction {one.id}: its end was not read" for one in unended if one.first is not None
    ]
    best = found[-1]
    late = _late(before.log_position, ended[: len(found) - 1])
    return Reached(best.log_position, best.end, tuple(dict.fromkeys(held)), tuple(late))


def _late(
    promised: LogPosition, passed: Iterable[Transaction]
) -> Iterator[tuple[LogPosition, LogPosition]]:
    for one in passed:
        if one.first is not None and one.last is not None and one.first <= promised:
            yield one.first, one.last
