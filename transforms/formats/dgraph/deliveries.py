"""The deliveries of each commit in one object, and where each event stands in its delivery.

A delivery is of one predicate of one node in one commit. A run is a series of neighbouring events of one commit. The
events of a commit may form several runs, with events of other commits between them. There may be a million events:
everything is kept by an event's index, in arrays, and each event is looked at a fixed number of times. Put here how
runs are cut into deliveries and numbered. Not here: what an event's position follows from, and why
(``commit_positions``).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from transforms.formats.dgraph.statement import OPERATIONS
from transforms.formats.dgraph.waiting import AT, VERB, VERBS, Waiting, commit_of, slot_of, words_of

_SETS: Final = {number for number, verb in enumerate(VERBS) if OPERATIONS[verb] == "set"}


@dataclass(slots=True)
class Runs:
    """Events of one commit that stand side by side, numbered from 0.

    ``starts``: where each run starts; ``of_event``: the run of each event; ``first``: the first run of each commit, and
    ``later`` its other ones, which few commits have.
    """

    starts: array[int]
    of_event: array[int]
    first: dict[tuple[object, ...], int]
    later: dict[tuple[object, ...], list[int]]

    @classmethod
    def of(cls, statements: Sequence[Waiting]) -> Runs:
        """The runs of an object's events."""
        runs = cls(array("i"), array("i"), {}, {})
        before: tuple[object, ...] = ()
        for index, one in enumerate(statements):
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
class Deliveries:
    """What is known of each event, in arrays by the event's index in the object.

    ``number``: its number within its delivery. ``copy``: 1 for the first time that the same event occurs in the
    delivery, 2 for the second, and so on. ``size``: how many events its delivery has. ``sets``: how many of those are
    sets. ``first_run``, ``last_run``: the delivery's first and last run.
    """

    statements: Sequence[Waiting]
    run: array[int]
    number: array[int]
    copy: array[int]
    size: array[int]
    sets: array[int]
    first_run: array[int]
    last_run: array[int]

    @classmethod
    def of(cls, statements: Sequence[Waiting], runs: array[int]) -> Deliveries:
        """Each event alone in a delivery of its own, as most are."""
        ones = array("i", [1]) * len(statements)
        sets = array("i", (one[VERB] in _SETS for one in statements))
        return cls(statements, runs, ones[:], ones[:], ones, sets, runs[:], runs[:])

    def add(self, indexes: Iterable[int]) -> None:
        """All events of one commit, in their order."""
        slots: dict[tuple[object, ...], list[int]] = {}
        for index in indexes:
            slots.setdefault(slot_of(self.statements[index]), []).append(index)
        for slot in slots.values():
            if len(slot) > 1:
                for delivery in self._cut(slot):
                    self._number(delivery)

    def _cut(self, slot: list[int]) -> Iterator[list[int]]:
        """The deliveries of one slot."""
        seen: set[tuple[object, ...]] = set()
        delivery: list[int] = []
        for part in self._parts(slot):
            words = {words_of(self.statements[index]) for index in part}
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
        number = sets = 0
        before: tuple[object, ...] = ()
        for index in delivery:
            one = self.statements[index]
            words = words_of(one)
            # A record that is there twice stands at one position.
            here = (one[AT], words)
            if here != before:
                before = here
                number += 1
                copies[words] = copies.get(words, 0) + 1
                sets += self.sets[index]
            self.number[index], self.copy[index] = number, copies[words]
        first, last = self.run[delivery[0]], self.run[delivery[-1]]
        for index in delivery:
            self.size[index], self.sets[index] = number, sets
            self.first_run[index], self.last_run[index] = first, last
