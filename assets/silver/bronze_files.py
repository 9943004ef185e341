"""The data files of some windows' bronze at one moment: found in Delta's log, without a Spark job.

Another run may add records meanwhile; all readers of one ``BronzeFiles`` see the same records. Put here how bronze is
read for silver. Not here: what becomes of the records (``classifying``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from assets.columns.bronze import BRONZE, BRONZE_ARROW
from assets.delta.delta_rs import conformed
from assets.delta.in_process_table import DataFile, InProcessTable
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed


@dataclass(frozen=True, slots=True)
class BronzeFiles:
    """The data files of some windows."""

    table: InProcessTable
    files: Sequence[DataFile]

    @classmethod
    def of(cls, lake: Lake, feed: Feed, windows: Sequence[str]) -> BronzeFiles:
        """The files that these windows have now."""
        table = lake.in_process_table(Layer.BRONZE, feed.name)
        return cls(table, table.files({"window": windows}))

    @property
    def size(self) -> int:
        """How many bytes the files have."""
        return sum(one.size for one in self.files)

    def records(self) -> Counter[str]:
        """How many records there are, by window: the mark of an object without any is none."""
        found: Counter[str] = Counter()
        for one in self.files:
            lines = self.table.read_file(one, ["line"])["line"]
            found[one.window] += pc.sum(pc.greater(lines, 0)).as_py() or 0
        return found

    def payload_bytes(self) -> int:
        """How many bytes all records have together; a file that repeats one record is much smaller than they are."""
        found = 0
        for one in self.files:
            payloads = self.table.read_file(one, ["payload"], repeated=["payload"])["payload"]
            for chunk in payloads.chunks:
                sizes = pc.binary_length(chunk.dictionary)
                found += pc.sum(sizes.take(chunk.indices)).as_py() or 0
        return found

    def batches(self) -> list[pa.RecordBatch]:
        """All of their records, in this process."""
        found = []
        for one in self.files:
            rows = self.table.read_file(one, BRONZE_ARROW.names)
            found += conformed(rows, BRONZE_ARROW).combine_chunks().to_batches()
        return found

    def frame(self, spark: SparkSession) -> DataFrame:
        """All of their records, for Spark to read."""
        if not self.files:
            return spark.createDataFrame([], BRONZE)
        root = self.table.path
        paths = [f"{root}/{one.path}" for one in self.files]
        records = spark.read.schema(BRONZE).option("basePath", root).parquet(*paths)
        # Never null: while Spark fills a batch, it goes after each row through all since the last one that has a list.
        none = F.array().cast(BRONZE["headers"].dataType)
        return records.withColumn("headers", F.coalesce("headers", none))
