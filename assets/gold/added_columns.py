"""Columns that gold has and no declaration names: those that changes mention, where the feed file lets gold follow.

Put here what ``add_column: evolve`` does to a table. Not here: changes of a declaration that are refused
(``schema_changes``), and which policies there are (``transforms/feed/schema_policies.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assets.bookkeeping import accounting
from assets.bookkeeping.compacted import bases
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed, Table
from transforms.feed.schema_policies import added

ADDED = "weir.added"
"""The property of a gold table that names the columns that no declaration had."""


def with_added(lake: Lake, feed: Feed, table: Table, name: str) -> Table:
    """The table as gold has it: with ``add_column: evolve``, every column that its changes mention is a text column."""
    if table.policies.add_column != "evolve":
        return table
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name, columns=accounting.COLUMNS)
    rows = accounts.rows(["declared", "undeclared_columns"], {"table": [name]})
    return with_mentioned(table, rows, bases.added(lake, feed, name))


def with_mentioned(
    table: Table, accounts: Iterable[Mapping[str, Any]], in_base: Sequence[str]
) -> Table:
    """``with_added``, by the gold table's accounts, and by the columns that its base rows had added."""
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
