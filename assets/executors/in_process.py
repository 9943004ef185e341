"""Stages in this process, over Arrow tables: for tables and windows that fit, without Java."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assets.executors.choice import IN_PROCESS
from assets.executors.executor import Ranges, Stage
from transforms.change import Key
from transforms.column_types.map_columns import TEXTS, rows_at
from transforms.gold import fold_rows
from transforms.gold.fold_rows import cells, list_array, position_matrix

BATCH_ROWS: Final = 10_000
PART_ROWS: Final = 50_000
MOST_PARTS: Final = 4
"""How many threads work on parts of the rows at most."""


@dataclass(frozen=True, slots=True)
class InProcess:
    """The verbs of ``Executor`` over Arrow tables.

    ``batch_rows``: how many rows a stage gets at a time. ``part_rows``: how many it gets at least where several threads
    work on parts of what is brought together.
    """

    batch_rows: int = BATCH_ROWS
    part_rows: int = PART_ROWS

    @property
    def name(self) -> str:
        return IN_PROCESS

    def frame_of(self, keys: Sequence[Key]) -> pa.Table:
        return pa.table({"key": list_array(keys, TEXTS)})

    def union(self, frames: Sequence[pa.Table]) -> pa.Table:
        return pa.concat_tables(frames)

    def where(self, frame: pa.Table, column: str, value: str) -> pa.Table:
        return frame.filter(pc.equal(frame[column], value))

    def select(self, frame: pa.Table, columns: dict[str, str]) -> pa.Table:
        return frame.select([*columns]).rename_columns([*columns.values()])

    def distinct(self, frame: pa.Table) -> pa.Table:
        """Of rows that have a single column of keys."""
        (name,) = frame.column_names
        if (numbers := _numbered(frame[name])) is not None:
            _, first = np.unique(numbers, return_index=True)
            return frame.take(pa.array(np.sort(first)))
        return pa.table({name: list_array([*dict.fromkeys(values_of(frame, name))], TEXTS)})

    def among(self, frame: pa.Table, keys: pa.Table, on: str, count: int | None) -> pa.Table:
        return _of(frame, keys, on, is_wanted=True)

    def without(self, frame: pa.Table, keys: pa.Table, on: str) -> pa.Table:
        return _of(frame, keys, on, is_wanted=False)

    def grouped(self, frame: pa.Table, roots: pa.Table | None) -> pa.Table:
        groups = frame["key"]
        if roots is not None and roots.num_rows:
            pairs = zip(values_of(roots, "key"), values_of(roots, "root"), strict=True)
            found = dict(pairs)
            groups = list_array([found.get(key, key) for key in values_of(frame, "key")], TEXTS)
        if "group" in frame.column_names:
            return frame.set_column(frame.column_names.index("group"), "group", groups)
        return frame.append_column("group", groups)

    def shaped(self, frame: pa.Table, what: int | None = None) -> pa.Table:
        found: dict[str, Any] = {name: frame[name] for name in frame.column_names}
        if what is not None:
            found["what"] = pa.repeat(pa.scalar(what, pa.int32()), frame.num_rows)
        return fold_rows.shaped_rows(found, frame.num_rows)

    def together(self, frame: pa.Table, most: int | None) -> pa.Table:
        """Groups come in the order in which they are met first."""
        return frame.take(_by_group(frame)[0])

    def staged_together(self, frame: pa.Table, most: int | None, stage: Stage) -> pa.Table:
        """Some rows at a time are put in order, so that there is no second copy of all of them.

        Of many rows, parts that share no group are worked on side by side, as by Spark's tasks.
        """
        order, groups = _by_group(frame)
        ends = [0, len(order)] if groups is None else _ends(groups, self.part_rows)
        whole, batch_rows = frame.combine_chunks(), self.batch_rows

        def work(part: pa.Array) -> list[pa.RecordBatch]:
            some = (
                whole.take(part[at : at + batch_rows]) for at in range(0, len(part), batch_rows)
            )
            batches = (batch for one in some for batch in one.combine_chunks().to_batches())
            return [*stage(batches)]

        parts = [order[start:end] for start, end in pairwise(ends)]
        if len(parts) == 1:
            return pa.Table.from_batches(work(parts[0]), schema=stage.schema)
        with ThreadPoolExecutor(len(parts), thread_name_prefix="stage") as threads:
            made = [batch for some in threads.map(work, parts) for batch in some]
        return pa.Table.from_batches(made, schema=stage.schema)

    def sorted(
        self, frame: pa.Table, by: Sequence[str], within: Sequence[str], most: int | None = None
    ) -> pa.Table:
        cells = (values_of(frame, name) for name in (*by, *within))
        order = sorted(zip(*cells, range(frame.num_rows), strict=True))
        return rows_at(frame, [one[-1] for one in order])

    def tasks(self, frame: pa.Table, most: int) -> int:
        return 1

    def in_order(self, frame: pa.Table, by: str, ranges: Ranges) -> pa.Table:
        return frame.sort_by(by)

    def looked_up(self, frame: pa.Table, lists: pa.Table, on: str, column: str) -> pa.Table:
        known = dict(zip(values_of(lists, on), lists[column].to_pylist(), strict=True))
        kind = lists.schema.field(column).type
        cells = pa.array([known.get(one) or [] for one in values_of(frame, on)], kind)
        if column not in frame.column_names:
            return frame.append_column(column, cells)
        return frame.set_column(frame.column_names.index(column), column, cells)

    def containing(self, frame: pa.Table, column: str, some: Sequence[bytes]) -> pa.Table:
        has = [any(one in (cell or b"") for one in some) for cell in frame[column].to_pylist()]
        return frame.filter(pa.array(has, pa.bool_()))

    def filled(self, frame: pa.Table, column: str) -> pa.Table:
        return frame.filter(pc.greater(pc.binary_length(frame[column]), 0))

    def staged(self, frame: pa.Table, stage: Stage) -> pa.Table:
        batches = frame.combine_chunks().to_batches(max_chunksize=self.batch_rows)
        return pa.Table.from_batches([*stage(batches)], schema=stage.schema)

    def filed(self, frame: pa.Table, stage: Stage) -> pa.Table:
        return self.staged(frame, stage)

    def kept(self, frame: pa.Table) -> pa.Table:
        return frame

    def cached(self, frame: pa.Table) -> pa.Table:
        return frame

    def freed(self, frame: pa.Table) -> None:
        """Nothing is kept."""

    def collected(self, frame: pa.Table) -> pa.Table:
        return frame


def values_of(frame: pa.Table, name: str) -> list[Any]:
    """A column's values, lists as tuples."""
    return [value for chunk in frame[name].chunks for value in cells(chunk)]


def _by_group(frame: pa.Table) -> tuple[pa.Array, NDArray[np.int64] | None]:
    """The rows' numbers in the order of their groups, as these are met first, of ``what`` and of ``log_position``.

    And their groups' numbers in this order, where these are at hand.
    """
    if (keys := _numbered(frame["group"])) is not None:
        matrix = position_matrix(frame["log_position"].combine_chunks())
        places = () if matrix is None else matrix.T
        order = np.lexsort((*places[::-1], frame["what"].to_numpy(), keys))
        return pa.array(order), keys[order]
    numbers: dict[Any, int] = {}
    groups = [numbers.setdefault(one, len(numbers)) for one in values_of(frame, "group")]
    positions = values_of(frame, "log_position")
    cells = zip(groups, frame["what"].to_pylist(), positions, range(frame.num_rows), strict=True)
    return pa.array([at for *_, at in sorted(cells)], pa.int64()), None


def _ends(groups: NDArray[np.int64], part_rows: int) -> list[int]:
    """Where parts of rows that are sorted by their groups begin and end; no group is in two of them."""
    count = len(groups)
    parts = max(1, min(count // part_rows, MOST_PARTS))
    cuts = (int(np.searchsorted(groups, groups[one * count // parts])) for one in range(1, parts))
    return [0, *sorted({*cuts} - {0}), count]


def _numbered(lists: pa.ChunkedArray) -> NDArray[np.int64] | None:
    """A number for each list of texts, the same for equal lists, in the order in which they are met first.

    None where the lists are not all as long as each other, or have nulls in them.
    """
    parts = _parts(lists)
    if not parts:
        return None
    found = None
    for part in parts:
        own = part.dictionary_encode()
        numbers = own.indices.to_numpy().astype(np.int64)
        if found is not None:
            both = pa.array(found * max(len(own.dictionary), 1) + numbers)
            numbers = both.dictionary_encode().indices.to_numpy().astype(np.int64)
        found = numbers
    return found


def _parts(lists: pa.ChunkedArray) -> list[pa.Array] | None:
    whole = lists.combine_chunks()
    flat, count = whole.flatten(), len(whole)
    if whole.null_count or flat.null_count or not count or len(flat) % count:
        return None
    size = len(flat) // count
    if not (np.diff(whole.offsets.to_numpy()) == size).all():
        return None
    return [flat.take(pa.array(np.arange(at, len(flat), size))) for at in range(size)]


def _of(frame: pa.Table, keys: pa.Table, on: str, *, is_wanted: bool) -> pa.Table:
    wanted = {*values_of(keys, on)}
    kept = [(value in wanted) is is_wanted for value in values_of(frame, on)]
    return frame.filter(pa.array(kept, pa.bool_()))
