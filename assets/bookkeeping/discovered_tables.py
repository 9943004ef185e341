"""The tables of a feed: those that its file declares, those that only its stream describes, and those not made now.

What a stream says of a table, and which tables have changes, is in the accounts of its windows. Put here what is read
of them for that. Not here: how a description becomes a table, and why one cannot be made
(``transforms/silver/conforming/discovered_tables.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping import accounting
from assets.delta import delta_rs
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.silver.conforming import discovered_tables
from transforms.silver.conforming.described_tables import Description
from transforms.silver.conforming.discovered_tables import SeenTable, Stopped, Tables

_MET = ["table", "source_table", "declared", "changes"]
READ = [*_MET, "stream_schemas"]
"""The columns of the accounts that are read for it."""


def tables_of(lake: Lake, feed: Feed) -> Mapping[str, Table]:
    """All tables of the feed, by the name that silver has under ``declared``."""
    return {**feed.tables, **discovered(lake, feed)}


def discovered(lake: Lake, feed: Feed) -> Mapping[str, Table]:
    """The tables that the feed file does not declare and that the stream has described, in whatever window.

    A table that its stream describes with two keys is left out.
    """
    return look(lake, feed).described


def look(lake: Lake, feed: Feed) -> Tables:
    """The tables that only the stream describes, at most ``most_tables``, and the gold tables that are not made now."""
    found, met = _found(lake, feed)
    if len(found.described) <= lake.most_tables:
        return found
    in_gold = delta_rs.folders(lake.path(Layer.GOLD, feed.name), lake.warehouse)
    return discovered_tables.within(feed, found, met, lake.most_tables, in_gold)


def everything(lake: Lake, feed: Feed) -> Tables:
    """``look`` without the limit ``most_tables``."""
    return _found(lake, feed)[0]


def everything_in(feed: Feed, accounts: pa.Table) -> Tables:
    """``everything``, by the feed's accounts (``READ``)."""
    return _found_in(feed, accounts)[0]


def _found(lake: Lake, feed: Feed) -> tuple[Tables, set[SeenTable]]:
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name, columns=accounting.COLUMNS)
    tells = FORMATS[feed.format].describes_tables
    return _found_in(feed, accounts.read(READ if tells else _MET))


def _found_in(feed: Feed, accounts: pa.Table) -> tuple[Tables, set[SeenTable]]:
    met = _met(accounts)
    tells = FORMATS[feed.format].describes_tables
    described = _described(feed, accounts) if tells else {}
    return discovered_tables.tables(feed, described, met), met


def _described(feed: Feed, rows: pa.Table) -> dict[str, set[Description]]:
    """What the stream says of each table that the feed file does not declare."""
    found: dict[str, set[Description]] = {}
    is_declared = pc.is_in(rows["declared"], pa.array([*feed.tables], pa.string()))
    of_others = pc.and_(pc.is_valid(rows["declared"]), pc.invert(is_declared))
    for row in rows.filter(of_others).select(["declared", "stream_schemas"]).to_pylist():
        for one in row["stream_schemas"] or ():
            # A description without a key says what an event of the whole table was for, and no more.
            if one["key"] is not None:
                columns = tuple((column["name"], column["type"]) for column in one["columns"])
                defaults = tuple((some["name"], some["value"]) for some in one["defaults"] or ())
                encoded = tuple(one["encoded"] or ())
                description = Description(tuple(one["key"]), columns, encoded, defaults)
                found.setdefault(row["declared"], set()).add(description)
    return found


def stopped(lake: Lake, feed: Feed) -> Mapping[str, Stopped]:
    """The gold tables that cannot be made, of declared tables and of others, by their names."""
    return look(lake, feed).stopped


def _met(rows: pa.Table) -> set[SeenTable]:
    """The tables with changes, found by Arrow: the accounts have a row for each table of each window."""
    has_changes = pc.and_(pc.greater(rows["changes"], 0), pc.is_valid(rows["declared"]))
    names = ["table", "source_table", "declared"]
    found = rows.filter(has_changes).select(names).group_by(names).aggregate([])
    return {
        SeenTable(*map(str, cells))
        for cells in zip(*(found[name].to_pylist() for name in names), strict=True)
    }
