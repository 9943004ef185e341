"""The files of one large table: small ones become large ones, and those that nobody needs any more go.

Put here what upkeep does to files whatever is in them. Not here: small tables, which this process tidies itself
(``delta/small_table``), and which tables are tidied (``compaction``).
"""

from __future__ import annotations

from delta.tables import DeltaTable

from assets.delta.small_table import KEPT_FILES_FOR_HOURS
from assets.lake import Lake


def tidy(lake: Lake, path: str) -> None:
    """Compact and vacuum the table at this path, if there is one."""
    if DeltaTable.isDeltaTable(lake.spark, path):
        table = DeltaTable.forPath(lake.spark, path)
        table.optimize().executeCompaction()
        table.vacuum(KEPT_FILES_FOR_HOURS)


def count_files(lake: Lake, path: str) -> int:
    """How many files the table at this path has."""
    row = DeltaTable.forPath(lake.spark, path).detail().select("numFiles").first()
    return int(row["numFiles"]) if row else 0
