"""One gold table as either engine reads, folds and commits it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from assets.executors.executor import Executor
from assets.executors.in_process import InProcess
from assets.gold.apply import Committing
from assets.gold.fold import Silver, TableFold
from assets.gold.plan import TablePlan
from assets.gold.silver_by_spark import SilverBySpark
from assets.gold.silver_in_process import SilverInProcess
from assets.gold.stored_by_spark import StoredBySpark
from assets.gold.stored_in_process import StoredInProcess
from assets.gold.tables import GoldTable
from assets.storage.lake import Lake
from tests.executors.engines import Engine, in_spark
from tests.executors.warehouses import Due
from transforms.gold.folded_rows import MOST_KEYS_SHOWN, FoldMetrics


@dataclass(frozen=True, slots=True)
class Side:
    """An engine, and what it reads of one table."""

    engine: Engine
    plan: TablePlan
    silver: Silver[Any]
    stored: Committing[Any]

    @property
    def run(self) -> Executor[Any]:
        """The executor."""
        return self.engine.run

    def fold(self, *, onto_gold: bool) -> TableFold[Any]:
        """The table's fold, onto what gold has or from all changes."""
        return TableFold.of(self.run, self.plan, self.silver, self.stored if onto_gold else None)


def in_process(due: Due) -> Side:
    """The table in this process."""
    stored = stored_in_process(due.lake, due.plan)
    silver = SilverInProcess.of(due.lake, due.plan)
    return Side(Engine(InProcess(), lambda rows: rows), due.plan, silver, stored)


def stored_in_process(lake: Lake, plan: TablePlan) -> StoredInProcess:
    """The tables as they are now."""
    return StoredInProcess.of(lake, plan.feed, plan.table, plan.name, plan.compaction_watermark)


def by_spark(due: Due, session: SparkSession) -> Side:
    """The table by Spark."""
    stored = StoredBySpark(
        GoldTable(due.lake, due.plan.feed, due.table, due.name), due.plan.compaction_watermark
    )
    silver = SilverBySpark.read(due.lake, due.plan)
    return Side(in_spark(session), due.plan, silver, stored)


def tables_of(due: Due) -> Mapping[str, pa.Table]:
    """The rows of gold, the newest tombstone of each key, and the versions, whoever has written them."""
    stored = stored_in_process(due.lake, due.plan)
    # Which types Spark has written is read again by Arrow: gold's own are what the schema says.
    return {
        "rows": stored.rows,
        "tombstones": stored.tombstone_rows,
        "versions": stored.version_rows,
    }


def told(metrics: FoldMetrics) -> dict[str, object]:
    """What a fold counted; of keys that are named only those of which all are."""
    found: dict[str, object] = {}
    for name in metrics.__slots__:
        value = getattr(metrics, name)
        if isinstance(value, list):
            value = sorted(value, key=repr) if len(value) < MOST_KEYS_SHOWN else MOST_KEYS_SHOWN
        found[name] = value
    return found
