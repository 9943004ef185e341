"""The warehouse: where each Delta table lies, and the one Spark session that reads and writes them.

Tables are at ``<warehouse>/<layer>/<feed>[/<table>]`` and readable by path, without a metastore. Put here what a step
asks of the warehouse as a whole. Not here: how one table is read and written (``delta``), what goes into a table
(``transforms``), and which warehouse it is (``orchestration``).
"""

# No postponed annotations here: Dagster reads the resource's own to find what it depends on.
import re
from functools import lru_cache
from typing import Final, Self

import dagster as dg
import pyarrow as pa
from dagster_pyspark import LazyPySparkResource
from pyspark.sql import SparkSession

from assets.delta.in_process_table import InProcessTable
from assets.delta.leases import SECONDS
from assets.delta.spark_table import SparkTable
from assets.executors import choice
from assets.executors.choice import Choice
from assets.layers import Layer
from transforms.errors import UnknownKey
from transforms.feed.table_names import UNFIT
from transforms.records.limits import DEFAULTS, Limits

_UNFIT: Final = re.compile(UNFIT)


@lru_cache(maxsize=1)
def _planned_once(session: SparkSession) -> SparkSession:
    other = session.newSession()
    other.conf.set("spark.sql.adaptive.enabled", "false")
    return other


class Lake(dg.ConfigurableResource["Lake"]):
    """The warehouse as a Dagster resource, with the run's one Spark session.

    ``largest_object``, ``largest_record``: in bytes; a larger one is quarantined. ``most_tables``: how many
    gold tables are made of a feed that only its stream describes. ``lease_seconds``: how long a lease on a table of an
    object store lasts unless it is renewed. ``executor``, ``in_process_memory``: see ``executors.choice``.
    """

    warehouse: str
    largest_object: int = DEFAULTS.largest_object
    largest_record: int = DEFAULTS.largest_record
    most_tables: int = 1_000
    lease_seconds: int = SECONDS
    executor: str = choice.AUTO
    in_process_memory: int = choice.MEMORY
    pyspark: dg.ResourceDependency[LazyPySparkResource]

    @property
    def spark(self) -> SparkSession:
        """The session: started on first use, one per process."""
        session: SparkSession = self.pyspark.spark_session
        return session

    @property
    def spark_planned_once(self) -> SparkSession:
        """A session without adaptive execution: a query is planned once and is one job, however often it shuffles.

        Spark's adaptive execution makes each shuffle a job of its own, and plans the rest again behind it. Where the
        number of tasks is chosen by the number of records, it finds nothing to improve: silver of a small window is 6
        jobs without it, and 11 with it.
        """
        return _planned_once(self.spark)

    @property
    def choice(self) -> Choice:
        """Which executor does a piece of work."""
        return Choice(self.executor, self.in_process_memory)

    @property
    def limits(self) -> Limits:
        """How large an object of a landing may be, and a record of it."""
        return Limits(self.largest_object, self.largest_record)

    def with_warehouse(self, warehouse: str, pyspark: LazyPySparkResource | None = None) -> Self:
        """A lake with these settings for another warehouse, and for another session where one is given."""
        return type(self)(
            warehouse=warehouse,
            pyspark=pyspark or self.pyspark,
            largest_object=self.largest_object,
            largest_record=self.largest_record,
            most_tables=self.most_tables,
            lease_seconds=self.lease_seconds,
            executor=self.executor,
            in_process_memory=self.in_process_memory,
        )

    def by(self, executor: str, memory: int | None = None) -> Self:
        """This lake with another executor, and with so many bytes of memory for work in this process."""
        made = self.with_warehouse(self.warehouse)
        bytes_of = self.in_process_memory if memory is None else memory
        return made.model_copy(update={"executor": executor, "in_process_memory": bytes_of})

    def table(self, layer: Layer, feed: str, table: str | None = None) -> SparkTable:
        """The table at ``<warehouse>/<layer>/<feed>[/<table>]``, for Spark to read and write; it need not exist yet."""
        return SparkTable(lambda: self.spark, self.path(layer, feed, table), self.warehouse)

    def path(self, layer: Layer, feed: str, table: str | None = None) -> str:
        """Where that table is, or will be.

        Raises:
            UnknownKey: no table can have this name, which would lead out of the layer's folder.
        """
        for name in (feed, table):
            if name is not None and (not feed or _UNFIT.search(name)):
                raise UnknownKey(f"{layer}.{feed}: no table can be called {name!r}")
        parts = [self.warehouse.rstrip("/"), layer, feed] + ([table] if table else [])
        return "/".join(parts)

    def in_process_table(
        self, layer: Layer, feed: str, table: str | None = None, *, columns: pa.Schema | None = None
    ) -> InProcessTable:
        """The table at ``path`` as it is now, for this process to read and write without a session.

        ``columns``: those that Weir gives it, where they are its own and not of a feed's declaration.
        """
        name = ".".join([layer, feed] + ([table] if table else []))
        return InProcessTable.at(name, self.path(layer, feed, table), self.warehouse, columns)
