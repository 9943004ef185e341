"""The gold tables of a feed: which there are, which are due in a run, and which are behind their declaration.

Put here a question about gold tables that the accounts or the tables' properties answer. Not here: what a table is made
with (``table_properties``), and what is written into it (``assets/gold/apply``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assets.bookkeeping import accounting, bases, discovered_tables
from assets.gold.added_columns import with_added
from assets.gold.gold_table import GoldTable
from assets.gold.table_properties import DECLARATION
from assets.lake import Lake
from assets.layers import Layer
from transforms.errors import GoldBehind
from transforms.feed.digest import feed_digest, table_digest
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import gold_name
from transforms.formats import FORMATS


def mirrors(lake: Lake, feed: Feed) -> dict[str, Table]:
    """The declared table of every gold table that the feed's changes went to, by the gold table's name.

    With the columns that gold has beyond the declaration; without gold tables that cannot be made now
    (``discovered_tables.stopped``).
    """
    met = discovered_tables.look(lake, feed)
    tables = {**feed.tables, **met.described}
    found = {
        name: tables[declared]
        for declared, names in by_declared(lake, feed, tables, None).items()
        for name in names
        if name not in met.stopped
    }
    return {name: with_added(lake, feed, table, name) for name, table in sorted(found.items())}


def by_declared(
    lake: Lake, feed: Feed, tables: Iterable[str], windows: Sequence[str] | None
) -> dict[str, dict[str, bool]]:
    """The names of the gold tables that mirror each of these tables, and whether some windows bring changes for each.

    A gold table has the table's own name, or with ``table_names`` other than ``plain`` there is one per schema.

    Args:
        lake: The warehouse.
        feed: The feed.
        tables: The names of declared and of described tables.
        windows: The windows that are asked for; None for any.
    """
    found: dict[str, dict[str, bool]] = {name: {} for name in tables}
    if feed.table_names == "plain":
        # A declared table is there before any change is; a described one has the name that its changes have.
        found |= {name: {gold_name(name, "plain"): False} for name in found if name in feed.tables}
    for name, declared in bases.declared_of(lake, feed).items():
        found.get(declared, {})[name] = False
    accounts = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
    columns = ["window", "table", "source_table", "declared", "changes", "derived"]
    for row in accounts.rows(columns):
        if not row["changes"] + row["derived"] or row["table"] is None:
            continue
        # Changes that waited for a description of their table are the table's once there is one.
        of_table = found.get(row["declared"] or row["source_table"], {})
        is_brought = windows is None or row["window"] in windows
        of_table[row["table"]] = is_brought or of_table.get(row["table"], False)
    return found


def due_tables(lake: Lake, feed: Feed, table: Table, windows: Sequence[str]) -> list[str]:
    """The gold tables of one declared table that these windows are for, and those that are behind its declaration."""
    # For one, a commit in these windows may release changes of tables that they do not name.
    everywhere = FORMATS[feed.format].reaches_everywhere
    found = by_declared(lake, feed, [table.name], None if everywhere else windows)[table.name]
    # A declared table is there even while it is empty.
    is_plain = feed.table_names == "plain" and table.name in feed.tables
    own = gold_name(table.name, feed.table_names) if is_plain else None
    return sorted(
        name
        for name, is_brought in found.items()
        if is_brought or name == own or is_behind(lake, feed, table, name)
    )


def is_behind(lake: Lake, feed: Feed, table: Table, name: str) -> bool:
    """True where a gold table is missing, or was made under another declaration."""
    gold = GoldTable(lake, feed, with_added(lake, feed, table, name), name)
    if not gold.exists():
        return True
    return gold.rows.properties().get(DECLARATION) != table_digest(feed, gold.table)


def refuse_behind(lake: Lake, feed: Feed, table: Table, name: str) -> None:
    """Raise where a gold table is not what the feed file declares now.

    Raises:
        GoldBehind: it is missing, or was made under another declaration.
    """
    if is_behind(lake, feed, table, name):
        raise GoldBehind(feed.name, name)


def stale_windows(lake: Lake, feed: Feed, name: str) -> list[str]:
    """The windows whose silver was derived under another declaration, so that its keys may be other keys."""
    accounts = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
    rows = accounts.rows(["window", "declaration"], {"table": [name]})
    derived = {(row["window"], row["declaration"]) for row in rows}
    return sorted({window for window, digest in derived if digest != feed_digest(feed, window)})
