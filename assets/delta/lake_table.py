"""One Delta table by its path, and the few ways in which Weir writes it with Spark.

Put here a way to write a table with Spark. Not here: which tables there are (``lake``), and tables that need no session
(``local_table``, ``small_table``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pyarrow as pa
from delta.tables import DeltaTable
from deltalake import DeltaTable as DeltaLog
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from assets.columns.quoting import literal, quoted
from assets.delta import delta_rs, fences, replaced_rows
from assets.delta.leases import check_leases
from assets.delta.store_faults import naming_store_faults


@dataclass(frozen=True, slots=True)
class LakeTable:
    """One Delta table by its path: it need not exist yet. ``session`` is asked for once Spark has something to do."""

    session: Callable[[], SparkSession]
    path: str
    warehouse: str = ""

    @property
    def spark(self) -> SparkSession:
        """The session that reads and writes it."""
        return self.session()

    def exists(self) -> bool:
        """True once the table has been written."""
        with naming_store_faults(self.path, self.warehouse):
            return delta_rs.opened(self.path, self.warehouse) is not None

    def read(self) -> DataFrame:
        """The table as it is now."""
        return self.spark.read.format("delta").load(self.path)

    def schema(self) -> StructType:
        """The table's columns and their types, by its own log; none where there is no table."""
        with naming_store_faults(self.path, self.warehouse):
            table = delta_rs.opened(self.path, self.warehouse)
            # Delta keeps a schema as Spark writes it, so that no session has to be started to read it.
            return (
                StructType()
                if table is None
                else StructType.fromJson(json.loads(table.schema().to_json()))
            )

    def version(self) -> int:
        """The number of the table's newest commit; -1 where there is none."""
        return int(self._newest_commit()["version"]) if self.exists() else -1

    def append(
        self, rows: DataFrame, partition_by: Sequence[str] = (), *, seen: int | None = None
    ) -> None:
        """Add rows in one commit; columns that an older version's table does not have are added to it.

        ``seen``: the table's version that says which rows are new. Of two writers that saw the same one Delta takes the
        first, and either refuses the other as concurrent or adds nothing for it.
        """
        writer = rows.write.format("delta").mode("append").option("mergeSchema", "true")
        if seen is not None:
            # Delta's own numbers begin at 0: the first writer has seen none.
            writer = writer.option("txnAppId", "weir").option("txnVersion", seen + 1)
        writer = writer.partitionBy(*partition_by)
        if seen is None:
            with self.commits():
                writer.save(self.path)
            return
        # Such a mark is a fence of its own.
        check_leases(self.warehouse)
        writer.save(self.path)

    def replace_windows(
        self, rows: DataFrame, windows: Sequence[str], partition_by: Sequence[str] = ("window",)
    ) -> None:
        """Put ``rows`` in place of all rows of these windows, in one commit."""
        listed = ", ".join(literal(window) for window in windows)
        self.replace_where(rows, f"window IN ({listed})", partition_by)

    def replace_where(
        self, rows: DataFrame, condition: str, partition_by: Sequence[str] = ()
    ) -> None:
        """Put ``rows`` in place of all rows of which the condition is true, in one commit.

        Columns that an older version's table does not have are added to it.
        """
        writer = rows.write.format("delta").partitionBy(*partition_by)
        if self.exists():
            writer = writer.option("replaceWhere", condition).option("mergeSchema", "true")
        with self.commits():
            writer.mode("overwrite").save(self.path)

    def put_windows(self, rows: DataFrame, windows: Sequence[str], *, any_rows: bool) -> int:
        """Put ``rows`` in place of all rows of these windows, in one commit; how many rows Delta says it wrote.

        ``any_rows``: whether there are any. Nothing to take away and nothing to put is no commit; where there is
        nothing to take away, rows are added, which costs Spark one job and not five. For that the caller has to be
        alone at the table.
        """
        before = delta_rs.opened(self.path, self.warehouse)
        if before is None:
            with self.commits():
                rows.write.format("delta").partitionBy("window").save(self.path)
        elif has_windows(before, windows) or "://" in self.path:
            # On an object store rows are replaced, not appended, so that Delta itself notices a concurrent write, too.
            self.replace_windows(rows, windows)
        elif any_rows:
            self.append(rows)
        after = delta_rs.opened(self.path, self.warehouse)
        assert after is not None  # it was written above, or was there
        if before is not None and after.version() == before.version():
            return 0
        # Delta counts no rows where some only went.
        metrics = after.history(1)[0].get("operationMetrics") or {}
        return int(metrics.get("numOutputRows", 0))

    def create(self, rows: DataFrame, properties: Mapping[str, str]) -> None:
        """Write the table with these properties, in place of what there was, in one commit."""
        # The older writer keeps only properties that begin with "delta.", and drops others without a word.
        writer = rows.writeTo(f"delta.{quoted(self.path)}").using("delta")
        for name, value in properties.items():
            writer = writer.tableProperty(name, value)
        with self.commits():
            writer.createOrReplace()

    def merge(
        self,
        rows: DataFrame,
        on: Sequence[str],
        *,
        delete: Column | None = None,
        update: tuple[Column, Mapping[str, Column]],
        insert: tuple[Column, Mapping[str, Column]],
    ) -> None:
        """Merge ``rows`` (alias ``new``) into the table (alias ``old``) by the ``on`` columns, in one commit."""
        same = [F.col(f"old.{quoted(name)}") == F.col(f"new.{quoted(name)}") for name in on]
        condition = same[0]
        for part in same[1:]:
            condition = condition & part
        merge = (
            DeltaTable.forPath(self.spark, self.path)
            .alias("old")
            .merge(rows.alias("new"), condition)
        )
        if delete is not None:
            merge = merge.whenMatchedDelete(delete)
        merge = merge.whenMatchedUpdate(update[0], dict(update[1]))
        with self.commits():
            merge.whenNotMatchedInsert(insert[0], dict(insert[1])).execute()

    def replace_rows(self, keys: DataFrame, rows: DataFrame) -> None:
        """Put ``rows`` in place of those that have these ``keys``, in one commit (``replaced_rows``)."""
        with self.commits():
            replaced_rows.replace(self.spark, self.path, keys, rows)

    def commits(self) -> AbstractContextManager[None]:
        """Around each commit: whoever has lost a lease on a table of an object store writes no more (``fences``)."""
        return fences.spark_commits(self.session, self.path, self.warehouse)

    def _newest_commit(self) -> Row:
        """``version``, and what Delta itself counted in ``operationMetrics``."""
        history = DeltaTable.forPath(self.spark, self.path).history(1)
        newest = history.select("version", "operationMetrics").first()
        assert newest is not None  # a Delta table has at least the commit that made it
        return newest

    def set_properties(self, properties: Mapping[str, str]) -> None:
        """Set these of the table's properties, and leave the others."""
        listed = ", ".join(
            f"{literal(name)} = {literal(value)}" for name, value in properties.items()
        )
        with self.commits():
            self.spark.sql(f"ALTER TABLE delta.{quoted(self.path)} SET TBLPROPERTIES ({listed})")

    def delete(self, condition: str | Column | None = None) -> None:
        """Remove the rows of which the condition is true, by default all, in one commit; none where there are none."""
        with self.commits():
            DeltaTable.forPath(self.spark, self.path).delete(condition)

    def add_columns(self, kinds: Mapping[str, str]) -> None:
        """Add columns of these types, null in all rows that are there."""
        listed = ", ".join(f"{quoted(name)} {kind}" for name, kind in kinds.items())
        with self.commits():
            self.spark.sql(f"ALTER TABLE delta.{quoted(self.path)} ADD COLUMNS ({listed})")

    def count(self) -> int:
        """How many rows there are, by the table's own log."""
        with naming_store_faults(self.path, self.warehouse):
            table = delta_rs.opened(self.path, self.warehouse)
            return 0 if table is None else delta_rs.count(table)

    def add_constraint(self, name: str, condition: str) -> None:
        """Let Delta refuse rows of which the condition is not true: those that are there, and those that come."""
        with self.commits():
            self.spark.sql(
                f"ALTER TABLE delta.{quoted(self.path)} ADD CONSTRAINT {quoted(name)} CHECK ({condition})"
            )

    def properties(self) -> dict[str, str]:
        """The table's own properties."""
        with naming_store_faults(self.path, self.warehouse):
            table = delta_rs.opened(self.path, self.warehouse)
            return {} if table is None else dict(table.metadata().configuration)


def has_windows(table: DeltaLog, windows: Sequence[str]) -> bool:
    """Whether a table that is partitioned by window has any file of these."""
    wanted = set(windows)
    found = pa.table(table.get_add_actions(flatten=True))["partition.window"]
    return not wanted.isdisjoint(found.unique().to_pylist())
