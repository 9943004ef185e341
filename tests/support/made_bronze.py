"""Bronze as runs make it, commit by commit, without Spark."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
from deltalake import write_deltalake
from pyspark.sql.pandas.types import to_arrow_schema

from assets.columns import layers
from assets.storage import delta_rs
from assets.storage.lake import Lake, Layer
from transforms.feed.feed import Feed

NOON = datetime(2025, 11, 20, 12, tzinfo=UTC)
COLUMNS = pa.schema(
    [one.with_nullable(True) for one in to_arrow_schema(layers.Bronze.spark, timezone="UTC")]
)

Object = tuple[str, str, str, int]
"""Window, name, generation, and how many records."""


def append(lake: Lake, feed: Feed, *objects: Object, first: int = 0) -> None:
    """One commit of bronze, as a run makes it; an object without records leaves a mark."""
    rows = [
        {
            "window": window,
            "object": name,
            "generation": generation,
            "line": first + line if records else 0,
            "byte_offset": first + max(line - 1, 0),
            "payload": b"{}",
            "landed_at": NOON,
        }
        for window, name, generation, records in objects
        for line in (range(1, records + 1) if records else [0])
    ]
    write_deltalake(
        lake.path(Layer.BRONZE, feed.name),
        pa.Table.from_pylist(rows, schema=COLUMNS),
        mode="append",
        partition_by=["window"],
        storage_options=delta_rs.options(lake.warehouse),
    )
