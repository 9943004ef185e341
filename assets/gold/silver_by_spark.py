"""One gold table's silver and base rows, read by Spark: for tables and windows of any size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Self

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from assets.columns import gold, layers
from assets.columns import silver as silver_rows
from assets.columns.silver import covered_by
from assets.control import compacted
from assets.executors.spark import broadcast_if_small, shaped
from assets.gold import waiting_changes
from assets.gold.plan import TablePlan
from assets.gold.range_deletes import READ
from assets.storage.lake import Lake, Layer
from transforms.compaction_watermarks import CompactionWatermark
from transforms.gold import fold
from transforms.gold.fold_rows import BASE
from transforms.gold.fold_rows import CHANGE as OF_CHANGE

MOST_KEYS: Final = 1_000
"""Maximum number of keys that are looked for by their texts: of more, most pages of a file have one."""


# Without slots: what several steps need is computed once and kept in the instance.
@dataclass(frozen=True)
class SilverBySpark:
    """All changes of one gold table in silver; see ``fold.Silver``.

    ``silver``: all rows of the feed. ``rows``: one row per change of the table that counts, ``is_new`` where the run
    brings or releases it. ``base_rows``: what the keys were where the table's history was cut (``key``, ``streams``,
    ``state``); None where nothing is compacted. ``snapshots``: the range deletes of complete snapshots, which are among
    ``rows``, too; None where there are none.
    """

    plan: TablePlan
    silver: DataFrame
    rows: DataFrame
    base_rows: DataFrame | None = None
    snapshots: DataFrame | None = None

    @classmethod
    def read(cls, lake: Lake, plan: TablePlan) -> Self:
        """Read the rows of silver that count for the table; those are new that the windows bring or release.

        Changes at or below the table's compaction watermark are left out: its base rows stand for them.
        """
        feed, table, name = plan.feed, plan.table, plan.name
        silver = lake.table(Layer.SILVER, feed.name).read()
        rows = silver.where(silver_rows.are_of(name, table.name))
        if plan.waits:
            rows = rows.unionByName(waiting_changes.conformed(silver, feed, table, name))
        if plan.kinds.transactions:
            rows = silver_rows.visible_changes(rows, _released(lake, plan))
        else:
            rows = rows.withColumn("is_new", F.lit(False))
        is_own = F.col("window").isin(sorted(plan.windows))
        rows = rows.withColumn("is_new", F.col("is_new") | is_own)
        snapshots = None
        if plan.complete_snapshots:
            cells = [
                tuple(one.get(field.name) for field in _SNAPSHOT.fields)
                for one in plan.complete_snapshots
            ]
            snapshots = lake.spark.createDataFrame(cells, _SNAPSHOT)
            rows = rows.unionByName(snapshots)
        if table.spelled:
            rows = gold.in_gold(rows, table)
        if plan.compaction_watermark is not None:
            rows = rows.where(~covered_by(plan.compaction_watermark))
            snapshots = snapshots and snapshots.where(~covered_by(plan.compaction_watermark))
        base = (
            None
            if plan.compaction_watermark is None
            else compacted.base_rows_by_spark(lake, feed, table, name)
        )
        return cls(plan, silver, rows, base, snapshots)

    def up_to(self, compaction_watermark: CompactionWatermark) -> Self:
        """The same without the changes above a compaction watermark."""
        is_covered = covered_by(compaction_watermark)
        snapshots = self.snapshots and self.snapshots.where(is_covered)
        return replace(self, rows=self.rows.where(is_covered), snapshots=snapshots)

    def above(self, compaction_watermark: CompactionWatermark, base: DataFrame) -> Self:
        """The same without the changes at or below a compaction watermark, for which base rows stand."""
        is_above = ~covered_by(compaction_watermark)
        snapshots = self.snapshots and self.snapshots.where(is_above)
        return replace(self, rows=self.rows.where(is_above), base_rows=base, snapshots=snapshots)

    @property
    def of_keys(self) -> DataFrame:
        """The changes of single keys."""
        return self.rows.where(F.col("scope").isNull())

    def new_changes(self) -> DataFrame:
        """See ``fold.Silver``."""
        return _changes(self.of_keys.where("is_new"))

    def changes(self, few: DataFrame | None, count: int) -> DataFrame:
        """See ``fold.Silver``."""
        if few is None or count > MOST_KEYS:
            return _changes(self.of_keys)
        texts = few.select(silver_rows.key_text(F.col("key")).alias("text")).collect()
        return _changes(self.of_keys.where(silver_rows.may_be_of([row["text"] for row in texts])))

    def range_deletes(self) -> pa.Table:
        """See ``fold.Silver``."""
        # Silver is not read for them where only snapshots remove.
        has_others = bool(self.plan.kinds.scopes) or self.snapshots is None
        rows = self.rows if has_others else self.snapshots
        return rows.where(F.col("scope").isNotNull()).select(*READ).toArrow()  # type: ignore[union-attr]

    def base(self) -> DataFrame | None:
        """See ``fold.Silver``."""
        if self.base_rows is None:
            return None
        last = "state.last"
        return shaped(
            self.base_rows.select(
                F.lit(BASE).alias("what"),
                *("key", "streams", "state.copies"),
                F.col("state.effect").alias("effect"),
                F.col("state.columns").alias("after"),
                *(f"{last}.log_position", f"{last}.event_id"),
                F.unix_micros(f"{last}.event_at").alias("event_at"),
            )
        )

    def roots(self) -> DataFrame:
        """See ``fold.Silver``."""
        return self._roots

    @cached_property
    def _roots(self) -> DataFrame:
        linked = self.of_keys.where(F.col("effect") == "move").select("moved_from", "key")
        links = [(tuple(row["moved_from"]), tuple(row["key"])) for row in linked.collect()]
        roots = [(list(key), list(root)) for key, root in fold.linked_keys(links).items()]
        frame = linked.sparkSession.createDataFrame(roots, "key array<string>, root array<string>")
        return broadcast_if_small(frame, len(roots))


def _changes(rows: DataFrame) -> DataFrame:
    """One row per change of a single key."""
    return shaped(
        rows.select(
            F.lit(OF_CHANGE).alias("what"),
            *("key", "is_new", "effect", "log_position", "dedup_prefix", "event_id"),
            F.unix_micros("event_at").alias("event_at"),
            *("before", "after", "attribute_ops", "moved_from", "stream"),
            F.col("scope").isNotNull().alias("is_range_delete"),
            (F.col("derived").isNotNull() | F.col("scope").isNotNull()).alias("is_derived"),
            # The row of an update that changes its key is new under the new one.
            ((F.col("operation") == "update") & F.col("moved_from").isNull()).alias("is_update"),
        )
    )


_SNAPSHOT: Final = T.StructType(
    [*layers.Silver.spark.fields, T.StructField("is_new", T.BooleanType())]
)
"""A range delete of a complete snapshot as a row of silver, and whether the run brings it."""


def _released(lake: Lake, plan: TablePlan) -> DataFrame | None:
    """One row per complete transaction that no window holds whole: ``id``, ``commit``, ``is_new``."""
    if plan.released is None:
        return None
    rows = [
        {"id": name, "commit": list(commit), "is_new": is_new}
        for name, (commit, is_new) in plan.released.items()
    ]
    return lake.spark.createDataFrame(pa.Table.from_pylist(rows, schema=_RELEASED))


_RELEASED = pa.schema(
    [("id", pa.string()), ("commit", pa.list_(pa.int64())), ("is_new", pa.bool_())]
)
