"""Law 9: a snapshot that is proved complete heals, in whatever order and windows its rows and the stream arrive.

Each history is a table of Postgres: transactions that may be open side by side, changes that a lost slot never sent,
and snapshots of both kinds anywhere. Where the last snapshot is whole, gold is what the source has, rows that vanished
included. Where a record of it is missing, what it names is right, and nothing vanishes by it. Stages and commits are
the product's, in this process. A fiftieth of ``WEIR_LAW_HISTORIES`` is drawn, from ``WEIR_LAW_SEED`` on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from assets.bookkeeping import window_progress
from assets.bronze import from_objects
from assets.executors.choice import IN_PROCESS
from assets.gold.apply import apply_feed
from assets.layers import Layer
from assets.silver import derive_windows
from orchestration.resources import lake_of
from tests.support.pet_feed import lay
from transforms.feed.feed import Feed, LossGuard, Table

TABLES = 10


def histories_of(histories: int) -> int:
    """How many histories are drawn where the laws of gold draw so many of each kind."""
    return max(1, histories // 50 // TABLES) * TABLES


BLOCKS = histories_of(int(os.environ.get("WEIR_LAW_HISTORIES", "10000"))) // TABLES
SEED = int(os.environ.get("WEIR_LAW_SEED", "0"))
WINDOWS = ("2026-11-20T01", "2026-11-20T02", "2026-11-20T03")
KEYS = range(6)
REMOVES, ROW, CHANGE = -1, 0, 1


@dataclass(slots=True)
class Message:
    """A record of the topic, and where it stands: ``at``, then what it is, then its own number in the log."""

    offset: int
    operation: str
    key: int
    name: str | None
    source: dict[str, Any]
    place: tuple[int, int, int]


@dataclass(slots=True)
class Snapshot:
    """A snapshot that was taken: its place, and its messages."""

    at: int
    messages: list[Message]


class Postgres:
    """One table and its log, drawn from a seed."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.rows: dict[int, str] = {}
        self.lsn = 100
        self.last_commit: int | None = None
        self.open: list[list[tuple[int, str, int, str | None]]] = []
        self.messages: list[Message] = []
        self.snapshots: list[Snapshot] = []
        self.is_lost = False

    def next_lsn(self) -> int:
        self.lsn += self.rng.choice([1, 1, 8, 40])
        return self.lsn

    def send(
        self, operation: str, key: int, name: str | None, place: tuple[int, int, int], **source: Any
    ) -> Message:
        offset = len(self.messages)
        message = Message(offset, operation, key, name, source, place)
        self.messages.append(message)
        return message

    def write(self) -> None:
        """A row changes in a transaction, which locks it."""
        if len(self.open) < 2 and (not self.open or self.rng.random() < 0.4):
            self.open.append([])
        mine = self.rng.choice(self.open)
        locked = {key for one in self.open if one is not mine for _, _, key, _ in one}
        free = [one for one in KEYS if one not in locked]
        if not free:
            return
        key = self.rng.choice(free)
        name = next((name for _, _, of, name in reversed(mine) if of == key), self.rows.get(key))
        if name is not None and self.rng.random() < 0.3:
            mine.append((self.next_lsn(), "d", key, None))
        else:
            operation = "c" if name is None else "u"
            mine.append((self.next_lsn(), operation, key, f"v{self.lsn}"))

    def commit(self) -> None:
        """A transaction ends; its changes are sent then, unless the slot is lost."""
        if not self.open:
            return
        changes = self.open.pop(self.rng.randrange(len(self.open)))
        for own, operation, key, name in changes:
            self.rows.pop(key, None)
            if name is not None:
                self.rows[key] = name
            if not self.is_lost:
                at = own if self.last_commit is None else max(own, self.last_commit)
                sequence = [self.last_commit and str(self.last_commit), str(own)]
                place = (at, CHANGE, own)
                self.send(operation, key, name, place, lsn=own, sequence=json.dumps(sequence))
        self.last_commit = self.next_lsn()

    def snapshot(self) -> None:
        """A new slot waits for open transactions; a blocking snapshot is asked for by a committed signal."""
        if self.is_lost or self.rng.random() < 0.5:
            while self.open:
                self.commit()
            at, self.last_commit, self.is_lost = self.next_lsn(), None, False
            # The first change behind it may stand at the very place.
            self.lsn -= self.rng.choice([0, 1])
        else:
            at = self.next_lsn()
            self.last_commit = self.next_lsn()
        found = []
        rows = sorted(self.rows.items())
        for number, (key, name) in enumerate(rows):
            flag = "first" if number == 0 else "last" if number == len(rows) - 1 else "true"
            source = {"lsn": at, "sequence": json.dumps([None, str(at)]), "snapshot": flag}
            found.append(self.send("r", key, name, (at, ROW, 0), **source))
        self.snapshots.append(Snapshot(at, found))


def drawn(rng: Random) -> Postgres:
    """A history that ends with a slot that works."""
    source = Postgres(rng)
    for _ in range(rng.randint(10, 40)):
        chance = rng.random()
        if chance < 0.55:
            source.write()
        elif chance < 0.8:
            source.commit()
        elif chance < 0.9:
            source.is_lost = True
        else:
            source.snapshot()
    if source.is_lost or not source.snapshots:
        source.snapshot()
    while source.open:
        source.commit()
    return source


@dataclass(slots=True)
class History:
    """What is delivered of a source, and what gold has to be."""

    source: Postgres
    missing: frozenset[int] = frozenset()
    expected: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, rng: Random) -> History:
        source = drawn(rng)
        last = source.snapshots[-1]
        missing = frozenset[int]()
        if last.messages and rng.random() < 0.4:
            missing = frozenset({rng.choice(last.messages).offset})
        found = cls(source, missing)
        found.expected = found.folded()
        # A table of one row has but one mark, and one without rows has none: they are not proved.
        if not missing and len(last.messages) > 1:
            assert found.expected == source.rows
        return found

    def folded(self) -> dict[int, str]:
        """The rows after everything that is delivered, each thing at its place."""
        told: list[tuple[tuple[int, int, int], Message | None]] = [
            (one.place, one) for one in self.source.messages if one.offset not in self.missing
        ]
        told += [
            ((one.at, ROW, REMOVES), None)
            for one in self.source.snapshots
            if len(one.messages) > 1 and not self.missing & {of.offset for of in one.messages}
        ]
        rows: dict[int, str] = {}
        for _, message in sorted(told, key=lambda one: one[0]):
            if message is None:
                rows.clear()
            else:
                rows.pop(message.key, None)
                if message.name is not None:
                    rows[message.key] = message.name
        return rows


def line(table: str, message: Message) -> str:
    """One line of a dump."""
    after = None if message.name is None else {"id": message.key, "name": message.name}
    source = {"connector": "postgresql", "snapshot": "false", **message.source}
    envelope = {
        **{"op": message.operation, "before": None, "after": after},
        **{"source": {"db": "d", "schema": "s", "table": table, **source}, "ts_ms": 1},
    }
    record = {"topic": table, "partition": 0, "offset": message.offset}
    return json.dumps({**record, "key": {"id": message.key}, "value": envelope})


def delivered(histories: Mapping[str, History], folder: Path, rng: Random) -> None:
    """Every message in some window, some of them twice, in any order; or as a topic has them, each window a part."""
    for table, history in histories.items():
        lines: dict[str, list[str]] = {window: [] for window in WINDOWS}
        last = history.source.snapshots[-1].messages
        begin = last[0].offset if last else 0
        ends = sorted([begin, rng.randint(begin, begin + len(last))])
        is_in_order = rng.random() < 0.5
        for message in history.source.messages:
            if message.offset in history.missing:
                continue
            own = WINDOWS[sum(message.offset >= end for end in ends)]
            for _ in range(1 if is_in_order else rng.choice([1, 1, 1, 2])):
                window = own if is_in_order else rng.choice(WINDOWS)
                lines[window].append(line(table, message))
        for window, some in lines.items():
            rng.shuffle(some)
            name = f"{window.replace('T', '/')}/{table}.jsonl"
            lay(folder, name, "".join(one + "\n" for one in some).encode())


@pytest.mark.parametrize("block", range(BLOCKS))
def test_a_snapshot_heals_whatever_the_order_the_repeats_and_the_windows(
    block: int, tmp_path: Path
) -> None:
    rng = Random(f"snapshots {SEED + block}")
    histories = {f"t{number}": History.of(rng) for number in range(TABLES)}
    columns = {"id": "int", "name": "string"}
    tables = {name: Table(name, ("id",), columns, tuple(columns)) for name in histories}
    # What the guard on loss lets pass is another matter.
    feed = Feed(
        *("heals", "debezium", str(tmp_path / "landing")),
        tables=tables,
        loss_guard=LossGuard(share=1.0),
    )
    lake = lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS)
    delivered(histories, tmp_path / "landing", rng)
    for windows in _in_runs(rng):
        from_objects.land(lake, feed, windows)
        derive_windows.derive(lake, feed, windows)
        apply_feed.apply_tables(lake, feed, [*tables.values()], windows)
        window_progress.finish(lake, feed, windows)
    for name, history in histories.items():
        stored = lake.in_process_table(Layer.GOLD, feed.name, name)
        gold = {row["id"]: row["name"] for row in stored.rows(["id", "name"])}
        assert gold == history.expected, f"block {block}, table {name}"


def _in_runs(rng: Random) -> Sequence[list[str]]:
    """The windows in some order, one run for each or one for several; and one of them again."""
    order = rng.sample(WINDOWS, len(WINDOWS))
    runs = [order] if rng.random() < 0.2 else [[one] for one in order]
    return [*runs, [rng.choice(order)]]
