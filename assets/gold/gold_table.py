"""One gold table as code passes it on: the declared table that it mirrors, its own name, and where its tables lie.

Put here what follows from these alone. Not here: which gold tables a feed has (``gold_tables``), what they are made
with (``table_properties``), and what is written into them (``apply``).
"""

from __future__ import annotations

from dataclasses import dataclass

from assets.delta.spark_table import SparkTable
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import HISTORY, TOMBSTONES


@dataclass(frozen=True, slots=True)
class GoldTable:
    """One gold table of a feed.

    Args:
        lake: The warehouse.
        feed: The feed, with its recorded decisions.
        table: The declared table, with the columns that gold has beyond its declaration (``added_columns``).
        name: The gold table's own name: with ``table_names`` other than ``plain``, several mirror one declared table.
    """

    lake: Lake
    feed: Feed
    table: Table
    name: str

    @property
    def rows(self) -> SparkTable:
        """The table of current rows, whether it exists or not."""
        return self.lake.table(Layer.GOLD, self.feed.name, self.name)

    @property
    def tombstones(self) -> SparkTable:
        """The table of deleted keys."""
        return self.lake.table(Layer.GOLD, self.feed.name, self.name + TOMBSTONES)

    @property
    def history(self) -> SparkTable:
        """The table of versions; only a table that is declared with ``history`` has one."""
        return self.lake.table(Layer.GOLD, self.feed.name, self.name + HISTORY)

    def exists(self) -> bool:
        """Whether both the rows and the tombstones have been written."""
        return self.rows.exists() and self.tombstones.exists()
