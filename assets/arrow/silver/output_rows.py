"""Rows whose outcome is known, as the columns of silver and quarantine (``assets.columns.silver.OUTPUT``).

Put here how such rows become columns. Not here: which outcome a row has (``outcomes``), and rows on their way
(``packed_rows``).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import pyarrow as pa

from assets.columns.silver import OUTPUT
from transforms.arrow.map_columns import map_array
from transforms.event import Transaction
from transforms.silver.conforming.changes import Row

_FIELDS: tuple[str, ...] = Row.__match_args__
_cells = attrgetter(*_FIELDS)


def output_batch(
    rows: Sequence[Row], kinds: Sequence[str], commits: Sequence[Sequence[int] | None]
) -> pa.RecordBatch:
    """Rows with the outcome (``kinds``) and the transaction's commit of each, as a batch of ``OUTPUT``."""
    cells = zip(*map(_cells, rows), strict=True) if rows else [()] * len(_FIELDS)
    columns: dict[str, Sequence[Any]] = {
        **dict(zip(_FIELDS, cells, strict=True)),
        "kind": kinds,
        "reason": [row.fault and row.fault.reason for row in rows],
        "detail": [row.fault and row.fault.detail for row in rows],
    }
    arrays = []
    for one in OUTPUT:
        values = columns[one.name]
        if pa.types.is_map(one.type):
            arrays.append(map_array(values, one.type))
        elif one.name == "transaction":
            arrays.append(_transactions(values, commits, one.type))
        else:
            arrays.append(pa.array(values, one.type))
    return pa.RecordBatch.from_arrays(arrays, schema=OUTPUT)


def _transactions(
    values: Sequence[Transaction | None],
    commits: Sequence[Sequence[int] | None],
    kind: pa.DataType,
) -> pa.Array:
    if not any(values):
        return pa.nulls(len(values), kind)
    pairs = zip(values, commits, strict=True)
    return pa.array([one and {**one._asdict(), "commit": commit} for one, commit in pairs], kind)
