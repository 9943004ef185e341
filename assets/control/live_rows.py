"""How many rows of a gold table the source still has: where deleted rows stay, they are marked (``deletes: mark``)."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from assets.storage.in_process_table import InProcessTable
from transforms.gold.columns import IS_DELETED


def deleted_rows(stored: InProcessTable) -> int:
    """How many rows of gold are marked as deleted; one column is read of a table that marks, and nothing of others."""
    if IS_DELETED not in stored.schema.names:
        return 0
    return sum(pc.sum(rows[IS_DELETED]).as_py() or 0 for rows in stored.each([IS_DELETED]))


def live_rows(stored: InProcessTable) -> int:
    """How many rows of gold are not."""
    return stored.count() - deleted_rows(stored)


def only_live(rows: pa.Table) -> pa.Table:
    """The rows of gold that are not marked as deleted."""
    if IS_DELETED not in rows.schema.names:
        return rows
    return rows.filter(pc.invert(rows[IS_DELETED]))
