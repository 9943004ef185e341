"""Where an event stands in its commit: its ordinal in the longest delivery of its object."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from transforms.fault import Fault
from transforms.formats.dgraph.statements import DROP, OPERATIONS, TYPES, Statement

Verb: TypeAlias = "int | tuple[str | None, str | None]"
Waiting: TypeAlias = (
    "tuple[str, int | None, Verb, str | None, str | None, str | None, int | str | None, int,"
    " int, int | None, tuple[str, str] | None]"
)
"""A statement that waits for its neighbours: ``namespace``, ``commit_ts``, its verb (``kind`` and ``op``), ``uid``,
``attr``, ``value``, ``value_type``, marks, ``at``, ``sent_at`` and ``fault``.

There may be a million of them in memory, so that what is known is a small number in place of a text: the verb, and the
type. ``at`` is where it stands in its object: its offset in the topic, or else in the object.
"""

VERB_AT: Final = 2
MARKS_AT: Final = 7
LINE_AT: Final = 8
"""Where a waiting statement has what positions follow from."""

commit_of = itemgetter(0, 1)
slot_of = itemgetter(3, 4)
"""A slot is what one delivery is of, within its commit: a predicate of a node."""

words_of = itemgetter(2, 5, 6)
"""What makes two events of a slot the same: verb, value and type of the value."""

HAS_KEY, HAS_OFFSET = 1, 2
"""The marks."""

VERBS: Final = tuple(OPERATIONS)
_NUMBER_OF_VERB: Final[Mapping[tuple[str | None, str | None], int]] = {
    verb: number for number, verb in enumerate(VERBS)
}
_NUMBER_OF_TYPE: Final = {name: number for number, name in enumerate(TYPES)}


def waiting(statement: Statement, *, at: int, has_offset: bool) -> Waiting:
    """The statement as it is kept until all of its object are there."""
    verb = (statement.kind, statement.op)
    marks = (HAS_KEY if statement.has_key else 0) | (HAS_OFFSET if has_offset else 0)
    kind = statement.value_type
    return (
        statement.namespace,
        statement.commit_ts,
        _NUMBER_OF_VERB.get(verb, verb),
        statement.uid,
        statement.attr,
        statement.value,
        kind if kind is None else _NUMBER_OF_TYPE.get(kind, kind),
        marks,
        at,
        statement.sent_at,
        None if statement.fault is None else (statement.fault.reason, statement.fault.detail),
    )


def awaited(kept: Waiting) -> Statement:
    """The statement that waited."""
    namespace, commit_ts, verb, uid, attr, value, value_type, marks, _, sent_at, fault = kept
    kind, op = VERBS[verb] if isinstance(verb, int) else verb
    return Statement(
        namespace,
        commit_ts,
        kind,
        op,
        uid,
        attr,
        value,
        TYPES[value_type] if isinstance(value_type, int) else value_type,
        marks & HAS_KEY != 0,
        False,
        sent_at,
        None if fault is None else Fault(*fault),
    )


# The deliveries of each commit in one object, and where each event stands in its delivery. A delivery is of one
# predicate of one node in one commit; a run is a series of neighbouring events of one commit. The events of a commit
# may form several runs, with events of other commits between them. There may be a million events: everything is kept by
# an event's index, in arrays, and each event is looked at a fixed number of times.


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
        sets = array("i", (one[VERB_AT] in _SETS for one in statements))
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
            here = (one[LINE_AT], words)
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


# The position of an event: its ordinal in the longest delivery. All events of a commit have one timestamp, and what
# orders them is the order in which they were sent. A restart sends commits again, from their first event on, and a
# crash, the end of a file or of a window may cut one. So events are numbered per delivery, and the smallest of the
# positions that an event's deliveries have counts:
# - a delivery whose beginning was seen comes before one that stands at the beginning of its object (a file, a partition
#   in one window) and may be the rest of one, which comes last where the object goes on behind it;
# - of those, the longest first: a shorter one is a beginning of it.
#
# Only events of one predicate of one node need an order, and one leader sends them all; so a delivery is of these only,
# and events of other groups may stand between its own. Behind such a gap a new delivery begins if any of the events up
# to the next gap was there before. Without a gap, an event that comes again is another one: a commit may set, delete
# and set again.

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
        at = one[LINE_AT] if one[MARKS_AT] & HAS_OFFSET else 0
        first, last = found.first_run[index], found.last_run[index]
        kind = WHOLE if first > 0 else REST_AMID if last == last_run else REST
        within = (kind, -found.size[index], found.number[index], at)
        yield CommitPosition(within, found.copy[index], found.sets[index], index in behind)


def _behind(statements: Sequence[Waiting]) -> frozenset[int]:
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
