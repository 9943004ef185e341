"""Commits to an object store: only by whoever still has the lease, and never behind another's commit.

A process that stands still for longer than its lease may wake in the middle of a commit, when another has begun. So it
looks at its leases just before; and where it wakes after that look, the store refuses a commit whose number another
has taken, and neither delta-rs nor Spark tries the next number. delta-rs commits behind the version that it has opened.
Spark opens the table once more when it commits, so that it is told the number that its commit has to have. Put here how
a commit is made safe. Not here: leases (``leases``), and the class by which Spark commits
(``orchestration/spark/conditional_commits``).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypedDict, Unpack

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from py4j.java_gateway import JavaClass
from pyspark.sql import SparkSession

from assets.delta import delta_rs, kept_tables
from assets.delta.leases import check_leases, is_on_store

_LOG = logging.getLogger(__name__)

CHECKPOINT_EVERY = 10
"""After about so many commits the state of a table is written down in one file, as Spark does it.

Whoever opens a table reads each commit since then, delta-rs twice. Its own 100 commits would make a small window in a
bucket ask for some 7,000 objects before the first of these files.
"""


LOG_STORE = "ConditionalLogStore"
"""The class of Java by which Spark commits to S3."""


class How(TypedDict, total=False):
    """What a write says besides its rows, in delta-rs's own words; ``transaction`` marks it as done."""

    mode: Literal["append", "overwrite"]
    predicate: str | None
    schema_mode: Literal["merge", "overwrite"]
    partition_by: list[str]
    transaction: Transaction | None


def commit_rows(
    table: DeltaTable | None, path: str, warehouse: str, rows: pa.Table, **how: Unpack[How]
) -> None:
    """Commit these rows; ``table`` is None where there was none at this path when it was looked for.

    Raises:
        LeaseLost: this process may write no more.
    """
    transaction = how.pop("transaction", None)
    settings: dict[str, Any] = {**how}
    if table is None and is_on_store(warehouse):
        # One that another has made meanwhile is not to be added to, nor replaced.
        settings["mode"] = "error"
        settings.pop("schema_mode", None)
    write_deltalake(
        table if table is not None else delta_rs.address(path),
        rows,
        storage_options=None if table is not None else delta_rs.options(warehouse),
        commit_properties=properties(warehouse, transaction),
        **settings,
    )
    if table is not None:
        kept_tables.note_commit(table)
        if table.version() % CHECKPOINT_EVERY == 0:
            checkpoint(table, path)


def checkpoint(table: DeltaTable, path: str) -> None:
    """Write down the table's state as of its newest commit; where that fails, readers read some commits more."""
    try:
        table.create_checkpoint()
    except Exception as fault:  # whatever it is, the commits stand
        _LOG.warning("no checkpoint of %s at version %s: %s", path, table.version(), fault)


def properties(warehouse: str, transaction: Transaction | None = None) -> CommitProperties | None:
    """What delta-rs has to know of a commit that is made now; looks at the leases first.

    Raises:
        LeaseLost: this process may write no more.
    """
    marks = [transaction] if transaction is not None else None
    if is_on_store(warehouse):
        check_leases(warehouse)
        return CommitProperties(app_transactions=marks, max_commit_retries=0)
    return None if marks is None else CommitProperties(app_transactions=marks)


@contextmanager
def spark_commits(session: Callable[[], SparkSession], path: str, warehouse: str) -> Iterator[None]:
    """Around what Spark commits to this table: each commit behind those that are there while the leases are held.

    Where another writer has committed by then, Delta's error is that of a concurrent write.

    Raises:
        LeaseLost: this process may write no more.
    """
    if not is_on_store(warehouse):
        yield
        return
    table = delta_rs.opened(path, warehouse)
    # Looked at behind the version: whatever it is, it was made by this writer or before it had the lease.
    check_leases(warehouse)
    gateway: Any = session().sparkContext._gateway
    store = JavaClass(LOG_STORE, gateway._gateway_client)
    store.expect(path, 0 if table is None else table.version() + 1)
    try:
        yield
    finally:
        store.forget(path)
