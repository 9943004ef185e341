"""What gold has and the feed file does not declare, by the accounts: tables that only the stream describes, columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assets.control import compacted
from assets.storage import delta_rs
from assets.storage.lake import Lake, Layer
from transforms.feed.feed import Feed, Table
from transforms.feed.schema_policies import added
from transforms.formats import FORMATS
from transforms.silver import discovered_tables
from transforms.silver.discovered_tables import (
    Description,
    SeenTable,
    Tables,
    before_added,
)

_MET = ["window", "table", "source_table", "declared", "changes"]


def tables_of(lake: Lake, feed: Feed) -> Mapping[str, Table]:
    """All tables of the feed, by the name that silver has under ``declared``."""
    return {**feed.tables, **made_and_stopped(lake, feed).discovered}


def made_and_stopped(lake: Lake, feed: Feed) -> Tables:
    """The tables that only the stream describes, at most ``most_tables``, and the gold tables that are not made now."""
    found, met = _found(lake, feed)
    if len(found.discovered) <= lake.most_tables:
        return found
    in_gold = delta_rs.folders(lake.path(Layer.GOLD, feed.name), lake.warehouse)
    return discovered_tables.within_limit(feed, found, met, lake.most_tables, in_gold)


def without_limit(lake: Lake, feed: Feed) -> Tables:
    """``made_and_stopped`` without the limit ``most_tables``."""
    return _found(lake, feed)[0]


def _found(lake: Lake, feed: Feed) -> tuple[Tables, set[SeenTable]]:
    tells = FORMATS[feed.format].describes_tables
    columns = [*_MET, "stream_schemas"] if tells else _MET
    return found_in(feed, lake.in_process_table(Layer.ACCOUNTING, feed.name).read(columns))


def found_in(feed: Feed, accounts: pa.Table) -> tuple[Tables, set[SeenTable]]:
    """``without_limit`` by the feed's accounts, and the tables that windows have changes of."""
    met = _met(accounts)
    descriptions = _descriptions(feed, accounts) if FORMATS[feed.format].describes_tables else {}
    return discovered_tables.discovered_tables(feed, descriptions, met), met


def _descriptions(feed: Feed, rows: pa.Table) -> dict[str, dict[Description, None]]:
    """What the stream says of each table that the feed file does not declare, in the windows' order."""
    found: dict[str, dict[Description, None]] = {}
    is_declared = pc.is_in(rows["declared"], pa.array([*feed.tables], pa.string()))
    of_others = pc.and_(pc.is_valid(rows["declared"]), pc.invert(is_declared))
    described = rows.filter(of_others).sort_by("window")
    for row in described.select(["declared", "stream_schemas"]).to_pylist():
        for one in row["stream_schemas"]:
            # A description without a key says what an event of the whole table was for, and no more.
            if one["key"] is not None:
                columns = tuple((column["name"], column["type"]) for column in one["columns"])
                defaults = tuple((some["name"], some["value"]) for some in one["defaults"])
                encoded = tuple(one["encoded"])
                description = Description(tuple(one["key"]), columns, encoded, defaults)
                found.setdefault(row["declared"], {})[description] = None
    return found


def _met(rows: pa.Table) -> set[SeenTable]:
    """The tables with changes, found by Arrow: the accounts have a row for each table of each window."""
    has_changes = pc.and_(pc.greater(rows["changes"], 0), pc.is_valid(rows["declared"]))
    names = ["table", "source_table", "declared"]
    found = rows.filter(has_changes).select(names).group_by(names).aggregate([])
    return {
        SeenTable(*map(str, cells))
        for cells in zip(*(found[name].to_pylist() for name in names), strict=True)
    }


# Columns that gold has and no declaration names: those that changes mention, where the feed file lets gold follow.


ADDED = "weir.added"
"""The property of a gold table that names the columns that no declaration had."""


def with_added(lake: Lake, feed: Feed, table: Table, name: str) -> Table:
    """The table as gold has it: with ``add_column: evolve``, every column that its changes mention is a text column.

    And with what the stream says that columns are in rows from before they were added.
    """
    evolves = table.policies.add_column == "evolve"
    if not evolves and not _tells_defaults(feed, table):
        return table
    columns = ["declared", "undeclared_columns", "stream_schemas"]
    rows = lake.in_process_table(Layer.ACCOUNTING, feed.name).rows(columns, {"table": [name]})
    base = compacted.compaction_watermark_facts(lake, feed).get(name) if evolves else None
    return with_mentioned(feed, table, rows, base["added"] if base else ())


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
            for described in row["stream_schemas"]
            for one in described["defaults"]
        }
        table = replace(table, before_added=before_added(said, table.columns))
    if table.policies.add_column != "evolve":
        return table
    mentioned = {
        one
        for row in accounts
        if row["declared"] == table.name
        for one in row["undeclared_columns"]
    }
    # Base rows, too: accounts do not count repeats, and compacted events that are read again are repeats.
    found = added([*sorted(mentioned), *in_base], table.columns)
    # A table that has some of them already, as a mirror does, keeps these.
    columns = {**table.columns, **dict.fromkeys(found, "string")}
    return replace(table, columns=columns, added=(*table.added, *found))
