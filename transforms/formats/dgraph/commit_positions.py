"""Where an event stands in its commit: its ordinal in the longest delivery.

All events of a commit have one timestamp, and what orders them is the order in which they were sent. A restart sends
commits again, from their first event on, and a crash, the end of a file or of a window may cut one. So events are
numbered per delivery, and the smallest of the positions that an event's deliveries have counts:

- a delivery whose beginning was seen comes before one that stands at the beginning of its object (a file, a partition
  in one window) and may be the rest of one, which comes last where the object goes on behind it;
- of those, the longest first: a shorter one is a beginning of it.

Only events of one predicate of one node need an order, and one leader sends them all; so a delivery is of these only,
and events of other groups may stand between its own. Behind such a gap a new delivery begins if any of the events up to
the next gap was there before. Without a gap, an event that comes again is another one: a commit may set, delete and set
again.

Put here what an event's position is made of. Not here: how events are numbered within their delivery (``deliveries``),
what an event says (``events``), and what it does (``triples``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from transforms.formats.dgraph.deliveries import Deliveries, Runs
from transforms.formats.dgraph.statement import DROP
from transforms.formats.dgraph.waiting import AT, HAS_OFFSET, MARKS, VERBS, Waiting

WHOLE, REST_AMID, REST = 0, 1, 2
"""What a delivery can be: begun in its object; the whole of an object; what stands at an object's beginning."""

EXPORTED: Final = 3
"""An export stands behind all events of the commit whose timestamp it has."""

_DROPS: Final = {number: op for number, (kind, op) in enumerate(VERBS) if kind == DROP}


class CommitPosition(NamedTuple):
    """Where an event stands, and what stands beside it.

    ``within``: its position in its commit, as the end of its position. ``copy``: 1 for the first time that this same
    event occurs in its delivery, 2 for the second, and so on. ``sets``: how many sets the delivery has. ``is_behind``:
    only for drops: an event with a newer commit stands before it in the object (of the same namespace; for a drop of
    all namespaces, of any).
    """

    within: tuple[int, ...]
    copy: int | None = None
    sets: int = 1
    is_behind: bool = False


OF_EXPORT: Final = CommitPosition((EXPORTED,))


def commit_positions(statements: Sequence[Waiting]) -> Iterator[CommitPosition]:
    """The position of each of an object's events, which are given in their order."""
    behind = _behind(statements)
    runs = Runs.of(statements)
    found = Deliveries.of(statements, runs.of_event)
    for indexes in runs.of_commits(len(statements)):
        found.add(indexes)
    last_run = len(runs.starts) - 1
    for index, one in enumerate(statements):
        at = one[AT] if one[MARKS] & HAS_OFFSET else 0
        first, last = found.first_run[index], found.last_run[index]
        kind = WHOLE if first > 0 else REST_AMID if last == last_run else REST
        within = (kind, -found.size[index], found.number[index], at)
        yield CommitPosition(within, found.copy[index], found.sets[index], index in behind)


def _behind(statements: Sequence[Waiting]) -> frozenset[int]:
    """The drops behind something newer."""
    found = []
    newest: dict[str, int] = {}
    newest_of_all = -1
    for index, (namespace, commit_ts, verb, *_) in enumerate(statements):
        if commit_ts is None:
            continue
        known = newest.get(namespace, -1)
        if verb in _DROPS:
            before = newest_of_all if _DROPS[verb] == "all" else known
            if before > commit_ts:
                found.append(index)
        if commit_ts > known:
            newest[namespace] = commit_ts
            newest_of_all = max(newest_of_all, commit_ts)
    return frozenset(found)
