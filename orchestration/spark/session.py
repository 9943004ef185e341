"""The one Spark session of a process, started when it is first needed.

Put here how the session starts. Not here: its settings (``settings``), and what is done with it (``assets``).
"""

from __future__ import annotations

import os
from threading import Lock

from dagster_pyspark import LazyPySparkResource

from orchestration.spark import archive, conditional_commits, on_first_use, sockets
from orchestration.spark.clusters import started
from orchestration.spark.jars import ensure_jars, s3a_jars
from orchestration.spark.java import check_java
from orchestration.spark.settings import is_on_this_machine, stay_on_this_machine

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
            jars = ensure_jars() + (s3a_jars() if self.s3a else [])
            archive.choose_python(os.environ)
            listed = ",".join(str(jar) for jar in jars)
            settings = {**self.spark_config, "spark.jars": listed}
            if is_on_this_machine(self.spark_config):
                stay_on_this_machine(os.environ)
                # The executors of a cluster have folders of their own.
                settings[sockets.SETTING] = sockets.socket_folder()
            if self.s3a:
                settings |= conditional_commits.SETTINGS
            with on_first_use.starting():
                session = started(settings)
            if self.s3a:
                conditional_commits.install(session)
            # What Delta prints by itself (a line per VACUUM) would appear amid a command's own output.
            assert session._jvm is not None  # it has just started
            java = session._jvm.java
            nowhere = java.io.PrintStream(java.io.OutputStream.nullOutputStream())
            java.lang.System.setOut(nowhere)
            self._spark_session = session
