"""The gold tables of a feed: which there are, which are due, what they are made with, which are behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from assets.columns.quoting import quoted
from assets.control import compacted, discovered_tables
from assets.control.discovered_tables import ADDED, with_added
from assets.control.progress import DECLARATION
from assets.storage.delta_rs import CHANGE_FEED
from assets.storage.lake import Lake, Layer
from assets.storage.spark_table import SparkTable
from transforms.errors import GoldBehind
from transforms.feed.digest import feed_digests, table_digest
from transforms.feed.feed import Feed, Table
from transforms.feed.names import HISTORY, TOMBSTONES, gold_name
from transforms.gold.columns import IS_DELETED, key_columns


def mirrors(lake: Lake, feed: Feed) -> dict[str, Table]:
    """The declared table of every gold table that the feed's changes went to, by the gold table's name.

    With the columns that gold has beyond the declaration; without gold tables that cannot be made now
    (``FeedPlan.stopped``).
    """
    met = discovered_tables.made_and_stopped(lake, feed)
    tables = {**feed.tables, **met.discovered}
    found = {
        name: tables[declared]
        for declared, names in by_declared(lake, feed, None).items()
        for name in names
        if declared in tables and name not in met.stopped
    }
    return {name: with_added(lake, feed, table, name) for name, table in sorted(found.items())}


def by_declared(
    lake: Lake, feed: Feed, windows: Sequence[str] | None
) -> dict[str, dict[str, bool]]:
    """The names of the gold tables that mirror each table, and whether some windows bring changes for each of them.

    By the name that silver has under ``declared``: of each declared table, and of every other one that has changes. A
    gold table has the table's own name, or with ``table_names`` other than ``plain`` there is one per schema.
    ``windows``: those that are asked for; None for any.
    """
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name).read(READ_ACCOUNTS)
    bases = compacted.compaction_watermark_facts(lake, feed)
    return by_declared_in(feed, accounts, bases, windows)


def by_declared_in(
    feed: Feed,
    accounts: pa.Table,
    bases: Mapping[str, Mapping[str, Any]],
    windows: Sequence[str] | None,
) -> dict[str, dict[str, bool]]:
    """``by_declared``, by the feed's accounts (``READ``), and by the gold tables that have base rows (``bases``)."""
    found: dict[str, dict[str, bool]] = {name: {} for name in feed.tables}
    if feed.table_names == "plain":
        # A declared table is there before any change is; a discovered one has the name that its changes have.
        found = {name: {gold_name(name, "plain"): False} for name in feed.tables}
    for name, facts in bases.items():
        found.setdefault(facts["declared"], {})[name] = False
    for declared, name, is_brought in _with_changes(accounts, windows):
        of_table = found.setdefault(declared, {})
        of_table[name] = is_brought or of_table.get(name, False)
    return found


READ_ACCOUNTS = ["window", "table", "source_table", "declared", "changes", "derived"]
"""The columns of the accounts that are read for it."""


def _with_changes(rows: pa.Table, windows: Sequence[str] | None) -> Iterator[tuple[str, str, bool]]:
    """Each gold table that changes went to: the name of its table, its own, and whether these windows have some.

    Counted by Arrow: there is a row of the accounts for each table of each window.
    """
    rows = rows.filter(
        pc.and_(pc.greater(pc.add(rows["changes"], rows["derived"]), 0), pc.is_valid(rows["table"]))
    )
    # Changes that waited for a description of their table are the table's once there is one.
    declared = pc.coalesce(rows["declared"], rows["source_table"])
    is_brought = (
        pc.is_in(rows["window"], pa.array(windows, pa.string()))
        if windows is not None
        else pa.repeat(True, rows.num_rows)
    )
    named = pa.table({"declared": declared, "table": rows["table"], "is_brought": is_brought})
    named = named.filter(pc.is_valid(named["declared"]))
    found = named.group_by(["declared", "table"], use_threads=False).aggregate(
        [("is_brought", "any")]
    )
    cells = (found[name].to_pylist() for name in ("declared", "table", "is_brought_any"))
    yield from zip(*cells, strict=True)


def exists(lake: Lake, feed: Feed, name: str) -> bool:
    """Whether both the rows and the tombstones of a gold table have been written."""
    tables = (
        lake.in_process_table(Layer.GOLD, feed.name, one) for one in (name, name + TOMBSTONES)
    )
    return all(one.exists for one in tables)


def is_behind(lake: Lake, feed: Feed, table: Table, name: str) -> bool:
    """True where a gold table is missing, or was made under another declaration."""
    gold = GoldTable(lake, feed, with_added(lake, feed, table, name), name)
    if not gold.exists():
        return True
    return gold.rows.properties().get(DECLARATION) != table_digest(feed, gold.table)


def refuse_behind(lake: Lake, feed: Feed, table: Table, name: str) -> None:
    """Raise ``GoldBehind`` where a gold table is missing, or was made under another declaration."""
    if is_behind(lake, feed, table, name):
        raise GoldBehind(feed.name, name)


def stale_windows(feed: Feed, accounts: Iterable[Mapping[str, Any]]) -> list[str]:
    """The windows whose silver was derived under another declaration, so that its keys may be other keys.

    ``accounts``: those of one gold table.
    """
    derived = {(row["window"], row["declaration"]) for row in accounts}
    digest = feed_digests(feed)
    return sorted({window for window, recorded in derived if recorded != digest(window)})


@dataclass(frozen=True, slots=True)
class GoldTable:
    """One gold table of a feed, and where its tables lie; ``feed``: with its recorded decisions.

    ``table``: the declared one, with the columns that gold has beyond it. ``name``: gold's own; with ``table_names``
    other than ``plain``, several mirror one declared table.
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

    def live(self) -> DataFrame:
        """The rows that are not marked as deleted."""
        rows = self.rows.read()
        return rows.where(f"NOT {IS_DELETED}") if IS_DELETED in rows.columns else rows

    def exists(self) -> bool:
        """Whether both the rows and the tombstones have been written."""
        return self.rows.exists() and self.tombstones.exists()


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
    """Turn off the change data feed of a table whose feed file no longer asks for it.

    With it each change is written twice, and a small table is Spark's work.
    """
    if not table.change_feed and gold.properties().get(CHANGE_FEED) == "true":
        gold.set_properties({CHANGE_FEED: "false"})
