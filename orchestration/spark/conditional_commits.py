"""Delta's commits by Spark on S3, which several processes may make: by a class of Java that is compiled at the start.

Put here how Spark comes by that class. Not here: the class itself (``ConditionalLogStore.java``), and delta-rs's own
commits, which are conditional by a setting (``assets/delta/delta_rs``).
"""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

SOURCE = Path(__file__).with_name("ConditionalLogStore.java")

SETTINGS = {
    "spark.delta.logStore.s3a.impl": SOURCE.stem,
    # Whoever finds a newer commit than the one that it has read is too late: Delta would otherwise try again behind it.
    "spark.databricks.delta.maxCommitAttempts": "0",
}
"""What a session needs to make such commits."""


def install(session: SparkSession) -> None:
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
