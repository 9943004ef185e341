"""The history of one gold table that fits into this process: what a compaction asks and writes without Java."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns import gold
from assets.columns.silver import SILVER_ARROW
from assets.control import compacted, ledger, progress
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
from transforms.column_types import map_columns
from transforms.compaction_watermarks import CompactionWatermark, Span
from transforms.errors import CompactionRefused
from transforms.feed import digest
from transforms.feed.names import HISTORY, TOMBSTONES
from transforms.gold import folded_rows
from transforms.gold.columns import EFFECT, LOG_POSITION
from transforms.gold.fold_rows import keys_of


# Without slots: what is read is kept.
@dataclass(frozen=True)
class HistoryInProcess:
    """See ``compaction.History``: bases and tombstones are Arrow tables."""

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
        size, rows = sum(one.size for one in silver.parts), sum(one.rows for one in silver.parts)
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
        """What is known of the table."""
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
        """See ``compaction_plans.Positions``."""
        transactions = self._changes["transaction"].combine_chunks()
        at_commit = pc.struct_field(transactions, "at_commit")
        return bool(pc.any(pc.fill_null(at_commit, False)).as_py())

    def first_held(self) -> LogPosition | None:
        """See ``compaction_plans.Positions``."""
        found: list[LogPosition] = []
        for part in self.silver.parts:
            rows = self.silver.files.read_file(part, ["table", "effect", "log_position"])
            mine = pc.fill_null(pc.equal(rows["table"], self.plan.name), False)
            held = rows.filter(pc.and_(mine, pc.equal(rows["effect"], HOLD)))
            found += values_of(held, "log_position")
        return min(found, default=None)

    def first_open(self) -> LogPosition | None:
        """See ``compaction_plans.Positions``."""
        if not self.plan.kinds.transactions:
            return None
        found: list[LogPosition] = []
        released = self.plan.released or {}
        for rows, _ in self.silver.rows_of(
            self.silver.parts, ["effect", "log_position", "transaction"]
        ):
            cells = zip(
                rows["transaction"].to_pylist(), values_of(rows, "log_position"), strict=True
            )
            found += [
                log_position
                for transaction, log_position in cells
                if transaction is not None
                and transaction["commit"] is None
                and transaction["id"] not in released
            ]
        return min(found, default=None)

    def spans(self, below: Sequence[LogPosition]) -> Mapping[str | None, Sequence[Span]]:
        """See ``compaction_plans.Positions``."""
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
        """See ``compaction_plans.Positions``."""
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
        """See ``compaction.History``."""
        epochs = [
            (tuple(one["log_position"]), one["dedup_prefix"])
            for one in self.plan.complete_snapshots
        ]
        old = self.plan.compaction_watermark
        positions = [
            *self._positions,
            *(one for one in epochs if old is None or not old.covers(*one)),
        ]
        covered = (
            0
            if compaction_watermark is None
            else sum(compaction_watermark.covers(*one) for one in positions)
        )
        return len(positions), covered

    def old_base(self) -> int:
        """See ``compaction.History``."""
        base = self.silver.base_rows
        return 0 if base is None else int(base.num_rows)

    def base_at(self, compaction_watermark: CompactionWatermark) -> pa.Table:
        """See ``compaction.History``."""
        return self._fold(replace(self.silver, up_to=compaction_watermark)).to_base()

    def size(self, base: pa.Table) -> int:
        """See ``compaction.History``."""
        return int(base.num_rows)

    def _fold(self, silver: SilverInProcess) -> TableFold[pa.Table]:
        return TableFold.of(InProcess(), self.plan, silver)

    def proved(self, base: pa.Table, compaction_watermark: CompactionWatermark) -> str:
        """See ``compaction.History``."""
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
        """See ``compaction.History``: whoever compacts holds the lock of silver, so that nothing comes meanwhile."""
        lake, feed, name, table = self.lake, self.plan.feed, self.plan.name, self.plan.table
        newest = compacted.newest_window_of_base(lake, feed, name)
        identities: set[bytes] = set()
        for rows, window in self._covered(compaction_watermark):
            identities |= compacted.identities_of(rows)
            newest = max(newest, window)
        compacted.remember_identities_in_process(lake, feed, name, identities)
        meaning = digest.compacted_meaning(feed, table, newest)
        marker = {
            "log_position": [*compaction_watermark.log_position],
            "drawn_at": datetime.now(UTC),
            "newest_window": newest,
            "declared": table.name,
            "judged_by": json.dumps(meaning, sort_keys=True),
            "added": [*table.added],
        }
        rows = _of_source(base, {gold: name for name, gold in gold.gold_names(table).items()})
        compacted.write_base_in_process(
            lake, feed, compacted.base_with_marker(rows, name, marker), name
        )

    def _covered(self, compaction_watermark: CompactionWatermark) -> list[tuple[pa.Table, str]]:
        """The table's rows of silver at or below a watermark, as they are now, by file, each with its window."""
        table = self.lake.in_process_table(Layer.SILVER, self.plan.feed.name)
        found = []
        for rows in table.each(SILVER_ARROW):
            mine = rows.filter(pa.array(self._is_covered(rows, compaction_watermark), pa.bool_()))
            if mine.num_rows:
                found.append((mine, mine["window"][0].as_py()))
        return found

    def _is_covered(self, rows: pa.Table, compaction_watermark: CompactionWatermark) -> list[bool]:
        """Of each row of silver whether it is the table's, counts, and stands at or below the compaction watermark."""
        mine = pc.and_(
            pc.fill_null(pc.equal(rows["table"], self.plan.name), False),
            pc.and_(
                pc.is_valid(rows["declared"]),
                pc.invert(pc.is_in(rows["effect"], pa.array([HOLD, *CONTROL]))),
            ),
        )
        cells = zip(
            mine.to_pylist(),
            values_of(rows, "log_position"),
            rows["dedup_prefix"].to_pylist(),
            strict=True,
        )
        return [
            is_own and compaction_watermark.covers(log_position, prefix)
            for is_own, log_position, prefix in cells
        ]

    def remove_from_silver(self, compaction_watermark: CompactionWatermark) -> None:
        """See ``compaction.History``."""
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
            rows = silver.read(SILVER_ARROW, {"window": some})
            left = [not one for one in self._is_covered(rows, compaction_watermark)]
            silver.put_windows(rows.filter(pa.array(left, pa.bool_())), some)

    def droppable(self, compaction_watermark: CompactionWatermark | None) -> pa.Table:
        """See ``compaction.History``: all tombstones, with ``is_superseded`` and ``is_expired``."""
        table = self.plan.table
        rows = self.stored.tombstones.read(folded_rows.tombstones_schema(table))
        keys = keys_of(table, rows)
        positions = [tuple(one) for one in rows[LOG_POSITION].to_pylist()]
        newest: dict[object, LogPosition] = {}
        gold = (tuple(one) for one in self.stored.rows[LOG_POSITION].to_pylist())
        for key, position in (
            *zip(self.stored.keys, gold, strict=True),
            *zip(keys, positions, strict=True),
        ):
            newest[key] = max(newest.get(key, position), position)
        superseded = [position < newest[key] for key, position in zip(keys, positions, strict=True)]
        expired = [
            compaction_watermark is not None and compaction_watermark.covers(one, len(one))
            for one in positions
        ]
        marks = {"is_superseded": superseded, "is_expired": expired}
        for name, values in marks.items():
            rows = rows.append_column(name, pa.array(values, pa.bool_()))
        return rows

    def tombstone_counts(self, droppable: pa.Table) -> tuple[int, int, int]:
        """See ``compaction.History``."""
        superseded = pc.sum(droppable["is_superseded"]).as_py() or 0
        gone = pc.sum(_goes(droppable)).as_py() or 0
        return superseded, gone - superseded, droppable.num_rows - gone

    def drop(self, droppable: pa.Table) -> None:
        """See ``compaction.History``."""
        left = droppable.filter(pc.invert(_goes(droppable)))
        self.stored.tombstones.rewrite(
            left.select(folded_rows.tombstones_schema(self.plan.table).names)
        )

    def tidy(self) -> None:
        """See ``compaction.History``."""
        for suffix in ("", TOMBSTONES, HISTORY):
            self._table(suffix).tidy()

    def files(self) -> int:
        """See ``compaction.History``."""
        return len(self._table("").files())

    def _table(self, suffix: str) -> InProcessTable:
        return self.lake.in_process_table(Layer.GOLD, self.plan.feed.name, self.plan.name + suffix)


_WINDOWS = 100
"""So many windows of silver are rewritten by one commit."""


def _goes(droppable: pa.Table) -> pa.Array:
    return pc.or_(droppable["is_superseded"], droppable["is_expired"])


def _of_source(base: pa.Table, names: Mapping[str, str]) -> pa.Table:
    """Base rows with their columns under the source's names: gold's may change when the table gets a column."""
    if not names:
        return base
    state = base["state"].combine_chunks()
    columns = map_columns.map_array(
        map_columns.maps(pc.struct_field(state, "columns"), names),
        state.type.field("columns").type,
    )
    cells = [
        columns if one.name == "columns" else pc.struct_field(state, one.name) for one in state.type
    ]
    whole = pa.StructArray.from_arrays(cells, fields=[*state.type])
    return base.set_column(base.schema.get_field_index("state"), "state", whole)
