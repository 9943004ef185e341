"""Spark's settings, from the machine, the environment and the work: Delta, UTC, sizes that suit little data.

A setting with a measured reason says so.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from assets.columns.silver import NAMED_AT_ONCE
from assets.landing.landings import open_landing
from assets.storage.lake import Lake
from assets.storage.patience import ATTEMPTS, CONNECT_SECONDS
from orchestration.spark.on_first_use import SparkOnFirstUse
from transforms.addresses import has_credentials, is_address, neither
from transforms.errors import SettingMisdeclared, UnreadableLanding
from transforms.feed.feed import Feed
from transforms.formats import FORMATS

_LOGGING = Path(__file__).resolve().parent / "log4j2.properties"

LOOPBACK = "127.0.0.1"

_LEFT_OUT: Final = {
    # Both copy the whole expression of a join's key into filters. For a table's name, which is computed from many
    # columns, that took seconds, and for one format all memory.
    "spark.sql.optimizer.dynamicPartitionPruning.enabled": "false",
    "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
}
"""What Spark would do with plans unless it were told not to."""

_OF_MEANING: Final = {
    "spark.sql.session.timeZone": "UTC",
    # Or ``${env:NAME}`` in a table's name, however it is quoted, is what a variable of the environment holds.
    "spark.sql.variable.substitute": "false",
    # A sum of decimals keeps its fraction's digits: Spark would rather give up the last ones than overflow.
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
}
"""Settings without which a statement means something else."""


_OF_SMALL_HEAPS: Final = {
    # Java does not move large arrays, and needs room in one piece for each: a heap of 1 GB had none for pages of 16 MB
    # and for ten thousand records in one array when half of it was free. Sixteen bytes less than 4 MB, as an array has
    # a head, with which it would fill one piece more. A task has 8,192 pages at most.
    "spark.buffer.pageSize": str((4 << 20) - 16),
    "spark.sql.inMemoryColumnarStorage.batchSize": "1000",
}
"""For the executors of a cluster, each of which may have little memory."""


_OF_WORKERS: Final = {
    # By TCP a connection between Java and a Python worker stood still for good twice, all buffers full: from 6.17 on
    # Linux may drop what comes to a full buffer, and with it the word that the other side has room again.
    "spark.python.unix.domain.socket.enabled": "true",
    # Should a worker neither take nor give anything for so many seconds, it is ended: a cluster does its task again,
    # and a run on one machine fails, which can be started again. Half an hour, as the
    # error says: the fold of a key with very many events gives nothing for a while.
    "spark.python.worker.idleTimeoutSeconds": "1800",
    "spark.python.worker.killOnIdleTimeout": "true",
}
"""For whatever runs Python."""


OF_THE_DAEMON: Final = {"spark.python.daemon.module": "assets.executors.python_daemon"}
"""Where tasks are known to have this very Weir: workers are forked off with it imported, else each takes a second."""


_COPIED: Final = tuple(
    f"spark.hadoop.fs.{name}"
    for name in (
        *("s3a.access.key", "s3a.secret.key", "s3a.session.token"),
        *(
            "s3.awsAccessKeyId",
            "s3.awsSecretAccessKey",
            "s3n.awsAccessKeyId",
            "s3n.awsSecretAccessKey",
        ),
    )
)
"""Where Spark puts the credentials of a store that its driver has in the environment."""


def session_config(environment: Mapping[str, str]) -> dict[str, str]:
    """Spark's settings by name; ``WEIR_SPARK_MASTER``, ``_DRIVER_MEMORY`` and ``_UI`` override the local defaults.

    Anything else goes into ``spark-defaults.conf``, which Spark reads by itself.
    """
    cores = os.cpu_count() or 2
    settings = {
        "spark.app.name": "weir",
        "spark.master": _master(environment),
        "spark.driver.memory": environment.get(
            "WEIR_SPARK_DRIVER_MEMORY", f"{_driver_gigabytes()}g"
        ),
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        **_OF_MEANING,
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
        **_LEFT_OUT,
        **_OF_WORKERS,
        # Delta copies the source of a MERGE, lest it be another the second time. Weir's are computed once and kept: the
        # copy of 760,000 rows took 3 s.
        "spark.databricks.delta.merge.materializeSource": "none",
        # Silver's files are in the order of their keys: by the statistics of small pages a reader of a few keys passes
        # over most of them, if he may name each of the keys. Of a longer list only its least and greatest value count.
        "spark.hadoop.parquet.page.row.count.limit": "2000",
        "spark.sql.parquet.pushdown.inFilterThreshold": str(NAMED_AT_ONCE),
        # A row may hold megabytes: a large record, or many small rows in one value.
        "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
        # The plans are wide (a column function per declared type); printing them is not worth a warning.
        "spark.sql.debug.maxToStringFields": "1000",
    }
    if "WEIR_SPARK_MASTER" in environment:
        del settings["spark.sql.shuffle.partitions"]
        del settings["spark.sql.sources.parallelPartitionDiscovery.parallelism"]
    return settings | _of_place(settings, environment)


def _of_place(settings: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """What follows from where the session's tasks run."""
    if is_on_this_machine(settings):
        # Everything is on this machine: no name of it needs to resolve, and no other can reach it.
        of_driver = {"spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK}
        return of_driver | OF_THE_DAEMON
    of_cluster = dict(_OF_SMALL_HEAPS)
    if environment.get("AWS_ACCESS_KEY_ID"):
        # Spark would copy them from the environment into what it sends to executors with each task.
        of_cluster |= dict.fromkeys(_COPIED, "")
    if settings["spark.master"].startswith("yarn"):
        # The folder that an executor of YARN's has for temporary files has too long a name for a socket in it.
        of_cluster[SOCKETS] = SHORT_SOCKETS
    return of_cluster


def _master(environment: Mapping[str, str]) -> str:
    master = environment.get("WEIR_SPARK_MASTER", "local[*]")
    refuse_credentials("WEIR_SPARK_MASTER", master)
    return master


def is_on_this_machine(settings: Mapping[str, str]) -> bool:
    """Whether driver and executors are one process; the executors of a cluster have to reach the driver."""
    return re.fullmatch(r"local(\[.*\])?", settings["spark.master"].strip()) is not None


def stay_on_this_machine(environment: MutableMapping[str, str]) -> None:
    """Have Spark's pages listen on loopback, as its other ports do, unless ``SPARK_LOCAL_IP`` says where.

    No setting of Spark's says where the pages listen: without this variable that is every address of the machine.
    """
    environment.setdefault("SPARK_LOCAL_IP", LOOPBACK)


def s3a_config(environment: Mapping[str, str]) -> dict[str, str]:
    """Hadoop's S3A settings from the usual AWS variables, for a warehouse on S3."""
    settings = {
        "spark.hadoop.fs.s3a.connection.establish.timeout": f"{CONNECT_SECONDS}s",
        "spark.hadoop.fs.s3a.attempts.maximum": str(ATTEMPTS),
        "spark.hadoop.fs.s3a.retry.limit": str(ATTEMPTS - 1),
    }
    name = "AWS_ENDPOINT_URL_S3" if environment.get("AWS_ENDPOINT_URL_S3") else "AWS_ENDPOINT_URL"
    if endpoint := environment.get(name):
        refuse_credentials(name, endpoint)
        settings["spark.hadoop.fs.s3a.endpoint"] = endpoint
        settings["spark.hadoop.fs.s3a.path.style.access"] = "true"
        settings["spark.hadoop.fs.s3a.connection.ssl.enabled"] = str(
            endpoint.startswith("https")
        ).lower()
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    if region:
        settings["spark.hadoop.fs.s3a.endpoint.region"] = region
    return settings


def refuse_credentials(name: str, address: str) -> None:
    """Refuse an address that would be shown, in logs and on pages, with the credentials in it.

    Raises:
        SettingMisdeclared: it has some; ``name`` is the variable's.
    """
    if has_credentials(address):
        fault = (
            "there are credentials in this address, where they would be shown to whoever sees it; "
        )
        raise SettingMisdeclared(name, "…", f"{fault}{_CREDENTIALS}")


_CREDENTIALS = (
    "a store's belong into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile (AWS_PROFILE)"
)


def _driver_gigabytes() -> int:
    """A quarter of the machine's memory, between 1 and 8 GB: Spark's own default of 1 GB is soon too small."""
    try:
        pages = int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError):
        return 2
    return max(1, min(8, pages // 4 // 2**30))


WAREHOUSE: Final = "WEIR_WAREHOUSE"


def warehouse_uri(text: str, said_by: str | None = None) -> str:
    """The warehouse as Spark wants it: an absolute folder, or an address with ``s3a`` for ``s3``.

    ``file:///folder`` is that folder: nothing about it is an object store. ``said_by``: the variable that it comes
    from; without it, the option of a command, or the variable where that has the same text.

    Raises:
        SettingMisdeclared: there are credentials in it, or it is in a store that Weir does not know.
    """
    said_by = said_by or (WAREHOUSE if os.environ.get(WAREHOUSE) == text else "--warehouse")
    if text.startswith("file:///"):
        text = unquote(text.removeprefix("file://"))
    refuse_credentials(said_by, text)
    if text.startswith("s3://"):
        return "s3a://" + text.removeprefix("s3://")
    if not is_address(text):
        return str(Path(text).expanduser().resolve())
    if not text.startswith("s3a://"):
        raise SettingMisdeclared(said_by, text, neither(text, "s3://bucket/prefix"))
    return text


# The folder of the sockets by which Java and the Python workers of one machine talk.


SOCKETS = "spark.python.unix.domain.socket.dir"

SHORT_SOCKETS = "/tmp"
"""A folder of every machine whose name leaves room for a socket's."""

LONGEST = 104 - 1 - len("/weir-12345678/.12345678-1234-1234-1234-123456789012.sock")
"""How long the name of the folder around it may be: macOS takes 104 bytes for a socket's name, its end included."""


@cache
def socket_folder() -> str:
    """A folder for sockets that only this user may enter, as sockets ask for no password; it ends with the process.

    A process that is killed leaves it behind, empty but for a socket.
    """
    around = tempfile.gettempdir()
    if len(os.fsencode(around)) > LONGEST:
        around = SHORT_SOCKETS
    folder, owner = tempfile.mkdtemp(prefix="weir-", dir=around), os.getpid()

    def remove() -> None:
        # A process that was forked off ends, too, and before this one.
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


# A Spark session for little work: most commands handle a few megabytes, and wait for Java to warm up.
# Measured on two cores with the demo's tables: with Java's first compiler alone, opening the session and reading what
# is in bronze costs 22 s of CPU, with both 40 s; a first run of one small table takes 43 s where Spark generates no
# code for whole stages, 47 s where it does. On long work both pay for themselves, so they are left out only where all
# drops and tables together are small.


SMALL_BYTES = 32 * 2**20
SMALL_FILES = 5_000

OPTIONS = "spark.driver.extraJavaOptions"
FIRST_COMPILER = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
"""Java's first compiler alone, with a larger cache: by default it would have 48 MB, which a run fills."""


def tuned(lake: Lake, feeds: Sequence[Feed] = ()) -> Lake:
    """The lake, with a session that starts quickly if these feeds' drops and the warehouse are small."""
    settings = dict(lake.pyspark.spark_config)
    on_this_machine = str(settings.get("spark.master", "")).startswith("local")
    if not (on_this_machine and "://" not in lake.warehouse and is_small(sizes(lake, feeds))):
        return lake
    settings["spark.sql.codegen.wholeStage"] = "false"
    # Adaptive execution makes each shuffle a job of its own, and finds nothing to improve in so little.
    settings["spark.sql.adaptive.enabled"] = "false"
    settings[OPTIONS] = f"{settings.get(OPTIONS, '')} {FIRST_COMPILER}".strip()
    return lake.with_warehouse(lake.warehouse, SparkOnFirstUse(settings))


def is_small(sizes: Iterator[int]) -> bool:
    """True for few files of few bytes; looks at no more of them than it takes to know."""
    total = 0
    for number, size in enumerate(sizes, start=1):
        total += size
        if total > SMALL_BYTES or number > SMALL_FILES:
            return False
    return True


def sizes(lake: Lake, feeds: Sequence[Feed]) -> Iterator[int]:
    """The size of every drop of these feeds, and of every file in the warehouse."""
    for feed in feeds:
        if feed.reads_topics:
            # How much there is, only the broker knows, and it may be slow to say: no small work, then.
            yield SMALL_BYTES + 1
            continue
        # A landing that cannot be read is reported where the feed is planned.
        with suppress(UnreadableLanding):
            for drop in open_landing(feed, FORMATS[feed.format].files).list():
                yield drop.size
    for folder, _, files in os.walk(lake.warehouse):
        for file in files:
            path = Path(folder, file)
            yield path.stat().st_size if path.is_file() else 0
