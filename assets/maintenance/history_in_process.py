"""The history of one gold table that fits into this process: what a compaction asks and writes without Java."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from assets.control import compacted, ledger, progress
from assets.control.compacted import NewBase
from assets.executors.in_process import InProcess, values_of
from assets.gold import stored_in_process
from assets.gold.fold import TableFold
from assets.gold.plan import TablePlan
from assets.gold.silver_in_process import SilverInProcess, TooLarge
from assets.gold.stored_in_process import StoredInProcess
from assets.silver import derive
from assets.silver.plan import SilverPlan
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from transforms.change import CONTROL, HOLD, LogPosition
from transforms.compaction_watermarks import CompactionWatermark, Span
from transforms.errors import CompactionRefused
from transforms.feed.names import HISTORY, TOMBSTONES
from transforms.gold import folded_rows
from transforms.gold.columns import EFFECT, LOG_POSITION
from transforms.gold.fold_rows import keys_of


# Without slots: what is read is kept.
@dataclass(frozen=True)
class HistoryInProcess:
    """A ``compaction.History`` in this process: bases and tombstones are Arrow tables."""

    lake: Lake
    silver: SilverInProcess
    stored: StoredInProcess

    @classmethod
    def of(cls, lake: Lake, plan: TablePlan) -> Self:
        """The table's changes above its present compaction watermark, and its base.

        Raises:
            TooLarge: It does not fit into this process, or has what only Spark can write.
        """
        stored = StoredInProcess.of(
            lake, plan.feed, plan.table, plan.name, plan.compaction_watermark
        )
        silver = SilverInProcess.of(lake, plan)
        size, rows = (
            sum(one.size for one in silver.files.parts),
            sum(one.rows for one in silver.files.parts),
        )
        # Each change is folded twice: into the base, and for the proof.
        if not lake.choice.fits_in_process(size + stored.size, stored.count + 2 * rows):
            raise TooLarge
        tables = (Layer.SILVER, Layer.BASE, Layer.COMPACTED)
        others = (lake.in_process_table(layer, plan.feed.name) for layer in tables)
        if not (stored.may_be_written and all(one.may_be_written for one in others)):
            raise TooLarge
        return cls(lake, silver, stored)

    @property
    def plan(self) -> TablePlan:
        return self.silver.plan

    @cached_property
    def _changes(self) -> pa.Table:
        """The changes that count, without the deletes that complete snapshots stand for."""
        return self.silver.every

    @cached_property
    def _positions(self) -> list[tuple[LogPosition, int]]:
        """Where each of the changes stands, and how much of that is the same in every delivery."""
        rows = self._changes
        prefixes = rows["dedup_prefix"].to_pylist()
        return [*zip(values_of(rows, "log_position"), prefixes, strict=True)]

    def stand_at_commits(self) -> bool:
        transactions = self._changes["transaction"].combine_chunks()
        at_commit = pc.struct_field(transactions, "at_commit")
        return bool(pc.any(pc.fill_null(at_commit, False)).as_py())

    def first_held(self) -> LogPosition | None:
        found: list[LogPosition] = []
        for part in self.silver.files.parts:
            rows = self.silver.files.read_file(part, ["table", "effect", "log_position"])
            mine = pc.fill_null(pc.equal(rows["table"], self.plan.name), False)
            held = rows.filter(pc.and_(mine, pc.equal(rows["effect"], HOLD)))
            found += values_of(held, "log_position")
        return min(found, default=None)

    def first_open(self) -> LogPosition | None:
        if not self.plan.kinds.transactions:
            return None
        found: list[LogPosition] = []
        released = self.plan.released or {}
        columns = ["effect", "log_position", "transaction"]
        for rows, _ in self.silver.rows_of(self.silver.files.parts, columns):
            positions = values_of(rows, "log_position")
            found += [
                position
                for one, position in zip(rows["transaction"].to_pylist(), positions, strict=True)
                if one is not None and one["commit"] is None and one["id"] not in released
            ]
        return min(found, default=None)

    def spans(self, below: Sequence[LogPosition]) -> Mapping[str | None, Sequence[Span]]:
        reached: dict[tuple[str | None, str], list[LogPosition]] = defaultdict(list)
        for stream, window, log_position in self._streams(below):
            reached[stream, window].append(log_position)
        found: dict[str | None, list[Span]] = defaultdict(list)
        for (stream, window), some in reached.items():
            found[stream].append(Span(window, min(some), max(some)))
        return found

    def newest(
        self, below: Sequence[LogPosition], stream: str | None, last: str, within: LogPosition
    ) -> LogPosition | None:
        mine = (
            log_position
            for of, window, log_position in self._streams(below)
            if of == stream and window <= last and log_position <= within
        )
        return max(mine, default=None)

    def _streams(self, below: Sequence[LogPosition]) -> list[tuple[str | None, str, LogPosition]]:
        rows = self._changes
        cells = zip(
            rows["stream"].to_pylist(),
            rows["window"].to_pylist(),
            (position for position, _ in self._positions),
            strict=True,
        )
        return [one for one in cells if all(one[2] < position for position in below)]

    def counts(self, compaction_watermark: CompactionWatermark | None) -> tuple[int, int]:
        epochs = [
            (tuple(one["log_position"]), one["dedup_prefix"])
            for one in self.plan.complete_snapshots
        ]
        old, new = self.plan.compaction_watermark, compaction_watermark
        above = (one for one in epochs if old is None or not old.covers(*one))
        positions = [*self._positions, *above]
        return len(positions), 0 if new is None else sum(new.covers(*one) for one in positions)

    def old_base(self) -> int:
        base = self.silver.base_rows
        return 0 if base is None else int(base.num_rows)

    def base_at(self, compaction_watermark: CompactionWatermark) -> pa.Table:
        return self._fold(replace(self.silver, up_to=compaction_watermark)).to_base()

    def size(self, base: pa.Table) -> int:
        return int(base.num_rows)

    def _fold(self, silver: SilverInProcess) -> TableFold[pa.Table]:
        return TableFold.of(InProcess(), self.plan, silver)

    def proved(self, base: pa.Table, compaction_watermark: CompactionWatermark) -> str:
        feed, table = self.plan.feed, self.plan.table
        newer = replace(self.silver, above=compaction_watermark, base_rows=base)
        made = self._fold(newer).from_history().rows
        present = made.filter(pc.not_equal(made[EFFECT], "remove"))
        ours, theirs = (
            stored_in_process.row_digests_of(table, rows) for rows in (self.stored.rows, present)
        )
        if ours != theirs:
            keys = sorted({key for key, _ in (ours - theirs) + (theirs - ours)})[:3]
            known = ledger.read_objects(self.lake, feed)
            behind = progress.unfinished(self.lake, feed, known)
            raise CompactionRefused(feed.name, self.plan.name, keys, behind)
        return stored_in_process.whole_digest(ours)

    def commit(self, base: pa.Table, compaction_watermark: CompactionWatermark) -> None:
        """Whoever compacts holds the lock of silver, so that nothing comes meanwhile."""
        lake, feed, name = self.lake, self.plan.feed, self.plan.name
        known = compacted.compaction_watermark_facts(lake, feed).get(name)
        newest = known["newest_window"] if known else ""
        identities: set[bytes] = set()
        for rows, window in self._covered(compaction_watermark):
            identities |= compacted.identities_of(rows)
            newest = max(newest, window)
        compacted.remember_identities_in_process(lake, feed, name, identities)
        new = NewBase(name, self.plan.table, base, compaction_watermark, newest)
        compacted.write_base(lake, feed, new)

    def _covered(self, compaction_watermark: CompactionWatermark) -> list[tuple[pa.Table, str]]:
        """The table's rows of silver at or below a watermark, as they are now, by file, each with its window."""
        table = self.lake.in_process_table(Layer.SILVER, self.plan.feed.name)
        found = []
        for rows in table.each():
            mine = rows.filter(pa.array(self._is_covered(rows, compaction_watermark), pa.bool_()))
            if mine.num_rows:
                found.append((mine, mine["window"][0].as_py()))
        return found

    def _is_covered(self, rows: pa.Table, compaction_watermark: CompactionWatermark) -> list[bool]:
        """Of each row of silver whether it is the table's, counts, and stands at or below the compaction watermark."""
        waits = pc.is_in(rows["effect"], pa.array([HOLD, *CONTROL]))
        counts = pc.and_(pc.is_valid(rows["declared"]), pc.invert(waits))
        mine = pc.and_(pc.fill_null(pc.equal(rows["table"], self.plan.name), False), counts)
        positions = zip(
            values_of(rows, "log_position"), rows["dedup_prefix"].to_pylist(), strict=True
        )
        return [
            is_own and compaction_watermark.covers(*position)
            for is_own, position in zip(mine.to_pylist(), positions, strict=True)
        ]

    def remove_from_silver(self, compaction_watermark: CompactionWatermark) -> None:
        lake, feed = self.lake, self.plan.feed
        known = compacted.known_identities(lake, feed, self.plan.name)
        unknown = {
            window
            for rows, window in self._covered(compaction_watermark)
            if not compacted.identities_of(rows) <= known
        }
        if unknown:
            derive.derive_planned(lake, SilverPlan.read(lake, feed, sorted(unknown)))
        windows = sorted({window for _, window in self._covered(compaction_watermark)})
        silver = lake.in_process_table(Layer.SILVER, feed.name)
        for start in range(0, len(windows), _WINDOWS):
            some = windows[start : start + _WINDOWS]
            rows = silver.read(None, {"window": some})
            left = [not one for one in self._is_covered(rows, compaction_watermark)]
            silver.put_windows(rows.filter(pa.array(left, pa.bool_())), some)

    def droppable(self, compaction_watermark: CompactionWatermark | None) -> pa.Table:
        """All tombstones, with ``is_superseded`` and ``is_expired``."""
        table = self.plan.table
        rows = self.stored.tombstones.read(folded_rows.tombstones_schema(table))
        keys = keys_of(table, rows)
        positions = [tuple(one) for one in rows[LOG_POSITION].to_pylist()]
        newest: dict[object, LogPosition] = {}
        stored = (tuple(one) for one in self.stored.rows[LOG_POSITION].to_pylist())
        for key, position in chain(
            zip(self.stored.keys, stored, strict=True), zip(keys, positions, strict=True)
        ):
            newest[key] = max(newest.get(key, position), position)
        superseded = [position < newest[key] for key, position in zip(keys, positions, strict=True)]
        expired = [
            compaction_watermark is not None and compaction_watermark.covers(one, len(one))
            for one in positions
        ]
        rows = rows.append_column("is_superseded", pa.array(superseded, pa.bool_()))
        return rows.append_column("is_expired", pa.array(expired, pa.bool_()))

    def tombstone_counts(self, droppable: pa.Table) -> tuple[int, int, int]:
        superseded = pc.sum(droppable["is_superseded"]).as_py() or 0
        gone = pc.sum(_goes(droppable)).as_py() or 0
        return superseded, gone - superseded, droppable.num_rows - gone

    def drop(self, droppable: pa.Table) -> None:
        left = droppable.filter(pc.invert(_goes(droppable)))
        self.stored.tombstones.rewrite(left.drop(["is_superseded", "is_expired"]))

    def tidy(self) -> None:
        for suffix in ("", TOMBSTONES, HISTORY):
            self._table(suffix).tidy()

    def files(self) -> int:
        return len(self._table("").files())

    def _table(self, suffix: str) -> InProcessTable:
        return self.lake.in_process_table(Layer.GOLD, self.plan.feed.name, self.plan.name + suffix)


_WINDOWS = 100
"""Maximum number of windows of silver that one commit rewrites."""


def _goes(droppable: pa.Table) -> pa.Array:
    return pc.or_(droppable["is_superseded"], droppable["is_expired"])
