"""One gold table's silver, base rows and stored rows, read in this process: for what fits into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns import gold, layers
from assets.columns.layers import KEY_TEXT
from assets.columns.silver import key_text_of
from assets.control import compacted
from assets.executors.choice import Choice
from assets.executors.in_process import InProcess, values_of
from assets.gold import waiting_changes
from assets.gold.plan import SilverFiles, TablePlan
from assets.gold.range_deletes import READ
from assets.storage.in_process_table import DataFile
from assets.storage.lake import Lake
from transforms.change import CONTROL, HOLD
from transforms.column_types import map_columns
from transforms.column_types.map_columns import NUMBERS, TEXTS
from transforms.compaction_watermarks import CompactionWatermark
from transforms.gold import fold, fold_rows
from transforms.gold.fold_rows import in_microseconds, list_array
from transforms.moments import microseconds_of

_SIFTED = ("table", "declared")

MOST_KEYS = 1_000
"""Maximum number of keys that are looked for by their texts: of more, most parts of a file have one."""

WINDOWS_SHARE, HISTORYS_SHARE = 8, 8
"""How many times as much as elsewhere is read of the run's own windows, whose rows are wanted, and of the history of
few keys, of which most is passed over."""


class TooLarge(Exception):
    """What has to be read does not fit into this process."""


@dataclass(frozen=True)
class SilverInProcess:
    """One gold table's changes in silver, and what its keys were at the compaction watermark; see ``fold.Silver``.

    Without slots: what is read is kept. ``base_rows``: the table's
    (``key``, ``streams``, ``state``); None where nothing is compacted. ``above``: changes at or below it are left out;
    the plan's own compaction watermark, but for a compaction. ``up_to``: only changes at or below it count.
    """

    plan: TablePlan
    choice: Choice
    files: SilverFiles
    base_rows: pa.Table | None = None
    above: CompactionWatermark | None = None
    up_to: CompactionWatermark | None = None

    @classmethod
    def of(cls, lake: Lake, plan: TablePlan) -> SilverInProcess:
        """What silver and the table's base have now.

        Raises:
            TooLarge: The base does not fit into this process.
        """
        assert plan.silver is not None  # silver comes first
        base = None
        if plan.compaction_watermark is not None:
            base = compacted.base_rows_in_process(lake, plan.feed, plan.table, plan.name)
            if base is None:
                raise TooLarge
        return cls(plan, lake.choice, plan.silver, base, plan.compaction_watermark)

    @cached_property
    def _of_windows(self) -> pa.Table:
        """The rows that count of the run's own windows (``READ``)."""
        own = [part for part in self.files.parts if part.window in self.plan.windows]
        return self._read(own, most=WINDOWS_SHARE)

    @cached_property
    def every(self) -> pa.Table:
        """The rows that count of all windows (``READ``).

        Raises:
            TooLarge: Silver does not fit into this process.
        """
        others = [part for part in self.files.parts if part.window not in self.plan.windows]
        return pa.concat_tables([self._of_windows, self._read(others)])

    def new_changes(self) -> pa.Table:
        """See ``fold.Silver``."""
        # A commit releases changes that may have come in any window.
        rows = self.every if self.plan.releases else self._of_windows
        return fold_rows.rows_of_changes(_of_keys(_only(rows, rows["is_new"])))

    def changes(self, few: pa.Table | None, count: int) -> pa.Table:
        """See ``fold.Silver``."""
        if few is None:
            return fold_rows.rows_of_changes(_of_keys(self.every))
        rows = self.every if count > MOST_KEYS else self._which_may_be_of(few)
        found = InProcess().among(_of_keys(rows), few, "key", count)
        return fold_rows.rows_of_changes(found)

    def _which_may_be_of(self, few: pa.Table) -> pa.Table:
        """The rows that count, of some windows only those that may be of these keys."""
        keys = values_of(few, "key")
        texts = [text for key in keys if (text := key_text_of(key)) is not None]
        others = [part for part in self.files.parts if part.window not in self.plan.windows]
        if self.plan.waits or len(texts) < len(keys) or "every" in vars(self):
            return self.every
        wanted = pa.array(sorted(texts), pa.string())
        return pa.concat_tables([self._of_windows, self._read(others, HISTORYS_SHARE, wanted)])

    def range_deletes(self) -> pa.Table:
        """The range deletes of the table that count, those of complete snapshots included (``READ``)."""
        snapshots = [
            {**one, "event_at": microseconds_of(one["event_at"])}
            for one in self.plan.complete_snapshots
        ]
        found = [self._within(pa.Table.from_pylist(snapshots, schema=_READ))]
        if self.plan.kinds.scopes:
            found.append(self.every.filter(pc.is_valid(self.every["scope"])))
        return pa.concat_tables(found)

    def base(self) -> pa.Table | None:
        """See ``fold.Silver``."""
        return None if self.base_rows is None else fold_rows.rows_of_base(self.base_rows)

    def roots(self) -> pa.Table:
        """See ``fold.Silver``."""
        moved = self.every.filter(pc.equal(self.every["effect"], "move"))
        links = zip(values_of(moved, "moved_from"), values_of(moved, "key"), strict=True)
        roots = fold.linked_keys(links)
        cells = {"key": [*roots], "root": [*roots.values()]}
        return pa.table({name: list_array(some, TEXTS) for name, some in cells.items()})

    def _read(
        self, parts: Sequence[DataFile], most: int = 1, keys: pa.Array | None = None
    ) -> pa.Table:
        """The rows that count in these files; ``keys``: those of other keys than these may be missing.

        ``most``: the files may be so many times as large as is read into this process.

        Raises:
            TooLarge: They do not fit into it.
        """
        # A feed's silver has the changes of all its tables, so that only reading shows how many are this table's.
        if not self.choice.fits_in_process(sum(part.size for part in parts) // most, 0):
            raise TooLarge
        found = [_READ.empty_table()]
        held = 0
        for rows, window in self.rows_of(parts, _STORED, keys):
            if not rows.num_rows:
                continue
            visible = self._visible(rows, window)
            held += visible.nbytes
            if not self.choice.holds(held):
                raise TooLarge
            found.append(visible)
        return pa.concat_tables(found)

    def rows_of(
        self, parts: Sequence[DataFile], wanted: Sequence[str], keys: pa.Array | None = None
    ) -> Iterator[tuple[pa.Table, str]]:
        """The table's rows in these files that count now or at their transaction's commit, with each file's window.

        ``keys``: only rows whose key has one of these texts, or none.
        """
        names = [*dict.fromkeys((*_SIFTED, *wanted, *([] if keys is None else [KEY_TEXT])))]
        for part in parts:
            rows = self.files.read_file(part, names, keys)
            if keys is not None:
                texts = rows[KEY_TEXT]
                rows = rows.filter(pc.or_(pc.is_null(texts), pc.is_in(texts, keys)))
            yield self._kept(rows), part.window
            if self.plan.waits:
                whole = self.files.read_file(part, layers.Silver.schema.names)
                table, name = self.plan.table, self.plan.name
                waiting = waiting_changes.waiting_rows(whole, table, name)
                for batch in waiting_changes.Conform(self.plan.feed, table)(waiting):
                    yield pa.Table.from_batches([batch]).select(names), part.window

    def _kept(self, rows: pa.Table) -> pa.Table:
        """The rows that are the table's, without control rows and held deletes."""
        mine = pc.and_(
            pc.equal(rows["table"], self.plan.name),
            pc.equal(rows["declared"], self.plan.table.name),
        )
        waits = pc.is_in(rows["effect"], pa.array([HOLD, *CONTROL]))
        return _only(rows, pc.and_(pc.fill_null(mine, False), pc.invert(waits)))

    def _visible(self, rows: pa.Table, window: str) -> pa.Table:
        """The rows that count, each where it takes effect, under gold's names (``READ``)."""
        count = rows.num_rows
        is_own = pa.repeat(pa.scalar(window in self.plan.windows), count)
        cells = {
            "window": pa.repeat(pa.scalar(window), count),
            "is_new": is_own,
            **{name: rows[name] for name in _STORED},
            "event_at": in_microseconds(rows["event_at"]),
        }
        found = pa.table([cells[one.name].cast(one.type) for one in _READ], schema=_READ)
        if found["transaction"].null_count < count:
            found = self._committed(found)
        return self._within(in_gold(found, gold.gold_names(self.plan.table)))

    def _committed(self, rows: pa.Table) -> pa.Table:
        """The rows without those whose transaction is not complete; the others where they take effect."""
        released = self.plan.released or {}
        kept, is_new, positions, prefixes = [], [], [], []
        cells = zip(
            rows["transaction"].to_pylist(),
            rows["is_new"].to_pylist(),
            values_of(rows, "log_position"),
            rows["dedup_prefix"].to_pylist(),
            strict=True,
        )
        for at, (transaction, is_own, log_position, prefix) in enumerate(cells):
            commit: Sequence[int] = ()
            is_released_now = False
            if transaction is not None:
                commit = transaction["commit"]
                if commit is None:
                    if transaction["id"] not in released:
                        continue
                    commit, is_released_now = released[transaction["id"]]
                if not transaction["at_commit"]:
                    commit = ()
            kept.append(at)
            is_new.append(is_own or is_released_now)
            positions.append((*commit, *log_position))
            prefixes.append(len(commit) + prefix)
        changed = {
            "is_new": pa.array(is_new, pa.bool_()),
            "log_position": list_array(positions, NUMBERS),
            "dedup_prefix": pa.array(prefixes, pa.int32()),
        }
        return _replaced(rows.take(pa.array(kept, pa.int64())), changed)

    def _within(self, rows: pa.Table) -> pa.Table:
        """The rows without those that a compaction watermark leaves out."""
        if self.above is None and self.up_to is None:
            return rows
        positions = zip(
            values_of(rows, "log_position"), rows["dedup_prefix"].to_pylist(), strict=True
        )
        wanted = [
            (self.above is None or not self.above.covers(*position))
            and (self.up_to is None or self.up_to.covers(*position))
            for position in positions
        ]
        return rows.filter(pa.array(wanted, pa.bool_()))


_STORED = tuple(name for name in READ if name not in ("is_new", "window"))
_OWN = {"is_new": pa.field("is_new", pa.bool_()), "event_at": pa.field("event_at", pa.int64())}
_READ = pa.schema([_OWN.get(name) or layers.Silver.schema.field(name) for name in READ])
"""``READ``, with times in microseconds since 1970 (UTC)."""


def _of_keys(rows: pa.Table) -> pa.Table:
    """The changes of single keys."""
    return _only(rows, pc.is_null(rows["scope"]))


def _only(rows: pa.Table, are_wanted: pa.ChunkedArray) -> pa.Table:
    """The rows for which it is true; most often that is all of them, which need not be copied."""
    return rows if pc.all(are_wanted).as_py() in (True, None) else rows.filter(are_wanted)


def in_gold(rows: pa.Table, names: Mapping[str, str]) -> pa.Table:
    """Rows of silver with their columns under gold's names."""
    if not names:
        return rows
    return _replaced(rows, {image: _renamed(rows[image], names) for image in gold.IMAGES})


def _renamed(column: pa.ChunkedArray, names: Mapping[str, str]) -> pa.Array:
    images = map_columns.maps(column.combine_chunks(), names)
    return map_columns.map_array(images, column.type)


def _replaced(rows: pa.Table, columns: Mapping[str, pa.Array]) -> pa.Table:
    for name, values in columns.items():
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(at, rows.field(at), values.cast(rows.field(at).type))
    return rows
