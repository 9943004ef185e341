"""The door to the Delta tables: where each lies, and the few ways in which Weir writes them.

Tables are at ``<warehouse>/<layer>/<feed>[/<table>]`` and readable by path, without a metastore. Not here: what goes
into a table (``transforms``), and which warehouse it is (``orchestration``).
"""

# No postponed annotations here: Dagster reads the resource's own to find what it depends on.
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, Self

import dagster as dg
import pyarrow as pa
from dagster_pyspark import LazyPySparkResource
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import types as T

from assets.delta import delta_rs
from assets.delta.lake_table import LakeTable
from assets.delta.local_table import LocalTable
from assets.delta.small_table import SmallTable
from assets.layers import Layer
from transforms.splitting.limits import DEFAULTS, Limits


def columns_of(schema: T.StructType) -> dg.TableSchema:
    """A table's columns as the UI shows them."""
    return dg.TableSchema(
        [dg.TableColumn(field.name, field.dataType.simpleString()) for field in schema]
    )


@lru_cache(maxsize=1)
def _planned_once(session: SparkSession) -> SparkSession:
    other = session.newSession()
    other.conf.set("spark.sql.adaptive.enabled", "false")
    return other


class Lake(dg.ConfigurableResource["Lake"]):
    """The warehouse, through the run's one Spark session, and how large what comes into it may be (``Limits``).

    ``most_tables``: so many gold tables are made of a feed by its stream's description alone.
    """

    warehouse: str
    largest_object: int = DEFAULTS.largest_object
    largest_record: int = DEFAULTS.largest_record
    most_tables: int = 1_000
    pyspark: dg.ResourceDependency[LazyPySparkResource]

    @property
    def spark(self) -> SparkSession:
        """The session: started on first use, one per process."""
        session: SparkSession = self.pyspark.spark_session
        return session

    @property
    def spark_planned_once(self) -> SparkSession:
        """The same session, but that a query is planned once and is one job, however often it shuffles.

        Spark's adaptive execution makes each shuffle a job of its own, and plans anew behind it. Where the number of
        tasks is chosen for the records there are, it finds nothing to improve: silver of a small window is 6 jobs
        without it, and 11 with it.
        """
        return _planned_once(self.spark)

    @property
    def limits(self) -> Limits:
        """How large an object of a landing may be, and a record of it."""
        return Limits(self.largest_object, self.largest_record)

    def with_warehouse(self, warehouse: str, pyspark: LazyPySparkResource | None = None) -> Self:
        """Another warehouse, or another session, and all else the same."""
        return type(self)(
            warehouse=warehouse,
            pyspark=pyspark or self.pyspark,
            largest_object=self.largest_object,
            largest_record=self.largest_record,
            most_tables=self.most_tables,
        )

    def table(self, layer: Layer, feed: str, table: str | None = None) -> LakeTable:
        """The table at ``<warehouse>/<layer>/<feed>[/<table>]``."""
        return LakeTable(lambda: self.spark, self.path(layer, feed, table), self.warehouse)

    def path(self, layer: Layer, feed: str, table: str | None = None) -> str:
        """Where that table is, or will be."""
        parts = [self.warehouse.rstrip("/"), layer, feed] + ([table] if table else [])
        return "/".join(parts)

    def local_table(self, layer: Layer, feed: str, table: str | None = None) -> LocalTable:
        """The same table as this process reads and writes it, without a session; as it is now."""
        name = ".".join([layer, feed] + ([table] if table else []))
        return LocalTable.at(name, self.path(layer, feed, table), self.warehouse)

    def small_table(self, layer: Layer, feed: str, columns: pa.Schema) -> SmallTable:
        """One of Weir's own small tables, at ``<warehouse>/<layer>/<feed>``: no session is needed for it."""
        return SmallTable(f"{layer}.{feed}", self.path(layer, feed), self.warehouse, columns)

    def opened(self, layer: Layer, feed: str) -> DeltaTable | None:
        """The feed's table of this layer, as delta-rs has it now; None where there is none."""
        return delta_rs.opened(self.path(layer, feed), self.warehouse)

    def once(self, what: Hashable, make: Callable[[], Any]) -> Any:
        """What is made of this warehouse, anew each time; ``read_once`` keeps it for one step."""
        return make()
