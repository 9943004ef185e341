"""A session on a cluster that does not answer: Spark says so in Java's words, more than a minute later.

Put here what a person reads of a cluster that cannot be used. Not here: how a session starts (``session``), and what a
cluster does once it has let the session in (``assets/task_errors.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dagster_pyspark.resources import spark_session_from_config
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from orchestration.spark.settings import is_on_this_machine
from transforms.errors import WeirError


class ClusterAway(WeirError):
    """No session could be started on the cluster that ``WEIR_SPARK_MASTER`` names."""

    def __init__(self, master: str) -> None:
        super().__init__(
            f"no session could be started on {master}: nobody answers there, or the cluster does not let this session "
            "in. See that WEIR_SPARK_MASTER is right and that its master runs; where it asks for a secret "
            "(spark.authenticate), see that spark-defaults.conf in the folder of SPARK_CONF_DIR has the same one. "
            "Nothing was read or written."
        )


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
