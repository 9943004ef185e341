"""What a set of change events means, in plain Python: what the Spark side is held to.

It shares no code with the packages it judges and knows nothing of windows, files or Spark. It is
meant to be checked by eye, so it is slow wherever that is clearer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256
from itertools import groupby

Image = dict[str, str | None]  # a column that is missing was not mentioned; None is a null
Key = tuple[str | None, ...]
Position = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """One delivery of something the source did to one row."""

    source: str  # mysql | cassandra | snapshot
    table: str
    operation: str  # insert | update | delete | replace | read
    position: Position
    event_at_ms: int | None  # None for snapshot rows, which have no cursor
    before: Image
    after: Image

    @property
    def identity(self) -> list[str]:
        """The part of the position that every delivery of the event shares, as texts."""
        # Replicas of Cassandra number the same mutation each in their own way.
        shared = self.position[:3] if self.source == "cassandra" else self.position
        return [str(number) for number in shared]

    @property
    def result(self) -> Image:
        """What the event says about the row once it has happened."""
        return self.before | self.after


class Effect(IntEnum):
    """What a change does to its key; the numbers order changes that share a position."""

    REMOVE = 0
    PUT = 1
    MERGE = 2


@dataclass(frozen=True, slots=True)
class Change:
    """An event as one key sees it: a key change is two of them."""

    key: Key
    effect: Effect
    written: Image
    event: Event


@dataclass(frozen=True, slots=True)
class Row:
    """A present row; values has every column that any of the events mentions."""

    values: Image
    position: Position
    event_id: str
    event_at_ms: int | None


@dataclass(frozen=True, slots=True)
class State:
    """Every key that was ever seen stands in exactly one of the two."""

    rows: dict[Key, Row]
    tombstones: dict[Key, tuple[Position, str]]


def event_id(event: Event) -> str:
    """The digest of everything that two deliveries of one event agree on."""
    identity = event.identity
    texts: list[str | None] = [event.table, event.operation, str(len(identity)), *identity]
    for image in (event.before, event.after):
        texts.append(str(len(image)))
        for column in sorted(image):
            texts += [column, image[column]]
    netstrings = ("-" if text is None else f"{len(text)}:{text}" for text in texts)
    return sha256("".join(netstrings).encode()).hexdigest()


def distinct(deliveries: Iterable[Event]) -> list[Event]:
    """One event per event id, as its delivery with the smallest position has it."""
    first: dict[str, Event] = {}
    for event in sorted(deliveries, key=lambda event: (event.position, event.event_at_ms or 0)):
        first.setdefault(event_id(event), event)
    return list(first.values())


def changes_of(event: Event, key_columns: Sequence[str]) -> list[Change]:
    """What the event does, and to which keys."""
    before_wins = event.after | event.before
    old_key = tuple(before_wins[column] for column in key_columns)
    key = tuple(event.result[column] for column in key_columns)
    if event.operation == "delete":
        return [Change(key, Effect.REMOVE, {}, event)]
    # The two differ only where a key column stands in both images, with two values.
    if event.operation in ("update", "replace") and old_key != key:
        return [
            Change(old_key, Effect.REMOVE, {}, event),
            Change(key, Effect.PUT, event.result, event),
        ]
    written = event.after | dict(zip(key_columns, key, strict=True))
    # A Cassandra insert is an upsert: it leaves alone what it does not mention.
    upsert = event.source == "cassandra" and event.operation == "insert"
    merges = event.operation == "update" or upsert
    return [Change(key, Effect.MERGE if merges else Effect.PUT, written, event)]


def chained(changes: list[Change]) -> list[Change]:
    """Changes that tie (given by event id), each after the one whose result it starts from."""
    remaining, ordered = list(changes), list[Change]()
    while remaining:
        results = [change.event.result for change in remaining]
        last = ordered[-1].event.result if ordered else None
        follows = [c for c in remaining if c.event.before and c.event.before == last]
        starts = [
            change
            for i, change in enumerate(remaining)
            if change.event.before not in results[:i] + results[i + 1 :]
        ]
        picked = (follows or starts or remaining)[0]
        ordered.append(picked)
        remaining = [change for change in remaining if change is not picked]
    return ordered


def in_order(changes: Iterable[Change]) -> list[Change]:
    """The changes of one key in the order in which they are applied."""

    def slot(change: Change) -> tuple[Position, Effect]:
        return (change.event.position, change.effect)

    ordered: list[Change] = []
    by_slot = sorted(changes, key=lambda change: (slot(change), event_id(change.event)))
    for (_, effect), tied in groupby(by_slot, key=slot):
        together = list(tied)
        ordered += chained(together) if effect is Effect.MERGE else together
    return ordered


def current(events: Iterable[Event], key_columns: Sequence[str]) -> State:
    """The state of one table after all events, delivered in any order and any number of times."""
    events = distinct(events)
    if len({event.table for event in events}) > 1:
        raise ValueError("current() takes the events of one table")
    blank: Image = dict.fromkeys(sorted({column for event in events for column in event.result}))
    changes: dict[Key, list[Change]] = defaultdict(list)
    for event in events:
        for change in changes_of(event, key_columns):
            changes[change.key].append(change)

    state = State(rows={}, tombstones={})
    for key, of_key in changes.items():
        values: Image | None = None
        for change in in_order(of_key):
            if change.effect is Effect.REMOVE:
                values = None
            elif change.effect is Effect.PUT or values is None:
                values = blank | change.written
            else:
                values = values | change.written
            last = change.event
        if values is None:
            state.tombstones[key] = (last.position, event_id(last))
        else:
            state.rows[key] = Row(values, last.position, event_id(last), last.event_at_ms)
    return state
