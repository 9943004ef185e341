"""The apply by Paimon's own Python writer (``pypaimon``): rows are written, and merged by key when they are read.

The table has a primary key, the merge engine ``deduplicate``, and the position's numbers as ``sequence.field``, by
which the newest row of a key is known however late the others come
(https://paimon.apache.org/docs/master/primary-key-table/sequence-rowkind). Deletes are rows of the kind ``-D``. The
engine ``partial-update`` takes no deletes in Python.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pypaimon import CatalogFactory, Schema

from bench.others.newest import POSITION, parts_of

TABLE, KIND, PARTS = "gold.item", "kind", 3
SHAPE = tuple(f"position_{part}" for part in range(PARTS))


def prepare(rows: Path, folder: Path) -> None:
    """Make the table of these rows."""
    every = ds.dataset(rows, format="parquet").to_table()
    shaped = _shaped(every.append_column("is_delete", pa.repeat(pa.scalar(False), len(every))))
    keyed = pa.schema([field.with_nullable(field.name != "id") for field in shaped.schema])
    options = {"bucket": "1", "sequence.field": ",".join(SHAPE), "rowkind.field": KIND}
    catalog = _catalog(folder)
    catalog.create_database("gold", True)
    made = Schema.from_pyarrow_schema(keyed, primary_keys=["id"], options=options)
    catalog.create_table(TABLE, made, False)
    _write(shaped, folder)


def merge(changes: Path, folder: Path) -> None:
    """Write the changes."""
    _write(_shaped(ds.dataset(changes, format="parquet").to_table()), folder)


def export(folder: Path, file: Path) -> None:
    """Write what the table holds as Parquet."""
    builder = _catalog(folder).get_table(TABLE).new_read_builder()
    found = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    pq.write_table(found, file)


def _shaped(rows: pa.Table) -> pa.Table:
    """The rows with their kind, and with numbers in place of their position, which a table can be ordered by."""
    parts = parts_of(rows) or {name: pa.array([], pa.int64()) for name in SHAPE}
    kinds = pc.if_else(rows["is_delete"], "-D", "+U")
    shaped = rows.drop_columns([POSITION, "is_delete"]).append_column(KIND, kinds)
    for name, part in parts.items():
        shaped = shaped.append_column(name, part)
    return shaped


def _write(rows: pa.Table, folder: Path) -> None:
    table = _catalog(folder).get_table(TABLE)
    builder = table.new_batch_write_builder()
    write, commit = builder.new_write(), builder.new_commit()
    keyed = pa.schema([field.with_nullable(field.name != "id") for field in rows.schema])
    write.write_arrow(rows.cast(keyed))
    commit.commit(write.prepare_commit())
    write.close()
    commit.close()


def _catalog(folder: Path) -> Any:
    return CatalogFactory.create({"warehouse": str(folder)})
