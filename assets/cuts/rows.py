"""The rows of a gold table as they were at a cut: gold's own, and those of keys that changed later, made again.

A key whose last change is at or below the cut has now what it had there. Of the others, tombstones among them, silver
has the changes up to the cut, and compaction's base what was before: they are folded as gold folds them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.columns.quoting import quoted
from assets.control.progress import DECLARATION
from assets.cuts.record import Cut
from assets.executors.in_process import InProcess
from assets.executors.spark import InSpark
from assets.gold import stored_by_spark
from assets.gold.fold import TableFold
from assets.gold.plan import TablePlan, plan_of
from assets.gold.silver_by_spark import SilverBySpark
from assets.gold.silver_in_process import SilverInProcess, TooLarge
from assets.gold.stored_by_spark import key_texts
from assets.gold.stored_in_process import StoredInProcess
from assets.gold.tables import GoldTable
from assets.storage.lake import Lake, Layer
from transforms.change import LogPosition
from transforms.compaction_watermarks import CompactionWatermark
from transforms.cuts.positions import are_beyond, matrix_of
from transforms.feed.digest import table_digest
from transforms.feed.feed import Feed, Table
from transforms.gold import folded_rows
from transforms.gold.columns import EFFECT, KEY, LOG_POSITION, tombstone_columns
from transforms.gold.fold_rows import keys_of
from transforms.gold.key_index import KeyIndex, parts_of_rows


def lake_at(lake: Lake, cut: Cut) -> Lake:
    """The warehouse whose tables are as they were when a cut was recorded: no run is half done there."""
    root = lake.warehouse.rstrip("/")
    return lake.at_versions({f"{root}/{path}": one for path, one in cut.versions.items()})


# Without slots: what is known of the table is kept.
@dataclass(frozen=True)
class TableAt:
    """One gold table (``name``) of a ``lake`` at the versions of a cut, as of a position at or below that cut."""

    lake: Lake
    feed: Feed
    table: Table
    name: str
    log_position: LogPosition

    @cached_property
    def plan(self) -> TablePlan:
        """What is known of the table; no window is new."""
        return plan_of(self.lake, self.feed, self.table, self.name, [])

    @property
    def is_as_declared(self) -> bool:
        """Whether the table was made under the declaration that there is now, by which its changes are folded again."""
        stored = self.lake.in_process_table(Layer.GOLD, self.feed.name, self.name)
        declared = table_digest(self.plan.feed, self.plan.table)
        return not stored.exists or stored.properties.get(DECLARATION) == declared

    @property
    def is_compacted_beyond(self) -> bool:
        """Whether what the table was at the position can no longer be told, for compaction has gone further."""
        watermark = self.plan.compaction_watermark
        return watermark is not None and watermark.log_position > self.log_position

    @property
    def _up_to(self) -> CompactionWatermark:
        return CompactionWatermark(self.log_position)

    def in_process(self) -> pa.Table:
        """Its rows (``folded_rows.rows_schema``).

        Raises:
            TooLarge: they do not fit into this process.
        """
        table, choice = self.plan.table, self.lake.choice
        stored = StoredInProcess.of(
            *(self.lake, self.feed, table, self.name, self.plan.compaction_watermark)
        )
        if not choice.fits_in_process(stored.size, stored.count):
            raise TooLarge
        own = [*tombstone_columns(table)]
        later = [
            some.filter(self._are_beyond(some)) for some in (stored.rows, stored.tombstone_rows)
        ]
        if not any(some.num_rows for some in later):
            return stored.rows
        keys = [key for some in later for key in keys_of(table, some)]
        run = InProcess()
        silver = replace(SilverInProcess.of(self.lake, self.plan), up_to=self._up_to)
        made = TableFold.of(run, self.plan, silver).of_keys(run.frame_of(keys), len(keys)).rows
        changed = pa.concat_tables([some.select(own) for some in (*later, made)])
        is_kept = KeyIndex(parts_of_rows(table, changed)).numbers(parts_of_rows(table, stored.rows))
        schema = folded_rows.rows_schema(table)
        present = made.filter(pc.not_equal(made[EFFECT], "remove")).select(schema.names)
        return pa.concat_tables([stored.rows.filter(pa.array(is_kept < 0)), present.cast(schema)])

    def _are_beyond(self, rows: pa.Table) -> pa.Array:
        """Of each row whether its last change stands behind the position."""
        if not rows.num_rows:
            return pa.array([], pa.bool_())
        positions = matrix_of(rows[LOG_POSITION].combine_chunks())
        return pa.array(are_beyond(positions, self.log_position))

    def by_spark(self) -> DataFrame:
        """Its rows, as a frame of Spark's with the same columns."""
        lake, table = self.lake, self.plan.table
        gold = GoldTable(lake, self.feed, table, self.name)
        names = [quoted(name) for name in folded_rows.rows_schema(table).names]
        own = [*tombstone_columns(table)]
        rows = gold.rows.read().select(*names)
        position = F.array(*map(F.lit, self.log_position)).cast("array<bigint>")
        later = [
            one.where(F.col(LOG_POSITION) > position) for one in (rows, gold.tombstones.read())
        ]
        texts = key_texts(table) if table.key else F.from_json(KEY, "array<string>")
        keys = reduce(DataFrame.unionByName, [one.select(texts.alias("key")) for one in later])
        keys = keys.distinct().localCheckpoint()
        count = keys.count()
        if not count:
            return rows
        silver = SilverBySpark.read(lake, self.plan).up_to(self._up_to)
        fold = TableFold.of(InSpark(lake.spark, self.feed), self.plan, silver)
        made = fold.of_keys(keys, count).rows
        changed = [one.select(*map(quoted, own)) for one in (*later, made)]
        kept = rows.join(reduce(DataFrame.unionByName, changed).distinct(), on=own, how="left_anti")
        present = stored_by_spark.present_rows(made, table)
        return kept.select(*names).unionByName(present.select(*names))
