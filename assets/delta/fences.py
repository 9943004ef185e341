"""Commits of delta-rs: on an object store only by whoever still has the lease, and never behind another's commit.

A process that stands still for longer than its lease may wake in the middle of a commit, when another has begun. So it
looks at its leases just before; and where it wakes after that look, the store refuses a commit whose number another
has taken, and delta-rs is told not to try the next number. Put here how a commit is made safe. Not here: leases
(``leases``), and Spark's commits (``lake_table`` looks at the leases, and ``orchestration/spark/conditional_commits``
does the rest).
"""

from __future__ import annotations

import logging
from typing import Any, Literal, TypedDict, Unpack

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from assets.delta import delta_rs, kept_tables
from assets.delta.leases import check_leases, is_on_store

_LOG = logging.getLogger(__name__)

CHECKPOINT_EVERY = 10
"""After about so many commits the state of a table is written down in one file, as Spark does it.

Whoever opens a table reads each commit since then, delta-rs twice. Its own 100 commits would make a small window in a
bucket ask for some 7,000 objects before the first of these files.
"""


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
