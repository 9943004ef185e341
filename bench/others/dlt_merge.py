"""The apply by dlt: newest change of each key by Arrow, then a pipeline that merges into Delta.

The table is one of dlt's own: a pipeline merges only into a table of a dataset that it keeps account of. It has
``is_delete`` besides, which says that a row is to go.

For Delta tables dlt merges by its strategy ``upsert``, which takes every key once and heeds no ``dedup_sort``: so the
newest change is found before. And it has no way to demand that a change be newer than the row that is there: a late
change wins (https://dlthub.com/docs/general-usage/merge-loading).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dlt
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import DeltaTable

from bench.others.newest import newest_of

DATASET, TABLE = "gold", "item"


def prepare(rows: Path, folder: Path) -> None:
    """Make the table of these rows."""
    every = ds.dataset(rows, format="parquet").to_table()
    _run(every.append_column("is_delete", pa.repeat(pa.scalar(False), len(every))), folder)


def merge(changes: Path, folder: Path) -> None:
    """Apply the changes."""
    _run(newest_of(changes), folder)


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


def export(folder: Path, file: Path) -> None:
    """Write what the table holds as Parquet."""
    pq.write_table(DeltaTable(folder / "lake" / DATASET / TABLE).to_pyarrow_table(), file)
