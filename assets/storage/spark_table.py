"""One Delta table by its path, and the few ways in which Weir writes it with Spark.

On an object store the session looks at its leases just before a commit, and the store refuses a commit whose number
another has taken: Spark, which opens the table once more when it commits, is told the number that its commit has to
have (``orchestration/spark/ConditionalLogStore.java``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from delta.tables import DeltaTable
from py4j.java_gateway import JavaClass
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from assets.columns.quoting import literal, quoted
from assets.storage.in_process_table import InProcessTable
from assets.storage.leases import check_leases, is_on_store
from transforms.errors import TableBusy

LOG_STORE = "ConditionalLogStore"
"""The class of Java by which Spark commits to S3."""

# Columns of a table that Weir writes may have any name that does not begin like these.
PLACE = ("_weir_file", "_weir_row")
"""Where a row stands: the path of its file, and its number there."""


@dataclass(frozen=True, slots=True)
class SparkTable:
    """One Delta table by its path: it need not exist yet. ``session`` is asked for once Spark has something to do.

    ``as_of``: the version that is read; None for the newest.
    """

    session: Callable[[], SparkSession]
    path: str
    warehouse: str = ""
    as_of: int | None = None

    @property
    def spark(self) -> SparkSession:
        """The session that reads and writes it."""
        return self.session()

    def log(self) -> InProcessTable:
        """The table as its log has it now: asking that starts no session."""
        return InProcessTable.at(self.path, self.path, self.warehouse)

    def exists(self) -> bool:
        """True once the table has been written."""
        return self.log().exists

    def read(self) -> DataFrame:
        """The table as it is now, or as it was at its version."""
        reader = self.spark.read.format("delta")
        if self.as_of is not None:
            reader = reader.option("versionAsOf", self.as_of)
        return reader.load(self.path)

    def schema(self) -> StructType:
        """The table's columns and their types, by its own log; none where there is no table."""
        table = self.log().table
        # Delta keeps a schema as Spark writes it, so that no session has to be started to read it.
        known = (
            {"type": "struct", "fields": []}
            if table is None
            else json.loads(table.schema().to_json())
        )
        return StructType.fromJson(known)

    def version(self) -> int:
        """The number of the table's newest commit; -1 where there is none."""
        return self.log().version

    def append(
        self, rows: DataFrame, partition_by: Sequence[str] = (), *, seen: int | None = None
    ) -> None:
        """Add rows in one commit; columns that the table does not have are added to it.

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

        Columns that the table does not have are added to it.
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
        before = self.log()
        if not before.exists:
            with self.commits():
                rows.write.format("delta").partitionBy("window").save(self.path)
        elif before.windows.intersection(windows) or "://" in self.path:
            # On an object store rows are replaced, not appended, so that Delta itself notices a concurrent write, too.
            self.replace_windows(rows, windows)
        elif any_rows:
            self.append(rows)
        after = self.log()
        return 0 if after.version == before.version else after.rows_written()

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
        same = " AND ".join(f"old.{quoted(name)} = new.{quoted(name)}" for name in on)
        old = DeltaTable.forPath(self.spark, self.path).alias("old")
        merge = old.merge(rows.alias("new"), same)
        if delete is not None:
            merge = merge.whenMatchedDelete(delete)
        merge = merge.whenMatchedUpdate(update[0], dict(update[1]))
        with self.commits():
            merge.whenNotMatchedInsert(insert[0], dict(insert[1])).execute()

    def replace_rows(self, gone: DataFrame, rows: DataFrame, *, seen: int) -> None:
        """Take away the rows that stand at these places, and add ``rows``; where there are neither, no commit.

        ``gone``: one row per place (``PLACE``, by ``with_places``); ``seen``: the table's version that has them.

        Delta's MERGE looks through the table three times: which files have such keys, what becomes of their rows, and
        where these stand. Where nothing of the old rows is wanted, and whoever has read the table has noted where they
        stand, none of these looks is needed: the old rows are marked by deletion vectors, and the new ones are files
        beside them. Delta's own classes do both, within a transaction of Delta's, which the commit checks as it checks
        that of a MERGE. They are no public interface: they are those of the jar that is pinned. The table has deletion
        vectors and no change data feed.

        Raises:
            PySparkException: Another writer changed the table meanwhile (``DELTA_CONCURRENT_…``).
            TableBusy: Another writer changed it since the places were found.
            Py4JJavaError: A row breaks a constraint of the table.
        """
        with self.commits():
            self._replace_rows(gone, rows, seen)

    def _replace_rows(self, gone: DataFrame, rows: DataFrame, seen: int) -> None:
        # What py4j finds of Scala has no types.
        jvm: Any = self.spark._jvm
        java: Any = self.spark._jsparkSession
        delta, nothing = jvm.org.apache.spark.sql.delta, _object(jvm.scala, "None")
        log = delta.DeltaLog.forTable(java, self.path)
        transaction = log.startTransaction(nothing, nothing)
        always = _object(jvm.org.apache.spark.sql.catalyst.expressions, "Literal").TrueLiteral()
        # It reads the whole table: whatever another writer changes meanwhile is a conflict. With how many rows each
        # file has, so that one that loses all of them goes.
        files = transaction.filterFiles(jvm.PythonUtils.toSeq([always]), True)
        snapshot = transaction.snapshot()
        if snapshot.version() != seen:
            raise TableBusy(self.path)
        marks = _object(delta.commands, "DeletionVectorBitmapGenerator")
        marked = marks.buildRowIndexSetsForFilesMatchingCondition(
            *(java, transaction, True, gone.select(*PLACE)._jdf, files, always),
            *(jvm.scala.Option.apply(F.col(name)._jc) for name in PLACE),
        )
        marking = _object(delta.commands, "DMLWithDeletionVectorsHelper")
        by_path = marking.generateCandidateFileMap(log.dataPath(), files)
        touched = marking.findFilesWithMatchingRows(transaction, by_path, marked)
        # Of a file without statistics they are made, with texts of this length at most.
        statistics = _object(delta.stats, "StatsCollectionUtils")
        longest = statistics.getDataSkippingStringPrefixLength(java, transaction.metadata())
        taken = marking.processUnmodifiedData(java, touched, snapshot, longest)._1()
        actions = taken.concat(transaction.writeFiles(_shaped(rows, self.schema())._jdf))
        if not actions.isEmpty():
            # What the table's history calls it: Delta would ask a MERGE for counts that only its own command has.
            transaction.commit(actions, getattr(delta, "DeltaOperations$Update")(nothing))

    @contextmanager
    def commits(self) -> Iterator[None]:
        """Around each commit: on an object store, behind those that are there while the leases are held.

        Where another writer has committed by then, Delta's error is that of a concurrent write.

        Raises:
            LeaseLost: this process may write no more.
        """
        if not is_on_store(self.warehouse):
            yield
            return
        version = self.version()
        # Looked at behind the version: whatever it is, it was made by this writer or before it had the lease.
        check_leases(self.warehouse)
        gateway: Any = self.spark.sparkContext._gateway
        store = JavaClass(LOG_STORE, gateway._gateway_client)
        store.expect(self.path, version + 1)
        try:
            yield
        finally:
            store.forget(self.path)

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

    def count(self) -> int:
        """How many rows there are, by the table's own log."""
        return self.log().count()

    def properties(self) -> dict[str, str]:
        """The table's own properties."""
        return self.log().properties


def with_places(rows: DataFrame) -> DataFrame:
    """The rows of a table, each with its place."""
    found = (F.col("_metadata.file_path"), F.col("_metadata.row_index"))
    return rows.select("*", *(one.alias(name) for one, name in zip(found, PLACE, strict=True)))


def _shaped(rows: DataFrame, schema: StructType) -> DataFrame:
    """The rows with the table's columns, in the table's types."""
    known = set(rows.columns)
    cells = [(F.col(quoted(one.name)) if one.name in known else F.lit(None), one) for one in schema]
    return rows.select(*[cell.cast(one.dataType).alias(one.name) for cell, one in cells])


def _object(package: Any, name: str) -> Any:
    """The one instance of a Scala object."""
    return getattr(getattr(package, f"{name}$"), "MODULE$")
