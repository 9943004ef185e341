"""The one Spark session of a process: Delta, UTC, and settings that suit the machine.

Settings with a measured reason say so. Not here: what is done with the session.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import Lock

from dagster_pyspark import LazyPySparkResource
from dagster_pyspark.resources import spark_session_from_config

from orchestration.spark.jars import ensure_jars, s3a_jars
from orchestration.spark.java import check_java

_LOGGING = Path(__file__).resolve().parent / "log4j2.properties"

_STARTS_ONCE = Lock()

starting: Callable[[], AbstractContextManager[None]] = nullcontext
"""What surrounds the start of a session. Commands put something here that tells of it: many never start one."""


class WeirSpark(LazyPySparkResource):
    """dagster-pyspark's lazy session, with the jars that it needs fetched before it starts.

    ``s3a`` asks for the jars of a warehouse on S3, too.
    """

    s3a: bool = False

    def _init_session(self) -> None:
        # Tables are written side by side, and each may be the first to ask.
        with _STARTS_ONCE:
            self._start()

    def _start(self) -> None:
        if self._spark_session is None:
            check_java()
            jars = ensure_jars() + (s3a_jars() if self.s3a else [])
            # The tasks that read the landing need this very environment, not the first python3 on the path.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            listed = ",".join(str(jar) for jar in jars)
            settings = {**self.spark_config, "spark.jars": listed}
            with starting():
                session = spark_session_from_config(settings)  # type: ignore[no-untyped-call]
            # What Delta prints by itself (a line per VACUUM) would stand amid a command's own output.
            java = session._jvm.java
            nowhere = java.io.PrintStream(java.io.OutputStream.nullOutputStream())
            java.lang.System.setOut(nowhere)
            self._spark_session = session


def session_config(environment: Mapping[str, str]) -> dict[str, str]:
    """Spark's settings; ``WEIR_SPARK_MASTER``, ``_DRIVER_MEMORY`` and ``_UI`` override the local defaults.

    Anything else goes into ``spark-defaults.conf``, which Spark reads by itself.
    """
    cores = os.cpu_count() or 2
    settings = {
        "spark.app.name": "weir",
        "spark.master": environment.get("WEIR_SPARK_MASTER", "local[*]"),
        "spark.driver.memory": environment.get(
            "WEIR_SPARK_DRIVER_MEMORY", f"{_driver_gigabytes()}g"
        ),
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.session.timeZone": "UTC",
        # A sum of decimals keeps its fraction's digits: Spark would rather give up the last ones than overflow.
        "spark.sql.decimalOperations.allowPrecisionLoss": "false",
        "spark.ui.enabled": environment.get("WEIR_SPARK_UI", "false"),
        "spark.ui.showConsoleProgress": "false",
        # Nothing is kept in Spark's own warehouse, so that no folder of it need appear where a command was started.
        "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir(), "weir-spark-warehouse")),
        # Delta computes its log's state in 50 tasks unless told otherwise: about 2 s for every read and commit.
        "spark.databricks.delta.snapshotPartitions": "2",
        # VACUUM lists folders in 10,000 tasks unless told otherwise: about 30 s for a table of three files.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": str(4 * max(2, cores)),
        "spark.sql.shuffle.partitions": str(max(2, cores)),
        # Else every column function asks Python where it was called from: an eighth of the time of a small run.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        # Both look for filters that a join could spread, and to do so write its key out through all projections below.
        # A table's name is the work of many columns: it took seconds, and of one format all memory.
        "spark.sql.optimizer.dynamicPartitionPruning.enabled": "false",
        "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
        # Delta copies the source of a MERGE, lest it be another the second time. Weir's are computed once and kept: the
        # copy of 760,000 rows took 3 s.
        "spark.databricks.delta.merge.materializeSource": "none",
        # Silver's files are in the order of their keys: by the statistics of small pages a reader of a few keys passes
        # over most of them, if he may name each of the keys.
        "spark.hadoop.parquet.page.row.count.limit": "2000",
        "spark.sql.parquet.pushdown.inFilterThreshold": "1000",
        # The plans are wide (a column function per declared type); printing them is not worth a warning.
        "spark.sql.debug.maxToStringFields": "1000",
    }
    if "WEIR_SPARK_MASTER" in environment:
        del settings["spark.sql.shuffle.partitions"]
        del settings["spark.sql.sources.parallelPartitionDiscovery.parallelism"]
    else:
        # Everything is on this machine: no name of it needs to resolve, and no other can reach it.
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return settings


def s3a_config(environment: Mapping[str, str]) -> dict[str, str]:
    """Hadoop's S3A settings from the usual AWS variables, for a warehouse on S3."""
    # A store that does not answer is told of within seconds; what fails later is tried again a few times.
    settings = {
        "spark.hadoop.fs.s3a.connection.establish.timeout": "5s",
        "spark.hadoop.fs.s3a.attempts.maximum": "3",
        "spark.hadoop.fs.s3a.retry.limit": "3",
    }
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    if endpoint:
        settings["spark.hadoop.fs.s3a.endpoint"] = endpoint
        settings["spark.hadoop.fs.s3a.path.style.access"] = "true"
        settings["spark.hadoop.fs.s3a.connection.ssl.enabled"] = str(
            endpoint.startswith("https")
        ).lower()
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    if region:
        settings["spark.hadoop.fs.s3a.endpoint.region"] = region
    return settings


def _driver_gigabytes() -> int:
    """A quarter of the machine's memory, between 1 and 8 GB: Spark's own default of 1 GB is soon too small."""
    try:
        pages = int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError):
        return 2
    return max(1, min(8, pages // 4 // 2**30))


def warehouse_uri(text: str) -> str:
    """The warehouse as Spark wants it: an absolute folder, or an address with ``s3a`` for ``s3``."""
    if text.startswith("s3://"):
        return "s3a://" + text.removeprefix("s3://")
    return text if "://" in text else str(Path(text).expanduser().resolve())
