"""Whether gold has all of a table that its source had committed before a snapshot, and what proves it.

Two things have to be known: that the connector had sent all of it, and that all that was sent by then is in gold. A
change of *another* table from behind the snapshot proves neither: a connector's producer writes the partitions of
topics side by side, a run asks for their ends one after another, and a sink writes the files of each topic when it
likes. What does:

- a recorded cut from behind the snapshot: transactions up to there were counted to be whole (docs/cuts.md);
- the connector's replication slot, once it has confirmed a commit from behind the snapshot: Debezium confirms what the
  broker has acknowledged. The ends of all topics are asked for after that, and gold has what is before them;
- changes of the table itself from behind the snapshot, in each partition of its topics: a partition keeps the order in
  which it was sent. Of files it is taken for granted that those of a table come in that order, and the result says so.

Vendor: https://github.com/debezium/debezium, ``PostgresStreamingChangeEventSource.commitOffset`` (the last commit that
was wholly passed on is flushed); Apache Kafka, KIP-779 and ``SubmittedRecords`` (offsets are committed up to the first
record that is not acknowledged).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets.control import ledger, progress, transactions
from assets.cuts import record
from assets.landing import kafka
from assets.reconcile.source import Confirmed, Source
from assets.storage.lake import Lake, Layer
from transforms.change import STREAM
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed
from transforms.feed.topics import has_transactions
from transforms.reconcile.judgement import BY_LOG, LogPlace, is_past
from transforms.silver.source_repairs import GENERATION

PartitionName = tuple[str, str]
"""A partition's name and its topic's id, as bronze has them."""

_NOWHERE: Final = LogPlace((), "")
OF_FILES: Final = (
    "changes of the table itself from behind the snapshot; that the files of a table come in the order of its log is"
    " taken for granted"
)
OF_PARTITIONS: Final = (
    "changes of the table itself from behind the snapshot, in each partition of its topic"
)


@dataclass(frozen=True, slots=True)
class Passed:
    """Whether gold has come past a snapshot with a table, and by what that is known, or why it is not; in words."""

    is_proved: bool
    says: str


@dataclass(slots=True)
class Passing:
    """Looks at how far gold has come of what the source had at one snapshot.

    ``before``: what the connector had confirmed before the snapshot was taken; None where nothing tells.
    """

    lake: Lake
    feed: Feed
    source: Source
    is_idle: bool
    before: Confirmed | None
    place: LogPlace = _NOWHERE
    _ends: Mapping[PartitionName, int] | None = None
    _amounts: dict[str, Mapping[str, int]] = field(default_factory=dict)
    _partitions: dict[str, frozenset[PartitionName]] = field(default_factory=dict)

    @classmethod
    def begun(cls, lake: Lake, feed: Feed, source: Source, *, is_idle: bool) -> Passing:
        """To be called before a snapshot is taken; its ``place`` is told once it is."""
        slot = feed.running.health.slot
        before = source.confirmed(slot) if slot and feed.reads_topics and not is_idle else None
        return cls(lake, feed, source, is_idle, before)

    def passed(self, table: str) -> Passed:
        """Whether gold has all of a table that the snapshot has."""
        if self.is_idle:
            return Passed(True, "the source is at rest, as the command line says")
        if self.feed.format not in BY_LOG:
            return Passed(
                False,
                f"changes of format {self.feed.format} do not stand by the log that the source itself names",
            )
        missed = []
        for one in self._proofs(table):
            if one.is_proved:
                return one
            missed.append(one.says)
        return Passed(False, "; ".join(missed))

    def _proofs(self, table: str) -> Iterator[Passed]:
        if not self.feed.reads_topics:
            yield self._by_own_changes(table)
            return
        yield self._by_cut()
        try:
            yield self._by_slot()
            if not has_transactions(self.feed.landing):
                yield self._by_own_changes(table)
        except UnreadableLanding as fault:
            yield Passed(False, str(fault))

    def _by_cut(self) -> Passed:
        if why := record.why_none(self.feed):
            return Passed(False, why)
        known = record.reached_cuts(self.lake, self.feed.name)
        if not known:
            return Passed(False, "no cut is recorded yet")
        cut = known[-1]
        if cut.broken_by:
            return Passed(False, f"the newest cut, {cut.text}, is broken: {cut.broken_by}")
        if cut.log_position[0] != self._epoch() or not is_past(cut.log_position, self.place):
            return Passed(False, f"the newest cut, {cut.text}, does not stand behind the snapshot")
        return Passed(True, f"the newest cut, {cut.text}")

    def _by_slot(self) -> Passed:
        slot = self.feed.running.health.slot
        if not slot:
            return Passed(
                False, "the feed file names no slot of the connector (`health: {slot: …}`)"
            )
        if self.before is None:
            return Passed(False, f"nobody reads a slot {slot} of the source")
        if self._ends is None:
            now = self.source.confirmed(slot)
            # Whoever reads it began before the snapshot, so that no snapshot of the connector's is under way.
            if now is None or now.reader != self.before.reader:
                return Passed(False, f"the connector began to read slot {slot} once more")
            if now.numbers <= self.place.numbers:
                return Passed(False, f"slot {slot} has confirmed nothing behind {self.place.text}")
            # Asked for after the connector has said that it was sent.
            self._ends = {
                (one.name, one.topic_id): one.written
                for one in kafka.look_at_topics(self.feed)
                if one.written > one.earliest
            }
        if not self._are_in_gold("", self._ends):
            return Passed(False, "not all that was sent by then is in gold")
        return Passed(True, f"slot {slot}, and gold has all that was sent by then")

    def _by_own_changes(self, table: str) -> Passed:
        of = self._changes_behind(table)
        if not self.feed.reads_topics:
            if not of:
                return Passed(False, f"no change of {table} from behind the snapshot has come")
            if any(one.waiting for one in transactions.still_open(self.lake, self.feed)):
                return Passed(False, "changes wait for the end of their transaction")
            is_proved = self._are_in_gold(table, {})
            return Passed(is_proved, OF_FILES if is_proved else "windows are not in gold yet")
        topics = {name.rpartition("/")[0] for name, _ in self._partitions_of(table) | of.keys()}
        there = [one for one in kafka.look_at_topics(self.feed) if one.topic in topics]
        lacking = [one.name for one in there if (one.name, one.topic_id) not in of]
        if lacking or not there:
            names = ", ".join(lacking) or table
            return Passed(False, f"no change from behind the snapshot has come in {names}")
        is_proved = self._are_in_gold(table, of)
        return Passed(is_proved, OF_PARTITIONS if is_proved else "windows are not in gold yet")

    def _are_in_gold(self, of: str, ends: Mapping[PartitionName, int]) -> bool:
        """Whether gold has all that bronze had when it first had all offsets before these ends.

        ``of``: what asks, for which it is remembered how much that was: bronze goes on growing.
        """
        if of not in self._amounts:
            held = ledger.bronze_contents(self.lake, self.feed).rows
            read = ledger.offsets_in(held) if ends else {}
            known = {name: one.next_offset for name, one in read.items()}
            if any(known.get(name, 0) < end for name, end in ends.items()):
                return False
            self._amounts[of] = ledger.amounts(self.feed, ledger.objects_in(held))
        return progress.are_finished(self.lake, self.feed, self._amounts[of])

    def _epoch(self) -> int:
        """The newest epoch: what stands in older ones is of another log."""
        rows = self.lake.in_process_table(Layer.ACCOUNTING, self.feed.name).rows(["last_position"])
        return max((row["last_position"][0] for row in rows if row["last_position"]), default=0)

    def _changes_behind(self, table: str) -> dict[PartitionName, int]:
        """The objects of bronze that have a change of a table from behind the snapshot, each with the end of one."""
        epoch = self._epoch()
        windows = [
            row["window"]
            for row in self._accounts_of(table)
            # Of several streams it is not told where the newest change stands.
            if len(row["last_position"]) <= _SHORTEST
            or is_past((*row["last_position"],), self.place)
        ]
        found: dict[PartitionName, int] = {}
        if not windows:
            return found
        silver = self.lake.in_process_table(Layer.SILVER, self.feed.name)
        names = ["table", *_RECORD, "log_position"]
        for rows in silver.each(names, {"window": windows}):
            near = self._near(rows.filter(pc.equal(rows["table"], table)), epoch)
            columns = (near[name].to_pylist() for name in names[1:])
            for name, generation, offset, position in zip(*columns, strict=True):
                if generation == GENERATION or (name, generation) in found:
                    continue
                if is_past((*position,), self.place):
                    found[name, generation] = offset + 1
        return found

    def _near(self, rows: pa.Table, epoch: int) -> pa.Table:
        """Rows of the stream that may stand behind the snapshot, by the first number of its place."""
        at = rows["log_position"]
        rows = rows.filter(pc.greater(pc.list_value_length(at), _SHORTEST))
        at = rows["log_position"]
        is_newest = pc.equal(pc.list_element(at, 0), epoch)
        is_change = pc.equal(pc.list_element(at, 1), STREAM)
        is_near = pc.greater_equal(pc.list_element(at, _SHORTEST), self.place.numbers[0])
        return rows.filter(pc.and_(pc.and_(is_newest, is_change), is_near))

    def _accounts_of(self, table: str) -> list[dict[str, Any]]:
        accounts = self.lake.in_process_table(Layer.ACCOUNTING, self.feed.name)
        rows = accounts.rows(["window", "table", "last_position"])
        return [row for row in rows if row["table"] == table and row["last_position"]]

    def _partitions_of(self, table: str) -> frozenset[PartitionName]:
        """Where changes of a table have come from, all of its windows together."""
        if table not in self._partitions:
            windows = {row["window"] for row in self._accounts_of(table)}
            silver = self.lake.in_process_table(Layer.SILVER, self.feed.name)
            found = set[PartitionName]()
            for rows in silver.each(["table", *_RECORD[:2]], {"window": windows}):
                mine = rows.filter(pc.equal(rows["table"], table))
                pairs = mine.group_by([*_RECORD[:2]]).aggregate([]).to_pylist()
                found |= {(one["object"], one["generation"]) for one in pairs}
            self._partitions[table] = frozenset(one for one in found if one[1] != GENERATION)
        return self._partitions[table]


_RECORD: Final = ("object", "generation", "byte_offset")
_SHORTEST: Final = 2
"""Epoch and phase; what comes behind them is a place in the log."""
