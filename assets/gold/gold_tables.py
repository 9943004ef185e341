"""The gold tables of a feed: which there are, which are due or behind, and what each is made with.

Not here: what is written into them (``commits``, ``gold_files``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assets.bookkeeping import accounting, discovered_tables
from assets.bookkeeping.compacted import bases
from assets.columns.gold import key_columns
from assets.delta.delta_rs import CHANGE_FEED
from assets.delta.lake_table import LakeTable
from assets.gold import schema_changes
from assets.gold.schema_changes import ADDED
from assets.lake import Lake
from assets.layers import Layer
from transforms.errors import GoldBehind
from transforms.feed.digest import feed_digest, table_digest
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import TOMBSTONES, gold_name
from transforms.formats import FORMATS

DECLARATION = "weir.declaration"
"""The property that says what declaration a table was made with."""


def delta_properties(table: Table) -> dict[str, str]:
    """Delta's own properties of a large gold table; what a table has beyond them, it keeps."""
    of_feed = {CHANGE_FEED: "true"} if table.change_feed else {}
    return {"delta.enableDeletionVectors": "true", **of_feed}


WHOLE_KEY = "weir_key_is_whole"
"""Delta's constraint on gold: a row without a key is a failed commit, and never a row."""
CONSTRAINT = f"delta.constraints.{WHOLE_KEY}"
"""The property under which Delta keeps it."""


def properties_of(table: Table, declaration: str) -> dict[str, str]:
    """What a gold table is made with."""
    return {
        **delta_properties(table),
        CONSTRAINT: has_whole_key(table),
        DECLARATION: declaration,
        **({ADDED: ",".join(table.added)} if table.added else {}),
    }


def has_whole_key(table: Table) -> str:
    """The SQL that is true for a row whose key columns all have a value."""
    return " AND ".join(f"`{name}` IS NOT NULL" for name in key_columns(table))


def require_whole_key(gold: LakeTable, table: Table) -> None:
    """Give a table that an earlier version of Weir made the constraint, and take out rows that it would refuse.

    Such rows were made of control rows of silver, which name a table and none of its rows: no event was about them.
    """
    whole = has_whole_key(table)
    gold.delete(f"NOT ({whole})")
    gold.add_constraint(WHOLE_KEY, whole)


def end_change_feed(gold: LakeTable, table: Table) -> None:
    """Turn off a table's change data feed where its declaration does not ask for it, as earlier versions of Weir did.

    With it each change is written twice, and a small table is Spark's work.
    """
    if not table.change_feed and gold.properties().get(CHANGE_FEED) == "true":
        gold.set_properties({CHANGE_FEED: "false"})


def mirrors(lake: Lake, feed: Feed) -> dict[str, Table]:
    """Every gold table that the feed's changes went to, as it is declared and with what it has beyond that.

    But for those that cannot be made now (``discovered_tables.stopped``).
    """
    met = discovered_tables.look(lake, feed)
    tables = {**feed.tables, **met.described}
    found = {
        name: tables[declared]
        for declared, names in by_declared(lake, feed, tables, None).items()
        for name in names
        if name not in met.stopped
    }
    return {
        name: schema_changes.with_added(lake, feed, table, name)
        for name, table in sorted(found.items())
    }


def by_declared(
    lake: Lake, feed: Feed, tables: Iterable[str], windows: Sequence[str] | None
) -> dict[str, dict[str, bool]]:
    """The gold tables of each of these tables, and whether these windows (None: any) bring something for each.

    That is its own name, or with ``table_names`` one per schema that has it: those that accounts or base rows know.
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
        # What waits for a description of its table is that table's, once there is one.
        of_table = found.get(row["declared"] or row["source_table"], {})
        here = windows is None or row["window"] in windows
        of_table[row["table"]] = here or of_table.get(row["table"], False)
    return found


def due_tables(lake: Lake, feed: Feed, table: Table, windows: Sequence[str]) -> list[str]:
    """The gold tables of one declared table that these windows are for, and those that are behind its declaration."""
    # A commit in these windows may release changes of tables that they do not name, for one.
    everywhere = FORMATS[feed.format].reaches_everywhere
    found = by_declared(lake, feed, [table.name], None if everywhere else windows)[table.name]
    # A declared table is there even while it is empty.
    is_plain = feed.table_names == "plain" and table.name in feed.tables
    own = gold_name(table.name, feed.table_names) if is_plain else None
    return sorted(
        name
        for name, is_met in found.items()
        if is_met or name == own or is_behind(lake, feed, table, name)
    )


def is_behind(lake: Lake, feed: Feed, table: Table, name: str) -> bool:
    """True where a gold table is missing, or was made under another declaration."""
    gold, tombstones = (
        lake.table(Layer.GOLD, feed.name, name),
        lake.table(Layer.GOLD, feed.name, name + TOMBSTONES),
    )
    if not (gold.exists() and tombstones.exists()):
        return True
    known = schema_changes.with_added(lake, feed, table, name)
    return gold.properties().get(DECLARATION) != table_digest(feed, known)


def refuse_behind(lake: Lake, feed: Feed, table: Table, name: str) -> None:
    """Raise where a gold table is not what the feed file declares now.

    Raises:
        GoldBehind: it is missing, or was made under another declaration.
    """
    if is_behind(lake, feed, table, name):
        raise GoldBehind(feed.name, name)


def stale_windows(lake: Lake, feed: Feed, name: str) -> list[str]:
    """The windows whose silver was derived under another declaration: its keys may be others."""
    accounts = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
    rows = accounts.rows(["window", "declaration"], {"table": [name]})
    derived = {(row["window"], row["declaration"]) for row in rows}
    return sorted({window for window, digest in derived if digest != feed_digest(feed, window)})
