"""Columns that gold has and no declaration names: those that changes mention, where the feed file lets gold follow.

Put here what ``add_column: evolve`` does to a table. Not here: changes of a declaration that are refused
(``assets/gold/schema_changes``), and which policies there are (``transforms/feed/schema_policies.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from assets.bookkeeping import accounting
from assets.bookkeeping.compacted import bases
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed, Table
from transforms.feed.schema_policies import added
from transforms.formats import FORMATS
from transforms.silver.conforming.described_tables import before_added

ADDED = "weir.added"
"""The property of a gold table that names the columns that no declaration had."""


def with_added(lake: Lake, feed: Feed, table: Table, name: str) -> Table:
    """The table as gold has it: with ``add_column: evolve``, every column that its changes mention is a text column.

    And with what the stream says that columns are in rows from before they were added.
    """
    evolves = table.policies.add_column == "evolve"
    if not evolves and not _tells_defaults(feed, table):
        return table
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name, columns=accounting.COLUMNS)
    rows = accounts.rows([*READ], {"table": [name]})
    return with_mentioned(feed, table, rows, bases.added(lake, feed, name) if evolves else ())


READ: Final = ("declared", "undeclared_columns", "stream_schemas")
"""The columns of the accounts that are read for it."""


def _tells_defaults(feed: Feed, table: Table) -> bool:
    """Whether the stream may say what columns are of a table that the feed file declares; others have it already."""
    return table.name in feed.tables and FORMATS[feed.format].describes_tables


def with_mentioned(
    feed: Feed, table: Table, accounts: Sequence[Mapping[str, Any]], in_base: Sequence[str]
) -> Table:
    """``with_added``, by the gold table's accounts, and by the columns that its base rows had added."""
    if _tells_defaults(feed, table):
        said = {
            (one["name"], one["value"])
            for row in accounts
            if row["declared"] == table.name
            for described in row["stream_schemas"] or ()
            for one in described["defaults"] or ()
        }
        table = replace(table, before_added=before_added(said, table.columns))
    if table.policies.add_column != "evolve":
        return table
    mentioned = {
        one
        for row in accounts
        if row["declared"] == table.name
        for one in row["undeclared_columns"] or ()
    }
    # Base rows, too: accounts do not count repeats, and compacted events that are read again are repeats.
    names = [*sorted(mentioned), *in_base]
    found = added(names, table.columns)
    # A table that has some of them already, as a mirror does, keeps these.
    columns = {**table.columns, **dict.fromkeys(found, "string")}
    return replace(table, columns=columns, added=(*table.added, *found))
