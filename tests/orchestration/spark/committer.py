"""A process with one Spark session that commits to S3 beside others: ``python -m tests.orchestration.spark.committer``.

It prints what came of it, as one line of JSON. A proxy stands before the store, which can let another writer commit
between Spark's look at a table and its own commit: what two processes do by chance, happens there each time.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, write_deltalake
from deltalake.exceptions import CommitFailedError
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from assets.storage import delta_rs, leases, spark_table
from assets.storage.locks import naming_spark_faults
from assets.storage.spark_table import SparkTable
from assets.storage.store_faults import in_words
from orchestration.resources import lake_of
from orchestration.spark.session import CONDITIONAL_COMMITS, SOURCE, WeirSpark
from orchestration.spark.settings import FIRST_COMPILER, OPTIONS
from tests.faults.unreliable import Unreliable, unreliable
from transforms.errors import TableBusy

BUCKET = "commits"
WAREHOUSE = f"s3a://{BUCKET}/tables"
TABLE = f"{WAREHOUSE}/table"
ROUNDS = 3
ATTEMPTS = "spark.databricks.delta.maxCommitAttempts"
DONE, BUSY = "done", "busy"


class Log:
    """The log store by itself, as Delta calls it."""

    def __init__(self, spark: SparkSession, proxy: Unreliable) -> None:
        gateway: Any = spark.sparkContext._gateway
        self.java = gateway.jvm
        self.settings = spark.sparkContext._jsc.hadoopConfiguration()
        self.proxy = proxy
        loader = self.java.java.lang.Thread.currentThread().getContextClassLoader()
        arguments = gateway.new_array(self.java.java.lang.Object, 1)
        arguments[0] = self.settings
        self.store = loader.loadClass(SOURCE.stem).getConstructors()[0].newInstance(arguments)

    def write(self, name: str, text: str, *, overwrite: bool = False) -> str:
        """Write a file of one line; returns that it is done, or which exception of Java's was thrown."""
        lines = self.java.java.util.ArrayList()
        lines.add(text)
        path = self.java.org.apache.hadoop.fs.Path(f"s3a://{BUCKET}/files/{name}")
        try:
            self.store.write(path, lines.iterator(), overwrite, self.settings)
        except Py4JJavaError as fault:
            return str(fault.java_exception.getClass().getName())
        return DONE

    def write_struck(self, name: str, text: str, status: int, *, late: bool, most: int) -> str:
        """The same, while the store answers so many of these requests with an error."""
        left = [most]

        def strikes(method: str, path: str) -> bool:
            if method != "PUT" or name not in path or not left[0]:
                return False
            left[0] -= 1
            return True

        self.proxy.status, self.proxy.late, self.proxy.strikes = status, late, strikes
        try:
            return self.write(name, text)
        finally:
            self.proxy.strikes = lambda method, path: False


def of_the_log(log: Log) -> dict[str, str]:
    """What the log store answers, case by case."""
    return {
        "first": log.write("a", "one"),
        "same text": log.write("a", "one"),
        "other text": log.write("a", "two"),
        "new": log.write("b", "one"),
        "overwritten": log.write("b", "two", overwrite=True),
        "answer lost": log.write_struck("c", "one", 500, late=True, most=1),
        "another's, 409": log.write_struck("a", "three", 409, late=False, most=9),
        "another's, 412": log.write_struck("a", "three", 412, late=False, most=9),
        "nobody's, 409": log.write_struck("d", "one", 409, late=False, most=9),
        "nobody's, 412": log.write_struck("d", "one", 412, late=False, most=9),
    }


def race_of_the_log(log: Log) -> list[list[str]]:
    """What two threads get that write the same file at once, each its own text."""
    line = Barrier(2)

    def write(writer: str, number: int) -> str:
        line.wait()
        return log.write(f"race_{number}", writer)

    with ThreadPoolExecutor(2) as threads:
        return [[*threads.map(write, "xy", [number] * 2)] for number in range(4 * ROUNDS)]


def append_by_spark(session: SparkSession, writer: str, number: int = 0) -> str:
    """Add one row to the table, through a Delta log that this writer shares with no other."""
    rows = session.range(1).select(F.lit(writer).alias("writer"), F.lit(number).alias("number"))
    # Delta keeps one log a table and set of such options, with one lock for all who commit through it.
    how = rows.coalesce(1).write.format("delta").mode("append").option("fs.weir.writer", writer)
    try:
        how.save(TABLE)
    except (Py4JJavaError, PySparkException) as fault:
        if isinstance(in_words(fault, "table", WAREHOUSE), TableBusy):
            return BUSY
        raise
    return DONE


def append_by_delta_rs(settings: dict[str, str], writer: str, number: int = 0) -> str:
    """The same by another library, which knows nothing of Java's locks."""
    types = pa.schema([("writer", pa.string()), ("number", pa.int32())])
    rows = pa.table({"writer": [writer], "number": [number]}, schema=types)
    once = CommitProperties(max_commit_retries=0)
    try:
        write_deltalake(
            *(TABLE, rows), mode="append", storage_options=settings, commit_properties=once
        )
    except CommitFailedError:
        return BUSY
    return DONE


def forestalled(
    proxy: Unreliable, settings: dict[str, str], session: SparkSession, name: str
) -> str:
    """Spark's commit where another has made the same version just before, after Spark has looked."""
    came: list[str] = []

    def strikes(method: str, path: str) -> bool:
        is_commit = "/_delta_log/" in path and path.partition("?")[0].endswith(".json")
        if method == "PUT" and is_commit and not came:
            came.append(append_by_delta_rs(settings, f"before {name}"))
        return False

    proxy.strikes = strikes
    try:
        ended = append_by_spark(session, name)
    finally:
        proxy.strikes = lambda method, path: False
    assert came == [DONE], came
    return ended


def behind_another(settings: dict[str, str], session: SparkSession) -> list[str]:
    """Weir's own commit where another was made just after it had looked at its leases; and the next one."""
    came: list[str] = []
    rows = session.range(1).select(F.lit("asleep").alias("writer"), F.lit(0).alias("number"))

    def looks(warehouse: str) -> None:
        leases.check_leases(warehouse)
        if not came:
            came.append(append_by_delta_rs(settings, "before asleep"))

    def commit() -> str:
        try:
            with naming_spark_faults(lake_of(WAREHOUSE), "table"):
                SparkTable(lambda: session, TABLE, WAREHOUSE).append(rows.coalesce(1))
        except TableBusy:
            return BUSY
        return DONE

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_table, "check_leases", looks)
        ends = [commit(), commit()]
    assert came == [DONE], came
    return ends


def race_of_commits(settings: dict[str, str], session: SparkSession) -> list[tuple[str, int, str]]:
    """What two sessions of Spark and one other library get, that commit to the table at once."""
    line = Barrier(3)
    writers: dict[str, Callable[[int], str]] = {
        "spark one": lambda number: append_by_spark(session.newSession(), "spark one", number),
        "spark two": lambda number: append_by_spark(session.newSession(), "spark two", number),
        "delta-rs": lambda number: append_by_delta_rs(settings, "delta-rs", number),
    }

    def write(writer: str) -> list[tuple[str, int, str]]:
        found = []
        for number in range(ROUNDS):
            line.wait()
            found.append((writer, number, writers[writer](number)))
        return found

    with ThreadPoolExecutor(3) as threads:
        return [one for found in threads.map(write, writers) for one in found]


def quick_session() -> SparkSession:
    """The product's session for tables on S3, with Java's first compiler alone, as for little work in a folder."""
    settings: dict[str, Any] = dict(lake_of(WAREHOUSE).pyspark.spark_config)
    settings |= {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        OPTIONS: f"{settings.get(OPTIONS, '')} {FIRST_COMPILER}".strip(),
    }
    session: SparkSession = WeirSpark(spark_config=settings, s3a=True).spark_session
    return session


def main(endpoint: str) -> None:
    """Do all of it, against the store at this address."""
    settings = delta_rs.options(WAREHOUSE, {**os.environ, "AWS_ENDPOINT_URL": endpoint})
    with unreliable(endpoint) as proxy:
        os.environ["AWS_ENDPOINT_URL"] = proxy.endpoint
        spark = quick_session()
        log = Log(spark, proxy)
        found: dict[str, object] = {"log": of_the_log(log), "log race": race_of_the_log(log)}
        again = spark.newSession()
        again.conf.set(ATTEMPTS, "1000")
        assert spark.conf.get(ATTEMPTS) == CONDITIONAL_COMMITS[ATTEMPTS]
        found["made"] = append_by_spark(spark, "made")
        found["once"] = forestalled(proxy, settings, spark, "once")
        found["again"] = forestalled(proxy, settings, again, "again")
        found["behind another"] = behind_another(settings, spark)
        found["race"] = race_of_commits(settings, spark)
    print(json.dumps(found), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
