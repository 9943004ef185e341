"""The laws of cuts: in a recorded cut no transaction shows in part, and its rows are what the oracle says.

Whole logs are drawn, and how they are delivered: topics that are read up to different moments, windows that are left
out, what a connector sends again, transactions that come late. A thousandth of ``WEIR_LAW_HISTORIES`` is drawn, from
``WEIR_LAW_SEED`` on, of forty transactions each.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from assets.control import progress
from assets.control.live_rows import only_live
from assets.cuts import record, rows
from assets.cuts.record import Cut, Recorded
from assets.executors.choice import IN_PROCESS
from assets.gold import apply
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from tests.laws.oracle.cuts import late_writes, rows_at
from tests.support.bank_log import (
    FIRST,
    GOLD,
    TRANSACTIONS,
    Sent,
    Topics,
    Transfer,
    Write,
    drawn,
    feed_of,
    records,
    topic_of,
)
from transforms.cuts.whole import NONE, Hindrance, Reached, Transaction, reached
from transforms.feed.feed import Feed

SEED = int(os.environ.get("WEIR_LAW_SEED", "0"))
HISTORIES = max(1, int(os.environ.get("WEIR_LAW_HISTORIES", "10000")) // 1_000)
TRANSFERS = 40


@dataclass
class World:
    """One log, and what a feed has of it: ``sequence`` is what the connector writes, with the transaction of each."""

    lake: Lake
    feed: Feed
    chance: Random
    transfers: list[Transfer]
    sequence: list[tuple[Sent, int]] = field(default_factory=list)
    topics: Topics = field(default_factory=Topics)
    pending: set[str] = field(default_factory=set)
    brought: set[str] = field(default_factory=set)

    @classmethod
    def draw(cls, lake: Lake, seed: int) -> World:
        chance = Random(f"cuts {seed}")
        # In every other log deleted rows stay.
        tables = {
            name: replace(one, deletes=("remove", "mark")[seed % 2]) for name, one in GOLD.items()
        }
        feed = replace(feed_of(), tables=tables)
        world = cls(lake, feed, chance, drawn(chance, TRANSFERS))
        order = list(world.transfers)
        for _ in range(chance.choice([0, 0, 1, 2])):
            # It comes long after those that follow it in the log.
            late = order.pop(chance.randrange(len(order) // 2))
            order.insert(chance.randrange(len(order) // 2, len(order)), late)
        for number, one in enumerate(order):
            world._send(one, number)
            if chance.random() < 0.1:
                # The connector lost its place, and sends some again.
                for again in order[max(0, number - 3) : number + 1]:
                    world._send(again, number)
        return world

    def _send(self, one: Transfer, number: int) -> None:
        jitter = timedelta(minutes=self.chance.choice([0, 0, 0, 50, -50]))
        for sent in records(one, FIRST + timedelta(minutes=12 * number) + jitter):
            self.topics.send(sent)
            self.sequence.append((sent, one.id))

    def run(self, moment: int, *, everything: bool) -> Recorded:
        """A run that reads what was written by about a moment, and perhaps leaves out some windows."""
        ends = {TRANSACTIONS: self._written(TRANSACTIONS, moment)}
        for table in GOLD:
            ends[topic_of(table)] = self._written(
                topic_of(table), moment + self.chance.randint(0, 9)
            )
        landed = self.topics.land(self.lake, self.feed, ends)
        self.pending |= landed
        windows = sorted(self.pending)
        if not everything and self.chance.random() < 0.3:
            windows = sorted(self.chance.sample(windows, self.chance.randint(0, len(windows))))
        if windows:
            derive.derive(self.lake, self.feed, windows)
            apply.apply_tables(self.lake, self.feed, [*self.feed.tables.values()], windows)
            progress.finish(self.lake, self.feed, windows)
        self.pending -= {*windows}
        return record.record(self.lake, self.feed)

    def _written(self, topic: str, moment: int) -> int:
        count = sum(sent.topic == topic for sent, _ in self.sequence[:moment])
        return max(count, self.topics.read.get(topic, 0))

    def _read(self) -> dict[int, set[bytes]]:
        """The records that were read of each transaction; what comes again is the same."""
        seen: Counter[str] = Counter()
        found: dict[int, set[bytes]] = defaultdict(set)
        for sent, transaction in self.sequence:
            if seen[sent.topic] < self.topics.read.get(sent.topic, 0):
                found[transaction].add(sent.topic.encode() + sent.value.split(b', "ts_ms"')[0])
            seen[sent.topic] += 1
        return found

    def there(self) -> set[int]:
        """The transactions of which every record was read."""
        read = self._read()
        return {one.id for one in self.transfers if len(read[one.id]) == len(one.writes) + 2}

    def writes_read(self) -> frozenset[Write]:
        """The changes that were read."""
        read = self._read()
        return frozenset(
            write
            for one in self.transfers
            for write in one.writes
            if any(f'"lsn": {write.lsn}'.encode() in record for record in read[one.id])
        )


def shown(lake: Lake, feed: Feed, cut: Cut, newest: Cut) -> dict[str, dict[int, int]]:
    """The rows of all tables as of a cut, but for those that are marked as deleted there."""
    then = rows.lake_at(lake, newest)
    return {
        name: {
            row["id"]: row["cents"]
            for row in only_live(
                rows.TableAt(then, feed, table, name, cut.log_position).in_process()
            ).to_pylist()
        }
        for name, table in feed.tables.items()
    }


@pytest.mark.parametrize("seed", range(SEED, SEED + HISTORIES))
def test_a_cut_shows_whole_transactions_and_nothing_else(tmp_path: Path, seed: int) -> None:
    world = World.draw(lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS), seed)
    promised: dict[str, frozenset[Write]] = {}
    moment = 0
    while moment < len(world.sequence):
        moment = min(len(world.sequence), moment + world.chance.randint(5, 60))
        found = world.run(moment, everything=moment == len(world.sequence))
        cuts = [one for one in record.cuts_of(world.lake, world.feed.name) if one.is_reached]
        if world.pending:
            assert any("not in gold yet" in one for one in found.held_by)
            continue
        there = world.there()
        for cut in cuts:
            assert cut.broken_by is None
            point = cut.log_position[2]
            expected = rows_at(world.transfers, there, point)
            assert shown(world.lake, world.feed, cut, cuts[-1]) == expected, f"as of {cut.text}"
            read = world.writes_read()
            new = read - promised.setdefault(cut.text, read)
            assert cut.late_events == late_writes(new, cut.log_position), f"late below {cut.text}"
        newest = max((cut.log_position[2] for cut in cuts), default=0)
        told = {one.name: one.keys_ahead for one in cuts[-1].tables} if cuts else {}
        for name in told:
            now = world.lake.in_process_table(Layer.GOLD, world.feed.name, name).rows()
            ahead = sum(row["_weir_log_position"][2] > newest for row in now)
            assert ahead <= (told[name] or 0), name
    assert cuts
    assert cuts[-1].log_position[2] == max(one.point for one in world.transfers)
    assert found.held_by == ()


# The decision alone, over thousands of logs.


def _log(chance: Random) -> list[Transaction]:
    """Transactions in the order of their ends, each with its stretch of the log."""
    found, at = [], 0
    for number in range(chance.randint(1, 12)):
        first = at + chance.randint(1, 3)
        last = first + chance.randint(0, 4)
        at = last
        found.append(
            Transaction(
                f"{number}", end=number, is_whole=True, first=(0, 1, first), last=(0, 1, last)
            )
        )
    return found


def _as_read(chance: Random, log: Sequence[Transaction]) -> list[Transaction]:
    """The same as some run may have read them: some in part, some without their end, the newest not at all."""
    seen = []
    for one in log[: chance.randint(0, len(log))]:
        copy = Transaction(one.id, one.end, chance.random() < 0.85, one.first, one.last)
        if chance.random() < 0.1:
            copy.end, copy.is_whole = None, False
        if not copy.is_whole and chance.random() < 0.5:
            copy.first = copy.last = None
        seen.append(copy)
    return seen


def test_nothing_that_is_left_out_stands_at_or_below_what_is_reached() -> None:
    moved = 0
    for seed in range(SEED, SEED + 5_000):
        chance = Random(f"reached {seed}")
        log = _log(chance)
        seen = _as_read(chance, log)
        hindrances = [
            Hindrance((0, 1, chance.randint(1, 40)), "waits")
            for _ in range(chance.choice([0, 0, 1]))
        ]
        start = Reached(NONE, -1)
        now = reached(start, seen, hindrances)
        left_out = [one for one in seen if not now.has(one)]
        assert all(one.first is None or one.first > now.log_position for one in left_out), seed
        assert all(one.is_whole for one in seen if now.has(one)), seed
        if now != start:
            moved += 1
            assert all((one.log_position or NONE) > now.log_position for one in hindrances), seed
        # All of it, read at last, is reached; and from where it stood before as from the beginning.
        assert reached(now, log).log_position == reached(start, log).log_position
        if len(seen) < len(log) or left_out:
            continue
        assert now.held_by == () or hindrances
    assert moved > 2_000
