"""The tables of a feed as their readers find them, to compare what several runs made with what one alone makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from deltalake import DeltaTable

from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Layer
from orchestration.resources import lake_of

OF_THE_RUN: Final = frozenset({"finished_at", "falls"})
"""Columns that say when a run was, or what it knew of other windows."""
Tables = dict[str, Counter[str]]
"""How often each row is there, by the table's name and the row as text."""
Names = Sequence[tuple[Layer, str | None]]
"""Tables of a feed: the layer, and the table where the layer has one for each."""
STEPS_TABLES: Names = tuple(
    (layer, None) for layer in (Layer.BRONZE, Layer.SILVER, Layer.ACCOUNTING, Layer.PROGRESS)
)
"""What every feed has of its own."""


def opened(warehouse: str, feed: str, names: Names) -> Iterator[tuple[str, InProcessTable]]:
    """The tables by name, each of which is there."""
    lake = lake_of(warehouse)
    for layer, table in names:
        found = lake.in_process_table(layer, feed, table)
        assert found.table is not None, f"there is no {layer} {table}"
        yield ".".join(filter(None, (layer, feed, table))), found


def tables_of(warehouse: str, feed: str, names: Names) -> Tables:
    """Every row of every table as text, without ``OF_THE_RUN``, and how often it is there."""
    return {
        name: Counter(
            repr([value for value in sorted(row.items()) if value[0] not in OF_THE_RUN])
            for row in rows_of(table)
        )
        for name, table in opened(warehouse, feed, names)
    }


def differences(expected: Tables, found: Tables) -> tuple[int, int]:
    """How many rows are lost, and how many are there that should not be."""
    lost = sum((expected[name] - rows).total() for name, rows in found.items())
    wrong = sum((rows - expected[name]).total() for name, rows in found.items())
    return lost, wrong


def newest(table: InProcessTable) -> DeltaTable:
    """The table as delta-rs has it, which is there."""
    assert table.table is not None
    return table.table


def rows_of(table: InProcessTable) -> list[dict[str, Any]]:
    """All rows with all columns, as the product reads them: Spark may have marked some as deleted."""
    columns = pa.schema(newest(table).schema().to_arrow())
    rows: list[dict[str, Any]] = table.read(columns).to_pylist()
    return rows
