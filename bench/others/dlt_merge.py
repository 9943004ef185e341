"""The apply by dlt: newest change of each key by Arrow, then a pipeline that merges into Delta. Run as a script.

The table is one of dlt's own, which ``prepare`` makes of the same rows before anything is timed: a pipeline merges only
into a table of a dataset that it keeps account of. It has ``is_delete`` besides, which says that a row is to go.

For Delta tables dlt merges by its strategy ``upsert``, which takes every key once and heeds no ``dedup_sort``: so the
newest change is found before. And it has no way to demand that a change be newer than the row that is there: a late
change wins, and the table differs from the textbook's.

Imports nothing of Weir's, for it is run by a Python that has dlt and little else.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter
from typing import Any

import dlt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

DATASET, TABLE = "gold", "item"


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


def prepare(rows: Path, folder: Path) -> None:
    """Make the table of these rows."""
    every = ds.dataset(rows, format="parquet").to_table()
    _run(every.append_column("is_delete", pa.repeat(pa.scalar(False), len(every))), folder)


def merge(changes: Path, folder: Path) -> None:
    """Apply the changes."""
    _run(newest(ds.dataset(changes, format="parquet").to_table()), folder)


def _run(rows: pa.Table, folder: Path) -> None:
    """Bring the rows into the table, with all that the pipeline remembers in the same folder."""
    resource: Any = dlt.resource(
        rows,
        name=TABLE,
        primary_key="id",
        table_format="delta",
        write_disposition={"disposition": "merge", "strategy": "upsert"},
        columns={"is_delete": {"data_type": "bool", "hard_delete": True}},
    )
    pipeline: Any = dlt.pipeline(
        "bench",
        pipelines_dir=str(folder / "pipelines"),
        destination=dlt.destinations.filesystem(str(folder / "lake")),
        dataset_name=DATASET,
    )
    pipeline.run(resource).raise_on_failed_jobs()


def counted(folder: Path) -> dict[str, int]:
    """How many rows the table has, and the sum of their quantities."""
    table = DeltaTable(folder / "lake" / DATASET / TABLE)
    quantities = table.to_pyarrow_dataset().to_table(columns=["quantity"])["quantity"]
    return {"rows": len(quantities), "quantity": pc.sum(quantities).as_py()}


def main() -> None:
    """Make the table; or merge, and print on one line what it took and what there is then."""
    parser = argparse.ArgumentParser(description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    of_prepare, of_merge = steps.add_parser("prepare"), steps.add_parser("merge")
    of_prepare.add_argument("--rows", type=Path, required=True, help="a folder of Parquet files")
    of_merge.add_argument("--changes", type=Path, required=True, help="a folder of Parquet files")
    for one in (of_prepare, of_merge):
        one.add_argument("--table", type=Path, required=True, help="the pipeline's folder")
    given = parser.parse_args()
    started = perf_counter()
    if given.step == "prepare":
        prepare(given.rows, given.table)
    else:
        merge(given.changes, given.table)
    seconds = perf_counter() - started
    print(json.dumps({"seconds": seconds, **counted(given.table)}), flush=True)


if __name__ == "__main__":
    main()
