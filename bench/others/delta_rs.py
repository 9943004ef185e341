"""The apply by delta-rs (``deltalake``): newest change of each key by Arrow, then MERGE. Run as a script.

It merges into a copy of the very gold table that the textbook starts from: delta-rs writes to tables that may have
deletion vectors and that have a constraint. It makes no deletion vectors itself: it rewrites files in which a row
changes.

Imports nothing of Weir's, for it is run by a Python that has delta-rs and little else.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable, QueryBuilder


def newest(changes: pa.Table) -> pa.Table:
    """One row per key: its newest change.

    Raises:
        ValueError: positions have different lengths; Arrow can sort by their parts, but not by lists.
    """
    if len(changes) == 0:
        return changes
    positions = changes["_weir_log_position"]
    lengths = pc.unique(pc.list_value_length(positions)).to_pylist()
    if len(lengths) > 1:
        raise ValueError(f"positions have different lengths: {lengths}")
    parts = {str(part): pc.list_element(positions, part) for part in range(lengths[0])}
    order = [("id", "ascending"), *((part, "descending") for part in parts)]
    places = pc.sort_indices(pa.table({"id": changes["id"], **parts}), sort_keys=order)
    keys = changes["id"].take(places).combine_chunks()
    is_first = pa.concat_arrays([pa.array([True]), pc.not_equal(keys[1:], keys[:-1])])
    return changes.take(places.filter(is_first))


def merge(changes: Path, table: Path) -> None:
    """Apply the changes to the Delta table."""
    latest = newest(ds.dataset(changes, format="parquet").to_table())
    values = {name: f"new.{name}" for name in latest.schema.names if name != "is_delete"}
    newer = "new._weir_log_position > old._weir_log_position"
    (
        DeltaTable(table)
        .merge(latest, "old.id = new.id", source_alias="new", target_alias="old")
        .when_matched_delete(f"{newer} AND new.is_delete")
        .when_matched_update(values, predicate=newer)
        .when_not_matched_insert(values, predicate="NOT new.is_delete")
        .execute()
    )


def counted(table: Path) -> dict[str, int]:
    """How many rows the table has (``rows``), and the sum of their quantities (``quantity``)."""
    query = "SELECT count(*) AS counted, sum(quantity) AS quantity FROM gold"
    answer: Any = QueryBuilder().register("gold", DeltaTable(table)).execute(query).read_all()
    row = pa.table(answer).to_pylist()[0]
    return {"rows": row["counted"], "quantity": row["quantity"]}


def main() -> None:
    """Merge, and print on one line what it took and what there is then."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["merge"])
    parser.add_argument("--changes", type=Path, required=True, help="a folder of Parquet files")
    parser.add_argument("--table", type=Path, required=True, help="a Delta table")
    given = parser.parse_args()
    started = perf_counter()
    merge(given.changes, given.table)
    seconds = perf_counter() - started
    print(json.dumps({"seconds": seconds, **counted(given.table)}), flush=True)


if __name__ == "__main__":
    main()
