"""One table of a drawn source and the log of its changes, as a connector sends them, and what gold has to be of it.

A source draws what happens to its table: changes, changes that are lost, and snapshots. It keeps for itself where each
message stands in its own order (``point``), beside what the connector writes of that. Expected rows come from the
former alone, so that nothing here knows how the product reads a position.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, ClassVar

KEYS = range(6)
STARTED_MS = 1_795_000_000_000

LogPoint = tuple[int, ...]
"""Where something stands in the source's own order."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a statement does to one row: the operation as Debezium calls it, the key, the new name and the old one."""

    operation: str
    key: int
    name: str | None
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A record of the topic: its change, where that stands, and what the connector says of its point and time.

    ``goes_on``: whether it is of the same transaction, or chunk of rows, as the record before it.
    """

    offset: int
    change: Change
    point: LogPoint
    said: dict[str, Any]
    at_ms: int
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot that was taken: its messages, and where it removes what it does not name, if that can be proved."""

    messages: Sequence[Message]
    removes_at: LogPoint | None


class Source(ABC):
    """A source that draws its history; each kind of source says how its connector writes it."""

    format: ClassVar[str] = "debezium"
    kinds: ClassVar[Sequence[str]] = ("initial", "blocking", "incremental")
    """The snapshots that its connector takes."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.rows: dict[int, str] = {}
        self.messages: list[Message] = []
        self.snapshots: list[Snapshot] = []
        self.lost = 0
        self.healed = 0
        self.is_lost = False
        self.goes_on = False
        self.moment = 0

    @abstractmethod
    def act(self) -> None:
        """Something happens to rows."""

    @abstractmethod
    def snapshot(self, kind: str) -> None:
        """A snapshot is taken; what is lost is lost until then."""

    def settle(self) -> None:
        """What is open ends."""
        return

    @abstractmethod
    def restart(self) -> None:
        """The log begins again: positions are lower than all before."""

    def send(self, change: Change, point: LogPoint, **said: Any) -> Message:
        """Send a change as the next message."""
        offset = len(self.messages)
        message = Message(offset, change, point, said, self.now_ms, self.goes_on)
        self.messages.append(message)
        return message

    @property
    def now_ms(self) -> int:
        """The source's clock."""
        return STARTED_MS + 1000 * self.moment

    def drawn_change(self, key: int, name: str | None) -> Change:
        """A change of the row of this key, whose name is None where it is not there."""
        if name is not None and self.rng.random() < 0.3:
            return Change("d", key, None, name)
        changed = f"v{self.moment}.{self.rng.random():.9f}"
        return Change("c" if name is None else "u", key, changed, name)

    def put(self, change: Change) -> None:
        """The change shows in the table."""
        self.rows.pop(change.key, None)
        if change.name is not None:
            self.rows[change.key] = change.name

    def named_rows(self) -> list[tuple[Change, str]]:
        """The rows that a full snapshot reads, each with its mark."""
        found = []
        first, last = self.rng.choice(
            [("first", "last"), ("first_in_data_collection", "last_in_data_collection")]
        )
        rows = sorted(self.rows.items())
        for number, (key, name) in enumerate(rows):
            mark = first if number == 0 else last if number == len(rows) - 1 else "true"
            found.append((Change("r", key, name), mark))
        return found

    def take(self, found: list[Message], removes_at: LogPoint | None) -> None:
        """Keep a snapshot, which heals what was lost if it is a whole one."""
        self.snapshots.append(Snapshot(found, removes_at))
        self.is_lost = False
        if removes_at is not None:
            self.healed = self.lost

    def sent_again(self) -> None:
        """A killed connector begins again at some change since the last snapshot."""
        taken = self.snapshots[-1].messages if self.snapshots else []
        begin = taken[-1].offset + 1 if taken else 0
        since = self.messages[begin:]
        if since and not self.is_lost:
            for one in since[self.rng.randrange(len(since)) :]:
                self.messages.append(replace(one, offset=len(self.messages)))

    def live(self, turns: int) -> None:
        """So many things happen."""
        for _ in range(turns):
            self.moment += 1
            chance = self.rng.random()
            if chance < 0.76:
                self.act()
            elif chance < 0.84:
                self.is_lost = True
            elif chance < 0.88:
                self.sent_again()
            else:
                self.snapshot(self.rng.choice(self.kinds))

    def recover(self) -> None:
        """The connector works again, if it did not."""
        if self.is_lost or not self.snapshots:
            self.snapshot(self.kinds[0])
        self.settle()

    def live_on(self) -> None:
        """Some changes are not lost."""
        self.recover()
        begin = len(self.messages)
        while len(self.messages) < begin + 3:
            self.moment += 1
            self.act()
        self.settle()

    def line(self, table: str, message: Message) -> str:
        """One line of a dump."""
        change = message.change
        before, after = (
            None if name is None else {"id": change.key, "name": name}
            for name in (change.before, change.name)
        )
        source = {"snapshot": "false", "ts_ms": message.at_ms, **message.said}
        envelope = {
            **{"op": change.operation, "before": before, "after": after},
            **{"source": {"db": "d", "schema": "s", "table": table, **source}},
            "ts_ms": message.at_ms + 400,
        }
        record = {"topic": table, "partition": 0, "offset": message.offset}
        return json.dumps({**record, "key": {"id": change.key}, "value": envelope})


class Committed(Source):
    """A source whose log has whole transactions, one behind the other: the order of its messages is its own order."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.turn = 0

    def act(self) -> None:
        self.said(self.transaction())

    def next_turn(self) -> LogPoint:
        """The next point of the source's own order."""
        self.turn += 1
        return self.turn, 0

    def transaction(self) -> list[tuple[Change, LogPoint, dict[str, Any]]]:
        """A transaction of some changes, of which a row may meet several; each with its point, both kinds."""
        changes = []
        for _ in range(self.rng.choice([1, 1, 2, 3, 4])):
            key = self.rng.choice(KEYS)
            changes.append(self.drawn_change(key, self.rows.get(key)))
            self.put(changes[-1])
        written = self.written(changes)
        return [
            (change, self.next_turn(), said) for change, said in zip(changes, written, strict=True)
        ]

    def said(self, transaction: Iterable[tuple[Change, LogPoint, dict[str, Any]]]) -> None:
        """Send a transaction, unless it is lost."""
        for change, point, said in transaction:
            if self.is_lost:
                self.lost += 1
            else:
                self.send(change, point, **said)
                self.goes_on = True
        self.goes_on = False

    @abstractmethod
    def written(self, changes: Sequence[Change]) -> list[dict[str, Any]]:
        """What the connector says of the points of a transaction's changes, which the log gets now."""

    @abstractmethod
    def log_end(self, kind: str) -> dict[str, Any]:
        """What the connector says of the point of a snapshot's rows that is taken now."""

    def snapshot(self, kind: str) -> None:
        said, point = self.log_end(kind), self.next_turn()
        if kind == "incremental":
            keys = [one for one in sorted(self.rows) if self.rng.random() < 0.7]
            rows = [(Change("r", key, self.rows[key]), "incremental") for key in keys]
            removes_at = None
        else:
            # Between the signal of a blocking snapshot and its read there may be changes, which are sent behind it.
            waiting = []
            while kind == "blocking" and self.rng.random() < 0.4:
                waiting.append(self.transaction())
            rows, removes_at = self.named_rows(), self.removal(point)
        found = []
        for row, mark in rows:
            found.append(self.send(row, point, snapshot=mark, **said))
            self.goes_on = kind == "incremental"
        self.goes_on = False
        self.take(found, removes_at)
        if kind != "incremental":
            for transaction in waiting:
                self.said(transaction)

    def removal(self, point: LogPoint) -> LogPoint | None:
        """Where a whole snapshot removes what it does not name; None of a source whose snapshots never say so."""
        return point[0], -1


def drawn(kind: Callable[[Random], Source], rng: Random) -> Source:
    """A history that ends with a connector that works."""
    source = kind(rng)
    source.live(rng.randint(10, 40))
    source.recover()
    return source


@dataclass(slots=True)
class History:
    """What is delivered of a source, and what gold has to be."""

    source: Source
    missing: frozenset[int] = frozenset()
    expected: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Source, missing: frozenset[int]) -> History:
        """All of it is delivered but the messages of some offsets."""
        found = cls(source, missing)
        found.expected = found.folded()
        if found.is_whole():
            assert found.expected == source.rows
        return found

    def lines(self, table: str) -> dict[int, str]:
        """What is delivered, by its offset, as lines of a dump."""
        return {
            one.offset: self.source.line(table, one)
            for one in self.source.messages
            if one.offset not in self.missing
        }

    def proved(self, snapshot: Snapshot) -> bool:
        """Whether a snapshot can be known to be whole: one row has but one mark, and no row has none."""
        here = not self.missing & {one.offset for one in snapshot.messages}
        return snapshot.removes_at is not None and len(snapshot.messages) > 1 and here

    def is_whole(self) -> bool:
        """Whether a snapshot heals all that was ever lost."""
        full = [one for one in self.source.snapshots if one.removes_at is not None]
        return bool(full) and self.source.lost == self.source.healed and self.proved(full[-1])

    def folded(self) -> dict[int, str]:
        """The rows after everything that is delivered, each thing at its point."""
        told: list[tuple[LogPoint, Change | None]] = [
            (one.point, one.change)
            for one in self.source.messages
            if one.offset not in self.missing
        ]
        told += [
            (one.removes_at, None)
            for one in self.source.snapshots
            if one.removes_at is not None and self.proved(one)
        ]
        rows: dict[int, str] = {}
        for _, change in sorted(told, key=lambda one: one[0]):
            if change is None:
                rows.clear()
            else:
                rows.pop(change.key, None)
                if change.name is not None:
                    rows[change.key] = change.name
        return rows
