"""The newest change of each key, by Arrow: for tools whose merge takes every key once."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

POSITION = "_weir_log_position"


def newest_of(changes: Path) -> pa.Table:
    """One row per key of these Parquet files: its newest change."""
    table = ds.dataset(changes, format="parquet").to_table()
    if len(table) == 0:
        return table
    keyed = pa.table({"id": table["id"], **parts_of(table)})
    order = [(name, "ascending" if name == "id" else "descending") for name in keyed.column_names]
    places = pc.sort_indices(keyed, sort_keys=order)
    keys = table["id"].take(places).combine_chunks()
    is_first = pa.concat_arrays([pa.array([True]), pc.not_equal(keys[1:], keys[:-1])])
    return table.take(places.filter(is_first))


def parts_of(table: pa.Table) -> dict[str, pa.Array]:
    """The numbers of the positions, a column each: Arrow can sort by numbers, but not by lists.

    Raises:
        ValueError: positions have different lengths.
    """
    lengths = pc.unique(pc.list_value_length(table[POSITION])).to_pylist()
    if len(lengths) > 1:
        raise ValueError(f"positions have different lengths: {lengths}")
    return {
        f"position_{part}": pc.list_element(table[POSITION], part)
        for part in range(lengths[0] if lengths else 0)
    }
