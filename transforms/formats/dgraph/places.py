"""Where an event stands in its commit: its ordinal in the longest delivery.

All events of a commit have one timestamp, and what orders them is the order in which they were sent. A restart sends
commits again, from their first event on, and a crash, the end of a file or of a window may cut one. So events are
numbered per delivery, and the smallest of the places that an event's deliveries have counts:

- a delivery whose beginning was seen comes before one that stands at the beginning of its object (a file, a partition
  in one window) and may be the rest of one, which comes last where the object goes on behind it;
- of those, the longest first: a shorter one is a beginning of it.

Only events of one predicate of one node need an order, and one leader sends them all; so a delivery is of these only,
and events of other groups may stand between its own. Behind such a gap a new delivery begins if any of the events up to
the next gap was there before. Without a gap, an event that comes again is another one: a commit may set, delete and set
again.

Here are the events of one object in their order, a million perhaps: everything is told of them by their index, in
arrays, and each is looked at a fixed number of times. Not here: what an event says (``events``) or does (``triples``).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from transforms.formats.dgraph.statement import (
    AT,
    DROP,
    HAS_OFFSET,
    MARKS,
    OPERATIONS,
    VERB,
    VERBS,
    Waiting,
    commit_of,
    slot_of,
    words_of,
)

WHOLE, REST_AMID, REST = 0, 1, 2
"""What a delivery can be: begun in its object; the whole of an object; what stands at an object's beginning."""

EXPORTED: Final = 3
"""An export stands behind all events of the commit whose timestamp it has."""

_DROPS: Final = {number: op for number, (kind, op) in enumerate(VERBS) if kind == DROP}
_SETS: Final = {number for number, verb in enumerate(VERBS) if OPERATIONS[verb] == "set"}


class Place(NamedTuple):
    """Where an event stands, and what stands beside it.

    ``within``: its place in its commit, as the end of its position. ``copy``: the how-manyth of its kind it is in the
    commit. ``sets``: how many sets of its value the delivery has. ``is_behind``: something newer stands before it in
    the object, of its namespace, or of any if it is for all of them; told of drops alone.
    """

    within: tuple[int, ...]
    copy: int | None = None
    sets: int = 1
    is_behind: bool = False


OF_EXPORT: Final = Place((EXPORTED,))


def places(said: Sequence[Waiting]) -> Iterator[Place]:
    """The place of each of an object's events, which are given in their order."""
    behind = _behind(said)
    runs = _Runs.of(said)
    found = _Deliveries.of(said, runs.of_event)
    for indexes in runs.of_commits(len(said)):
        found.add(indexes)
    last_run = len(runs.starts) - 1
    for index, one in enumerate(said):
        at = one[AT] if one[MARKS] & HAS_OFFSET else 0
        first, last = found.first_run[index], found.last_run[index]
        kind = WHOLE if first > 0 else REST_AMID if last == last_run else REST
        within = (kind, -found.size[index], found.place[index], at)
        yield Place(within, found.copy[index], found.sets[index], index in behind)


def _behind(said: Sequence[Waiting]) -> frozenset[int]:
    """The drops behind something newer."""
    found = []
    newest: dict[str, int] = {}
    newest_of_all = -1
    for index, (namespace, commit_ts, verb, *_) in enumerate(said):
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


@dataclass(slots=True)
class _Runs:
    """Events of one commit that stand side by side, numbered from 0.

    ``starts``: where each run starts; ``of_event``: the run of each event; ``first``: the first run of each commit, and
    ``later`` its other ones, which few commits have.
    """

    starts: array[int]
    of_event: array[int]
    first: dict[tuple[object, ...], int]
    later: dict[tuple[object, ...], list[int]]

    @classmethod
    def of(cls, said: Sequence[Waiting]) -> _Runs:
        runs = cls(array("i"), array("i"), {}, {})
        before: tuple[object, ...] = ()
        for index, one in enumerate(said):
            commit = commit_of(one)
            if commit != before:
                before, run = commit, len(runs.starts)
                runs.starts.append(index)
                if runs.first.setdefault(commit, run) != run:
                    runs.later.setdefault(commit, []).append(run)
            runs.of_event.append(len(runs.starts) - 1)
        return runs

    def of_commits(self, size: int) -> Iterator[Iterable[int]]:
        """The indexes of the events of each commit."""
        ends = self.starts[1:]
        ends.append(size)
        for commit, first in self.first.items():
            indexes: Iterable[int] = range(self.starts[first], ends[first])
            if commit in self.later:
                others = (range(self.starts[run], ends[run]) for run in self.later[commit])
                indexes = [*indexes, *(index for one in others for index in one)]
            yield indexes


@dataclass(slots=True)
class _Deliveries:
    """What is found out of each event, in arrays by its index.

    ``place``: its place in its delivery; ``copy``: the how-manyth of its kind it is there. Of its delivery, ``size``:
    how many events it has; ``sets``: how many of them are sets; ``first_run``, ``last_run``: where it stands.
    """

    said: Sequence[Waiting]
    run: array[int]
    place: array[int]
    copy: array[int]
    size: array[int]
    sets: array[int]
    first_run: array[int]
    last_run: array[int]

    @classmethod
    def of(cls, said: Sequence[Waiting], runs: array[int]) -> _Deliveries:
        """Each event alone in a delivery of its own, as most are."""
        ones = array("i", [1]) * len(said)
        sets = array("i", (one[VERB] in _SETS for one in said))
        return cls(said, runs, ones[:], ones[:], ones, sets, runs[:], runs[:])

    def add(self, indexes: Iterable[int]) -> None:
        """All events of one commit, in their order."""
        slots: dict[tuple[object, ...], list[int]] = {}
        for index in indexes:
            slots.setdefault(slot_of(self.said[index]), []).append(index)
        for slot in slots.values():
            if len(slot) > 1:
                for delivery in self._cut(slot):
                    self._number(delivery)

    def _cut(self, slot: list[int]) -> Iterator[list[int]]:
        """The deliveries of one slot."""
        seen: set[tuple[object, ...]] = set()
        delivery: list[int] = []
        for part in self._parts(slot):
            words = {words_of(self.said[index]) for index in part}
            if not words.isdisjoint(seen):
                yield delivery
                delivery = []
            delivery += part
            seen |= words
        yield delivery

    def _parts(self, slot: list[int]) -> Iterator[list[int]]:
        """The slot's events, run by run."""
        part: list[int] = []
        for index in slot:
            if part and self.run[index] != self.run[part[-1]]:
                yield part
                part = []
            part.append(index)
        yield part

    def _number(self, delivery: list[int]) -> None:
        copies: dict[tuple[object, ...], int] = {}
        place = sets = 0
        before: tuple[object, ...] = ()
        for index in delivery:
            one = self.said[index]
            words = words_of(one)
            # A record that is there twice stands at one place.
            here = (one[AT], words)
            if here != before:
                before = here
                place += 1
                copies[words] = copies.get(words, 0) + 1
                sets += self.sets[index]
            self.place[index], self.copy[index] = place, copies[words]
        first, last = self.run[delivery[0]], self.run[delivery[-1]]
        for index in delivery:
            self.size[index], self.sets[index] = place, sets
            self.first_run[index], self.last_run[index] = first, last
