"""The warehouse: its layers, where each Delta table lies, and the one Spark session that reads and writes them.

A feed has one table of each layer at ``<warehouse>/<layer>/<feed>``; in gold one for each of its tables, at
``<warehouse>/gold/<feed>/<table>``. Every list of tables is derived from this one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, Protocol

from pyspark.sql import SparkSession

from assets.columns import layers
from assets.columns.layers import Columns
from assets.executors import choice
from assets.executors.choice import Choice
from assets.storage import delta_rs
from assets.storage.in_process_table import InProcessTable
from assets.storage.leases import LEASE_SECONDS
from assets.storage.spark_table import SparkTable
from assets.storage.store_faults import naming_store_faults
from transforms.catalogue import Catalogue
from transforms.errors import UnknownKey
from transforms.feed.names import UNFIT_IN_TABLE_NAMES
from transforms.record import DEFAULT_LIMITS, Limits


class Layer(StrEnum):
    """A kind of table; its value is its folder, and its name in SQL."""

    BRONZE = "bronze"
    """Every record that landed, verbatim; it only grows."""
    SILVER = "silver"
    """Every change that an event of a window makes, typed and with its key."""
    QUARANTINE = "quarantine"
    """Every event that could not be taken, with the reason."""
    GOLD = "gold"
    """The current rows of each table, its tombstones, and its history where it keeps one."""
    ACCOUNTING = "accounting"
    """What became of the events of each window and table, in numbers."""
    PROGRESS = "progress"
    """Which windows are finished, and what had been read of them then."""
    TRANSACTIONS = "transactions"
    """Transactions that no single window holds whole."""
    OFFSETS = "offsets"
    """How far a consumer has come in every tablet of a YugabyteDB stream."""
    DECISIONS = "decisions"
    """What people decided about the feed."""
    SCHEMAS = "schemas"
    """The schemas in a registry that records of bronze were written with."""
    REPAIRED = "repaired"
    """Records that were in quarantine, and whose window then took them."""
    BASE = "base"
    """What keys were where compaction has cut their history."""
    COMPACTED = "compacted"
    """The identities of the events that compaction has folded into base rows."""
    LEDGER = "ledger"
    """What each commit of bronze brought."""
    LANDED = "landed"
    """Which object generations a run found in the landing before bronze had them, of feeds with transactions."""
    RUNS = "runs"
    """How many rows gold had after each run."""
    ERASURES = "erasures"
    """Which keys were erased, and the steps of it that are done."""
    DRIFT = "drift"
    """What a stream had that the feed file did not declare, when a run first met it."""
    CUTS = "cuts"
    """Positions of the source up to which all tables of the feed are whole."""


COLUMNS: Final[Mapping[Layer, type[Columns]]] = {
    Layer.BRONZE: layers.Bronze,
    Layer.SILVER: layers.Silver,
    Layer.QUARANTINE: layers.Quarantine,
    Layer.ACCOUNTING: layers.Accounting,
    Layer.PROGRESS: layers.Progress,
    Layer.TRANSACTIONS: layers.Transactions,
    Layer.OFFSETS: layers.Offsets,
    Layer.DECISIONS: layers.Decisions,
    Layer.SCHEMAS: layers.Schemas,
    Layer.REPAIRED: layers.Repaired,
    Layer.BASE: layers.Base,
    Layer.COMPACTED: layers.Compacted,
    Layer.LEDGER: layers.Ledger,
    Layer.LANDED: layers.Landed,
    Layer.RUNS: layers.Runs,
    Layer.ERASURES: layers.Erasures,
    Layer.DRIFT: layers.Drift,
    Layer.CUTS: layers.Cuts,
}
"""The columns of each table but gold's, which a feed declares."""

_UNFIT: Final = re.compile(UNFIT_IN_TABLE_NAMES)

MOST_TABLES: Final = 1_000


@lru_cache(maxsize=1)
def _planned_once(session: SparkSession) -> SparkSession:
    other = session.newSession()
    other.conf.set("spark.sql.adaptive.enabled", "false")
    return other


class Sessions(Protocol):
    """Where the one Spark session of this process is had, as from dagster-pyspark's resources."""

    @property
    def spark_config(self) -> Mapping[str, Any]:
        """What the session is started with."""

    @property
    def spark_session(self) -> SparkSession:
        """The session: started on first use."""


@dataclass(frozen=True, slots=True)
class Lake:
    """The warehouse, a resource of Dagster's that knows nothing of it: quick questions do not import Dagster.

    ``largest_object``, ``largest_record``: in bytes; a larger one is quarantined. ``most_tables``: how many
    gold tables are made of a feed that only its stream describes. ``lease_seconds``: how long a lease on a table of an
    object store lasts unless it is renewed. ``executor``, ``in_process_memory``: see ``executors.choice``.
    ``versions``: tables that are read as they were at a version, by their paths.
    ``catalogues``: those in which gold is registered.
    """

    warehouse: str
    pyspark: Sessions
    largest_object: int = DEFAULT_LIMITS.largest_object
    largest_record: int = DEFAULT_LIMITS.largest_record
    most_tables: int = MOST_TABLES
    lease_seconds: int = LEASE_SECONDS
    executor: str = choice.AUTO
    in_process_memory: int = choice.MEMORY
    versions: Mapping[str, int] = field(default_factory=dict)
    catalogues: tuple[Catalogue, ...] = ()

    @property
    def spark(self) -> SparkSession:
        """The session: started on first use, one per process."""
        return self.pyspark.spark_session

    @property
    def spark_planned_once(self) -> SparkSession:
        """A session without adaptive execution, which makes each shuffle a job of its own and plans the rest again.

        Where the number of tasks is chosen by the number of records, it finds nothing to improve.
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

    def with_warehouse(self, warehouse: str, pyspark: Sessions | None = None) -> Lake:
        """A lake with these settings for another warehouse, and for another session where one is given.

        The catalogues are this warehouse's: of another one nothing is registered.
        """
        catalogues = self.catalogues if warehouse == self.warehouse else ()
        session = pyspark or self.pyspark
        return replace(self, warehouse=warehouse, pyspark=session, catalogues=catalogues)

    def by(self, executor: str, memory: int | None = None) -> Lake:
        """This lake with another executor, and with so many bytes of memory for work in this process."""
        bytes_of = self.in_process_memory if memory is None else memory
        return replace(self, executor=executor, in_process_memory=bytes_of)

    def table(self, layer: Layer, feed: str, table: str | None = None) -> SparkTable:
        """The table at ``<warehouse>/<layer>/<feed>[/<table>]``, for Spark to read and write; it need not exist yet."""
        path = self.path(layer, feed, table)
        return SparkTable(lambda: self.spark, path, self.warehouse, self.versions.get(path))

    def at_versions(self, versions: Mapping[str, int]) -> Lake:
        """The same warehouse with some tables, by their paths, as they were at a version; for reading only."""
        return replace(self, versions=versions)

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

    def in_process_table(self, layer: Layer, feed: str, table: str | None = None) -> InProcessTable:
        """The table at ``path`` as it is now, for this process to read and write without a session."""
        name = ".".join([layer, feed] + ([table] if table else []))
        own = COLUMNS.get(layer)
        columns = None if own is None else own.schema
        path = self.path(layer, feed, table)
        found = InProcessTable.at(name, path, self.warehouse, columns)
        version = self.versions.get(path)
        return found if version in (None, found.version) else found.as_of(version)

    def newest_version(self, layer: Layer, feed: str, table: str | None = None) -> int:
        """The number of the newest commit of the table at ``path``; -1 where there is none."""
        path = self.path(layer, feed, table)
        with naming_store_faults(".".join(filter(None, (layer, feed, table))), self.warehouse):
            return delta_rs.newest_version(path, self.warehouse)
