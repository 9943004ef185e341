"""The apply by delta-rs (``deltalake``): newest change of each key by Arrow, then MERGE.

https://delta-io.github.io/delta-rs/usage/merging-tables has the clauses, each with a predicate where one is needed.
delta-rs writes to tables that may have deletion vectors and that have a constraint, such as Weir's. It makes no
deletion vectors itself: it rewrites files in which a row changes.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import DeltaTable, QueryBuilder, write_deltalake

from bench.others.newest import POSITION, newest_of


def prepare(rows: Path, table: Path) -> None:
    """Make a Delta table of these rows."""
    write_deltalake(table, ds.dataset(rows, format="parquet").to_table())


def merge(changes: Path, table: Path) -> None:
    """Apply the changes to the Delta table."""
    latest = newest_of(changes)
    values = {name: f"new.{name}" for name in latest.schema.names if name != "is_delete"}
    newer = f"new.{POSITION} > old.{POSITION}"
    (
        DeltaTable(table)
        .merge(latest, "old.id = new.id", source_alias="new", target_alias="old")
        .when_matched_delete(f"{newer} AND new.is_delete")
        .when_matched_update(values, predicate=newer)
        .when_not_matched_insert(values, predicate="NOT new.is_delete")
        .execute()
    )


def export(table: Path, file: Path) -> None:
    """Write what the table holds as Parquet."""
    answer = QueryBuilder().register("gold", DeltaTable(table)).execute("SELECT * FROM gold")
    rows = pa.RecordBatchReader.from_stream(answer)
    with pq.ParquetWriter(file, rows.schema) as writer:
        for batch in rows:
            writer.write_batch(batch)
