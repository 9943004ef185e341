"""Plain rows by columns: many of them are one value while they are shuffled, and are counted without looking at each.

A plain row is a change of one key without a fault, that is part of no transaction and follows from no other event. Its
``Row`` is the definition: ``rows_of`` gives it back, and what neighbours decide of it is decided there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from transforms.change import BEHIND_ALL_POINTS, IN_FILE, POINT
from transforms.column_types.map_columns import IMAGE, TEXTS, maps
from transforms.silver.changes import Key, Row
from transforms.silver.frames import CHANGES, OUTPUT, ROWS, Shards, unpacked

_OF_OUTPUT: Final = (
    *("window", "table", "source_table", "declared", "operation", "effect", "key", "before"),
    *("after", "stream", "log_position", "dedup_prefix", "event_id", "event_at"),
    *("extracted_at", "object", "generation", "line", "byte_offset", "kept_as", "facts"),
    "segment",
)

PLAIN: Final = pa.schema(
    [
        *[("group", pa.binary()), ("sort_key", pa.binary())],
        *[OUTPUT.field(name) for name in _OF_OUTPUT],
    ]
)
"""One row per plain row: ``group`` and ``sort_key`` of ``ROWS``, and the columns of ``OUTPUT`` that may differ."""

_ROWS_OF_A_BUNDLE: Final = 2_000
"""Maximum number of plain rows in one value: Java finds no room for a large one."""

_FIRST: Final = b""
"""The sort key of a bundle: it comes before all rows."""


def bundles(rows: pa.RecordBatch, shards: Shards) -> Iterator[pa.RecordBatch]:
    """Plain rows as batches of ``ROWS``, in bundles for one task each."""
    if shards.tasks > 1:
        tasks = shards.tasks_of(rows["window"].to_pylist(), rows["group"].to_pylist())
        order = np.argsort(tasks, kind="stable")
        rows, tasks = rows.take(pa.array(order)), tasks[order]
        starts = [0, *(np.flatnonzero(np.diff(tasks)) + 1).tolist(), len(tasks)]
    else:
        tasks, starts = np.zeros(max(1, rows.num_rows), np.int64), [0, rows.num_rows]
    found: list[tuple[int, bytes]] = []
    for start, end in pairwise(starts):
        for at in range(start, end, _ROWS_OF_A_BUNDLE):
            part = rows.slice(at, min(_ROWS_OF_A_BUNDLE, end - at))
            found.append((shards.first_of(int(tasks[at])), _written(part)))
    if found:
        count = len(found)
        columns = {one.name: pa.nulls(count, one.type) for one in ROWS} | {
            "sort_key": pa.array([_FIRST] * count, pa.binary()),
            "shard": pa.array([shard for shard, _ in found], pa.int32()),
            "commit": pa.array([[]] * count, ROWS.field("commit").type),
            "bundle": pa.array([bundle for _, bundle in found], pa.binary()),
        }
        yield pa.RecordBatch.from_arrays([columns[one] for one in ROWS.names], schema=ROWS)


def _written(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, PLAIN) as stream:
        stream.write_batch(rows)
    return cast("bytes", sink.getvalue().to_pybytes())


def unbundled(values: pa.Array) -> list[pa.RecordBatch]:
    """The plain rows of bundles, as batches of ``PLAIN``."""
    found = []
    for one in values:
        with pa.ipc.open_stream(one.as_buffer()) as stream:
            found += stream
    return found


def rows_of(plain: pa.RecordBatch) -> list[Row]:
    """The rows as they are defined; what were tuples are lists, as in ``frames.unpacked``."""
    columns: dict[str, Sequence[Any]] = {}
    for one in PLAIN:
        column = plain.column(one.name)
        columns[one.name] = [*maps(column)] if pa.types.is_map(one.type) else column.to_pylist()
    cells = zip(*(columns[name] for name in _OF_OUTPUT), strict=True)
    return [Row(**dict(zip(_OF_OUTPUT, one, strict=True)), is_first=True) for one in cells]


def rows_in(batch: pa.RecordBatch) -> list[Row]:
    """All rows of a batch of ``ROWS``, those in bundles among them, in no order."""
    is_bundle = batch["bundle"].is_valid()
    found = unpacked(batch.filter(pc.invert(is_bundle)))
    for plain in unbundled(batch["bundle"].filter(is_bundle)):
        found += rows_of(plain)
    return found


def output_of(plain: pa.RecordBatch) -> pa.RecordBatch:
    """Plain rows that silver keeps, as a batch of ``OUTPUT``."""
    count = plain.num_rows
    columns = {name: plain.column(name) for name in _OF_OUTPUT} | {
        "kind": pa.repeat(CHANGES, count),
        "attribute_ops": _empty_maps(count),
        "ordinal": pa.repeat(pa.scalar(0, pa.int32()), count),
        "is_first": pa.repeat(pa.scalar(True), count),
    }
    arrays = [
        columns[one.name] if one.name in columns else pa.nulls(count, one.type) for one in OUTPUT
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=OUTPUT)


def _empty_maps(count: int) -> pa.Array:
    nothing = pa.array([], pa.string())
    offsets = pa.array(np.zeros(count + 1, np.int32))
    return pa.MapArray.from_arrays(offsets, nothing, nothing, type=IMAGE)


def images(names: Sequence[str], texts: Sequence[str | None], count: int) -> pa.Array:
    """Images that all mention the same columns; ``texts``: those of the first, then those of the next."""
    size = len(names)
    keys = pa.array(names, pa.string()).take(pa.array(np.tile(np.arange(size), count)))
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * size)
    return pa.MapArray.from_arrays(offsets, keys, pa.array(texts, pa.string()), type=IMAGE)


def keys_of(keys: Sequence[Key | None]) -> pa.Array:
    """Keys as a column of ``PLAIN``."""
    if not keys or None in keys:
        return pa.array(keys, TEXTS)
    size = len(cast("Key", keys[0]))
    flat = [part for key in keys for part in cast("Key", key)]
    offsets = pa.array(np.arange(len(keys) + 1, dtype=np.int32) * size)
    return pa.ListArray.from_arrays(offsets, pa.array(flat, pa.string()), type=TEXTS)


# Where rows arrive: plain ones in the order of their sort keys, beside all others.


Sort = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""Batches of ``PLAIN`` in batches of bounded size, all rows in the order of their sort keys."""

_ROWS_OF_A_STEP: Final = 10_000


def sorted_in_memory(
    batches: Iterable[pa.RecordBatch], rows_at_once: int = _ROWS_OF_A_STEP
) -> Iterator[pa.RecordBatch]:
    """The rows in the order of their sort keys: all of them are held in memory, and copied some at a time."""
    whole = pa.Table.from_batches(batches, PLAIN).combine_chunks()
    order = pc.sort_indices(whole["sort_key"])
    for start in range(0, len(order), rows_at_once):
        yield from whole.take(order[start : start + rows_at_once]).combine_chunks().to_batches()


Step = tuple[pa.RecordBatch | None, pa.RecordBatch | None]
"""Plain rows (``PLAIN``), and other rows (``ROWS``); None where there are none."""


def in_steps(batches: Iterable[pa.RecordBatch], sort: Sort) -> Iterator[Step]:
    """The rows of batches of ``ROWS`` in the order of ``sort_key``: those of a step come before those of the next."""
    rows = (batch for batch in batches if batch.num_rows)
    first: list[pa.RecordBatch] = []

    def of_bundles() -> Iterator[pa.RecordBatch]:
        for batch in rows:
            # Bundles come before all rows.
            count = batch.num_rows - batch["bundle"].null_count
            yield from unbundled(batch["bundle"].slice(0, count))
            if count < batch.num_rows:
                first.append(batch.slice(count))
                return

    ordered = sort(of_bundles())
    plain, others = next(ordered, None), None
    others = first[0] if first else None
    while plain is not None and others is not None:
        end = min(plain["sort_key"][-1].as_py(), others["sort_key"][-1].as_py())
        counts = [count_until(one["sort_key"], end) for one in (plain, others)]
        parts = [one.slice(0, count) for one, count in zip((plain, others), counts, strict=True)]
        yield parts[0] if counts[0] else None, parts[1] if counts[1] else None
        plain = plain.slice(counts[0]) if counts[0] < plain.num_rows else next(ordered, None)
        others = others.slice(counts[1]) if counts[1] < others.num_rows else next(rows, None)
    while plain is not None:
        yield plain, None
        plain = next(ordered, None)
    while others is not None:
        yield None, others
        others = next(rows, None)


def count_until(keys: pa.Array, end: bytes) -> int:
    """How many of some sorted keys are not larger than one."""
    return pc.sum(pc.less_equal(keys, pa.scalar(end, pa.binary()))).as_py() or 0


def may_meet_another(plain: pa.RecordBatch, others: pa.RecordBatch | None) -> NDArray[np.bool_]:
    """Which plain rows of a step may be of one event with another row, or contradict one.

    Such rows agree in their group, and in what is the same in every delivery of an event, so that they are neighbours.
    The neighbours of the first and the last row may be in other steps.
    """
    count, groups = plain.num_rows, plain["group"]
    lengths = np.diff(plain["log_position"].offsets.to_numpy())
    prefixes = plain["dedup_prefix"].to_numpy()
    is_same = pc.equal(groups[1:], groups[:-1]).to_numpy(zero_copy_only=False)
    found = np.zeros(count, np.bool_)
    found[[0, -1]] = True
    if (lengths == lengths[0]).all():
        positions = plain["log_position"].flatten().to_numpy(zero_copy_only=False)
        positions = positions.reshape(count, -1)
        differs = positions[1:] != positions[:-1]
        # Of neighbours whose prefixes have different lengths none is known to differ.
        within = np.arange(positions.shape[1]) < prefixes[1:, None]
        is_same &= ~((differs & within).any(axis=1) & (prefixes[1:] == prefixes[:-1]))
        if lengths[0] == IN_FILE:
            # Their trails know them by less of their position.
            found |= positions[:, POINT] >= BEHIND_ALL_POINTS
    found[1:] |= is_same
    found[:-1] |= is_same
    if others is not None:
        found |= pc.is_in(groups, others["group"]).to_numpy(zero_copy_only=False)
    return found
