"""The one Spark session of a process, started when it is first needed, with Delta's commits on S3."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from dagster_pyspark import LazyPySparkResource
from dagster_pyspark.resources import spark_session_from_config
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from orchestration.spark import archive, on_first_use
from orchestration.spark.jars import ensure_jars
from orchestration.spark.java import check_java
from orchestration.spark.settings import (
    SOCKETS,
    is_on_this_machine,
    socket_folder,
    stay_on_this_machine,
)
from transforms.errors import ClusterAway

_STARTS_ONCE = Lock()


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
            jars = ensure_jars(s3a=self.s3a)
            archive.choose_python(os.environ)
            listed = ",".join(str(jar) for jar in jars)
            settings = {**self.spark_config, "spark.jars": listed}
            if is_on_this_machine(self.spark_config):
                stay_on_this_machine(os.environ)
                # The executors of a cluster have folders of their own.
                settings[SOCKETS] = socket_folder()
            if self.s3a:
                settings |= CONDITIONAL_COMMITS
            with on_first_use.starting():
                session = started(settings)
            if self.s3a:
                install_conditional_commits(session)
            # What Delta prints by itself (a line per VACUUM) would appear amid a command's own output.
            assert session._jvm is not None  # it has just started
            java = session._jvm.java
            nowhere = java.io.PrintStream(java.io.OutputStream.nullOutputStream())
            java.lang.System.setOut(nowhere)
            self._spark_session = session


# A session on a cluster that does not answer: Spark says so in Java's words, more than a minute later.


def started(settings: Mapping[str, Any]) -> SparkSession:
    """A session with these settings.

    Raises:
        ClusterAway: they name a cluster, and it did not take the session.
    """
    try:
        session: SparkSession = spark_session_from_config(settings)  # type: ignore[no-untyped-call]
    except Py4JError:
        if is_on_this_machine(settings):
            raise
        # Spark keeps what it gave up, and would hand it out again.
        given_up = SparkContext._active_spark_context
        if given_up is not None:
            given_up.stop()
        raise ClusterAway(str(settings["spark.master"])) from None
    return session


# Delta's commits by Spark on S3, which several processes may make: by a class of Java that is compiled at the start.


SOURCE = Path(__file__).with_name("ConditionalLogStore.java")

CONDITIONAL_COMMITS = {
    "spark.delta.logStore.s3a.impl": SOURCE.stem,
    # Whoever finds a newer commit than the one that it has read is too late: Delta would otherwise try again behind it.
    "spark.databricks.delta.maxCommitAttempts": "0",
}
"""What a session needs to make such commits."""


def install_conditional_commits(session: SparkSession) -> None:
    """Give the session the class: before Delta first writes to S3, for it is looked up then.

    The compiler is Janino, which Spark has for its own queries.
    """
    java = _java(session)
    loader = java.java.lang.Thread.currentThread().getContextClassLoader()
    compiler = java.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(loader)
    compiler.cook(SOURCE.read_text(encoding="utf-8"))
    compiled = compiler.getBytecodes()
    folder = Path(tempfile.mkdtemp(prefix="weir-commits-", dir=_folder_of(session)))
    jar = folder / "weir-conditional-commits.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for name in compiled:
            archive.writestr(f"{name.replace('.', '/')}.class", bytes(compiled[name]))
    loader.addURL(java.java.io.File(str(jar)).toURI().toURL())
    # Tasks look at the log, too, where they list a table's files.
    session.sparkContext._jsc.addJar(str(jar))


def _java(session: SparkSession) -> Any:
    assert session._jvm is not None  # a session of this process has one
    return session._jvm


def _folder_of(session: SparkSession) -> str:
    """The session's own folder, which it removes when it ends."""
    return str(_java(session).org.apache.spark.SparkFiles.getRootDirectory())
