"""The data files of some windows' bronze at one moment: found in Delta's log, without a Spark job.

Another run may add records meanwhile; all readers of one ``BronzeFiles`` see the same records. Put here how bronze is
read for silver. Not here: what becomes of the records (``classified_windows``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from assets.columns.bronze import BRONZE, BRONZE_ARROW
from assets.delta import delta_rs
from assets.delta.table_files import Files
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed


@dataclass(frozen=True, slots=True)
class BronzeFiles:
    """The data files of some windows: their paths below the table, their sizes in bytes, and the window of each."""

    root: str
    files: Files
    parts: tuple[tuple[str, int, str], ...]

    @classmethod
    def of(cls, lake: Lake, feed: Feed, windows: Sequence[str]) -> BronzeFiles:
        """The files that these windows have now."""
        path = lake.table(Layer.BRONZE, feed.name).path
        table = delta_rs.opened(path, lake.warehouse)
        assert table is not None  # bronze comes first
        found = pa.table(table.get_add_actions(flatten=True))
        mine = found.filter(pc.is_in(found["partition.window"], pa.array([*windows], pa.string())))
        columns = ("path", "size_bytes", "partition.window")
        rows = zip(*[mine[name].to_pylist() for name in columns], strict=True)
        parts = tuple((unquote(name), size, window) for name, size, window in rows)
        return cls(path, Files.of(table, path, lake.warehouse), parts)

    @property
    def size(self) -> int:
        """How many bytes the files have."""
        return sum(size for _, size, _ in self.parts)

    def records(self) -> Counter[str]:
        """How many records there are, by window: the mark of an object without any is none."""
        found: Counter[str] = Counter()
        for name, size, window in self.parts:
            lines = self.files.read(name, size, ["line"])["line"]
            found[window] += pc.sum(pc.greater(lines, 0)).as_py() or 0
        return found

    def payload_bytes(self) -> int:
        """How many bytes all records have together; a file that repeats one record is much smaller than they are."""
        found = 0
        for name, size, _ in self.parts:
            payloads = self.files.read(name, size, ["payload"], repeated=["payload"])["payload"]
            for chunk in payloads.chunks:
                sizes = pc.binary_length(chunk.dictionary)
                found += pc.sum(sizes.take(chunk.indices)).as_py() or 0
        return found

    def batches(self) -> list[pa.RecordBatch]:
        """All of their records, in this process."""
        columns = [name for name in BRONZE_ARROW.names if name != "window"]
        found = []
        for name, size, window in self.parts:
            rows = self.files.read(name, size, columns)
            of_window = pa.array([window] * rows.num_rows, pa.string())
            whole = rows.append_column("window", of_window)
            for column in set(BRONZE_ARROW.names) - set(whole.schema.names):
                # A table that an earlier version made has no such column.
                nothing = pa.nulls(rows.num_rows, BRONZE_ARROW.field(column).type)
                whole = whole.append_column(column, nothing)
            found += (
                whole.select(BRONZE_ARROW.names).cast(BRONZE_ARROW).combine_chunks().to_batches()
            )
        return found

    def frame(self, spark: SparkSession) -> DataFrame:
        """All of their records, for Spark to read."""
        if not self.parts:
            return spark.createDataFrame([], BRONZE)
        paths = [f"{self.root}/{name}" for name, _, _ in self.parts]
        records = spark.read.schema(BRONZE).option("basePath", self.root).parquet(*paths)
        # Never null: while Spark fills a batch, it goes after each row through all since the last one that has a list.
        none = F.array().cast(BRONZE["headers"].dataType)
        return records.withColumn("headers", F.coalesce("headers", none))
