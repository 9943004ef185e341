"""What a gold table is made with: Delta's properties and its constraint, and the property that names its declaration.

Put here a property that Weir gives to gold tables, and what brings tables of an earlier version of Weir to have it. Not
here: which gold tables there are (``gold_tables``), and their columns (``assets/columns/gold.py``).
"""

from __future__ import annotations

from assets.bookkeeping.added_columns import ADDED
from assets.bookkeeping.redeclared import DECLARATION
from assets.columns.quoting import quoted
from assets.delta.delta_rs import CHANGE_FEED
from assets.delta.spark_table import SparkTable
from transforms.feed.digest import table_digest
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import key_columns


def delta_properties(table: Table) -> dict[str, str]:
    """The properties of Delta's own that a large gold table gets; others that it has are kept."""
    of_feed = {CHANGE_FEED: "true"} if table.change_feed else {}
    return {"delta.enableDeletionVectors": "true", **of_feed}


WHOLE_KEY = "weir_key_is_whole"
"""Delta's constraint on gold: a row without a key is a failed commit, and never a row."""
CONSTRAINT = f"delta.constraints.{WHOLE_KEY}"
"""The property under which Delta keeps it."""


def properties_of(table: Table, declaration: str) -> dict[str, str]:
    """The properties that Spark makes a gold table with; ``declaration``: the digest of its declaration."""
    return {
        **delta_properties(table),
        CONSTRAINT: has_whole_key(table),
        DECLARATION: declaration,
        **({ADDED: ",".join(table.added)} if table.added else {}),
    }


def declared_with(feed: Feed, table: Table) -> dict[str, str]:
    """The properties of Weir's own that this process makes a small gold table with."""
    added = {ADDED: ",".join(table.added)} if table.added else {}
    return {DECLARATION: table_digest(feed, table), **added}


def has_whole_key(table: Table) -> str:
    """The SQL condition that all key columns of a row have a value."""
    return " AND ".join(f"{quoted(name)} IS NOT NULL" for name in key_columns(table))


def require_properties(gold: SparkTable, table: Table) -> None:
    """Give a table that this process made what a large one has: it has outgrown this process."""
    properties = gold.properties()
    if missing := {
        name: value
        for name, value in delta_properties(table).items()
        if properties.get(name) != value
    }:
        gold.set_properties(missing)


def end_change_feed(gold: SparkTable, table: Table) -> None:
    """Turn off the change data feed of a table that does not declare it: earlier versions of Weir turned it on.

    With it each change is written twice, and a small table is Spark's work.
    """
    if not table.change_feed and gold.properties().get(CHANGE_FEED) == "true":
        gold.set_properties({CHANGE_FEED: "false"})
