"""The stage that writes silver's rows into its data files where they are made, in Spark's tasks."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructField, TimestampType

from assets.columns.layers import KEY_TEXT, Silver
from assets.columns.silver import written_in_process
from assets.executors.executor import Stage
from assets.storage.data_files import NewFile, WindowFiles
from transforms.feed.feed import Feed
from transforms.silver.frames import CHANGES, OUTPUT
from transforms.silver.stages import told_batch

_UNIQUE: Final = ("event_id", KEY_TEXT, "line", "byte_offset")


@dataclass(frozen=True, slots=True)
class ChangesInFiles:
    """How Spark's tasks write the changes that stages make into files of silver (``table``), and how to read these."""

    table: str
    feed: Feed

    def __call__(self, stage: Stage) -> Stage:
        """The stage whose tasks write what another one makes."""
        return WritesChanges(self.table, self.feed.without_secret(), stage)

    def rows(self, session: SparkSession, files: Sequence[NewFile]) -> DataFrame:
        """The rows of such files as rows of ``OUTPUT``; what silver does not keep is null."""
        kinds = from_arrow_schema(OUTPUT)
        if not files:
            return session.createDataFrame([], kinds)
        paths = [f"{self.table}/{one.path}" for one in files]
        rows = session.read.schema(Silver.spark).option("basePath", self.table).parquet(*paths)
        return rows.select(*[_output_column(one).alias(one.name) for one in kinds.fields])


def _output_column(field: StructField) -> Column:
    if field.name == "kind":
        return F.lit(CHANGES)
    if field.name not in Silver.sentences:
        return F.lit(None).cast(field.dataType)
    is_time = isinstance(Silver.spark[field.name].dataType, TimestampType)
    return F.unix_micros(field.name) if is_time else F.col(field.name)


@dataclass(frozen=True, slots=True)
class WritesChanges:
    """A stage whose changes go into files of silver; the rest comes out, and last which files these are.

    Rows that Spark takes back, keeps, and writes by itself cost it as much as all else that it does with them.
    """

    table: str
    feed: Feed
    stage: Stage
    schema: ClassVar[pa.Schema] = OUTPUT

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of ``OUTPUT``; the payload of the last is a pickled list of ``NewFile``."""
        with WindowFiles(self.table, Silver.schema, _UNIQUE) as files:
            for batch in self.stage(batches):
                is_change = pc.equal(batch["kind"], CHANGES)
                rest = batch.filter(pc.invert(is_change))
                if rest.num_rows:
                    yield rest
                if rest.num_rows < batch.num_rows:
                    self._write(files, batch.filter(is_change) if rest.num_rows else batch)
            found = files.closed()
        yield told_batch(pickle.dumps(found))

    def _write(self, files: WindowFiles, changes: pa.RecordBatch) -> None:
        rows = pa.Table.from_batches([changes])
        files.add(written_in_process(rows, self.feed, Silver.schema))
