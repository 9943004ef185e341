"""Whole rows in place of those that have their keys, in one commit of a large Delta table.

Delta's MERGE looks through the table three times: which files have such keys, what becomes of their rows, and where
these stand. Where nothing of the old rows is wanted, one look at the key columns is enough: the old rows are marked by
deletion vectors, and the new ones are files beside them. A million rows in ten million take half of MERGE's time so.
Delta's own classes do both, within a transaction of Delta's, which the commit checks as it checks that of a MERGE. They
are no public interface: they are those of the jar that ``orchestration/spark/jars.py`` pins.
Not here: which rows, and when MERGE is needed (``gold/apply/spark_commits``).
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from assets.columns.quoting import quoted

# Columns of a table that Weir writes may have any name that does not begin like these.
_FILE, _ROW = "_weir_file", "_weir_row"


def replace(spark: SparkSession, path: str, keys: DataFrame, rows: DataFrame) -> None:
    """Take away every row that has one of these ``keys``, and add ``rows``; where there are neither, nothing is done.

    ``keys``: one row per key, of the table's columns that tell it, and no others. ``rows``: the table's columns by
    their names; those that are missing are null. The table has deletion vectors and no change data feed.

    Raises:
        PySparkException: Another writer changed the table meanwhile (``DELTA_CONCURRENT_…``).
        Py4JJavaError: A row breaks a constraint of the table.
    """
    # What py4j finds of Scala has no types.
    jvm: Any = spark._jvm
    java: Any = spark._jsparkSession
    delta, nothing = jvm.org.apache.spark.sql.delta, _object(jvm.scala, "None")
    log = delta.DeltaLog.forTable(java, path)
    transaction = log.startTransaction(nothing, nothing)
    always = _object(jvm.org.apache.spark.sql.catalyst.expressions, "Literal").TrueLiteral()
    # It reads the whole table: whatever another writer changes meanwhile is a conflict. With how many rows each file
    # has, so that one that loses all of them goes.
    files = transaction.filterFiles(jvm.PythonUtils.toSeq([always]), True)
    snapshot = transaction.snapshot()
    table = DataFrame(log.createDataFrame(snapshot, files, False, nothing), spark)
    places = table.select(
        *(quoted(name) for name in keys.columns),
        F.col("_metadata.file_path").alias(_FILE),
        F.col("_metadata.row_index").alias(_ROW),
    )
    gone = places.join(keys, on=keys.columns, how="left_semi").select(_FILE, _ROW)
    marks = _object(delta.commands, "DeletionVectorBitmapGenerator")
    marked = marks.buildRowIndexSetsForFilesMatchingCondition(
        *(java, transaction, True, gone._jdf, files, always),
        *(jvm.scala.Option.apply(F.col(name)._jc) for name in (_FILE, _ROW)),
    )
    marking = _object(delta.commands, "DMLWithDeletionVectorsHelper")
    by_path = marking.generateCandidateFileMap(log.dataPath(), files)
    touched = marking.findFilesWithMatchingRows(transaction, by_path, marked)
    # Of a file without statistics they are made, with texts of this length at most.
    statistics = _object(delta.stats, "StatsCollectionUtils")
    longest = statistics.getDataSkippingStringPrefixLength(java, transaction.metadata())
    taken = marking.processUnmodifiedData(java, touched, snapshot, longest)._1()
    actions = taken.concat(transaction.writeFiles(_shaped(rows, table)._jdf))
    if not actions.isEmpty():
        # What the table's history calls it: Delta would ask a MERGE for counts that only its own command has.
        transaction.commit(actions, getattr(delta, "DeltaOperations$Update")(nothing))


def _shaped(rows: DataFrame, table: DataFrame) -> DataFrame:
    """The rows with the table's columns, in the table's types."""
    known = set(rows.columns)
    cells = [
        (F.col(quoted(one.name)) if one.name in known else F.lit(None), one) for one in table.schema
    ]
    return rows.select(*[cell.cast(one.dataType).alias(one.name) for cell, one in cells])


def _object(package: Any, name: str) -> Any:
    """The one instance of a Scala object."""
    return getattr(getattr(package, f"{name}$"), "MODULE$")
