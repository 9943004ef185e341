"""The Spark session as what holds it is passed around: its settings, and nothing that takes time to import.

A question at the command line is answered without Spark. dagster-pyspark, and Dagster with it, takes a second to
import, so that it is imported when a session is needed, or Dagster asks for its resource.
Put here what is known before the session starts. Not here: how it starts (``session``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orchestration.spark.jvm_notices import without_notices

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from orchestration.spark.session import WeirSpark

starting: Callable[[], AbstractContextManager[None]] = without_notices
"""What surrounds the start of a session. Commands set it, to say that Spark starts: many commands never start it."""


@dataclass(frozen=True)
class SparkOnFirstUse:
    """A session that starts when it is first asked for; see ``session.WeirSpark`` for the arguments."""

    spark_config: Mapping[str, Any]
    s3a: bool = False

    @cached_property
    def resource(self) -> WeirSpark:
        """The resource of dagster-pyspark that starts it."""
        from orchestration.spark.session import WeirSpark

        return WeirSpark(spark_config=dict(self.spark_config), s3a=self.s3a)

    @property
    def spark_session(self) -> SparkSession:
        """The session."""
        session: SparkSession = self.resource.spark_session
        return session
