"""Rows on their way to silver as Arrow batches.

Not here: the rows (``transforms/silver/changes.py``), and the stages that give them (``arrow``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any
from zlib import crc32

import pyarrow as pa

from assets.silver_schema import ROWS
from transforms.silver import duplicates
from transforms.silver.changes import Row

SHARDS = 1 << 20
"""Rows are dealt to tasks by a number below this one."""


def row_batch(rows: Sequence[Row]) -> pa.RecordBatch:
    """The rows as a batch of ``ROWS``."""
    arrays = columns_of(rows)
    groups = [duplicates.group_key(row) for row in rows]
    for name in ("reason", "detail"):
        said = [None if row.fault is None else getattr(row.fault, name) for row in rows]
        arrays[name] = pa.array(said, pa.string())
    arrays["group"] = pa.array(groups, pa.binary())
    arrays["sort_key"] = pa.array(
        [duplicates.sort_key(row, group) for row, group in zip(rows, groups, strict=True)],
        pa.binary(),
    )
    arrays["shard"] = pa.array([crc32(group) % SHARDS for group in groups], pa.int32())
    return pa.RecordBatch.from_arrays([arrays[name] for name in ROWS.names], schema=ROWS)


_PLAIN = tuple(
    name for name in ROWS.names if name not in ("reason", "detail", "group", "sort_key", "shard")
)


def columns_of(rows: Sequence[Row]) -> dict[str, pa.Array]:
    """The fields of rows as Arrow columns."""
    cells = zip(*map(attrgetter(*_PLAIN), rows), strict=True) if rows else [()] * len(_PLAIN)
    found = {}
    for name, values in zip(_PLAIN, cells, strict=True):
        kind = ROWS.field(name).type
        if pa.types.is_map(kind):
            found[name] = map_array(values, kind)
        elif name == "transaction":
            found[name] = _transactions(values, kind)
        else:
            found[name] = pa.array(values, kind)
    return found


def map_array(values: Iterable[Mapping[str, str | None] | None], kind: pa.DataType) -> pa.Array:
    """Maps as one array: from flat lists, which is the fast way."""
    offsets: list[int | None] = []
    keys: list[str] = []
    items: list[str | None] = []
    for value in values:
        if value is None:
            offsets.append(None)
            continue
        offsets.append(len(keys))
        keys += value
        items += value.values()
    offsets.append(len(keys))
    return pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()),
        pa.array(keys, pa.string()),
        pa.array(items, pa.string()),
        type=kind,
    )


def _transactions(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if not any(values):
        return pa.nulls(len(values), kind)
    return pa.array([one and {**one._asdict(), "commit": None} for one in values], kind)
