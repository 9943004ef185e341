"""How new changes get into the gold tables that mirror one declared table: in this process, or in Spark's tasks.

Put here what is decided before either way is taken. Not here: many tables at once (``apply_feed``), the two ways
(``local_apply``, ``spark_apply``), the order and the fold (``transforms/gold``), and the Dagster asset
(``assets/gold/gold_asset.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from assets.bookkeeping import decisions, discovered_tables
from assets.gold.added_columns import with_added
from assets.gold.applied import Applied
from assets.gold.apply import local_apply, spark_apply
from assets.gold.apply.read_once import ReadOnce
from assets.gold.gold_table import GoldTable
from assets.gold.gold_tables import due_tables
from assets.lake import Lake
from assets.layers import Layer
from assets.locks import writing
from transforms.feed.feed import Feed, Table
from transforms.silver.conforming.discovered_tables import Stopped


def apply(
    lake: Lake, feed: Feed, table: Table, windows: Sequence[str], *, full_rebuild: bool = False
) -> Applied:
    """Bring every gold table that mirrors the declared one up to these windows.

    A gold table that cannot be made stays as it was (``discovered_tables.stopped``).

    Args:
        lake: The warehouse.
        feed: The feed.
        table: The declared table.
        windows: The landing windows whose changes are applied.
        full_rebuild: Whether to make the tables from all of silver.
    """
    with writing(lake, Layer.GOLD, feed.name, table.name):
        return apply_locked(ApplyContext.of(lake, feed), table, windows, full_rebuild=full_rebuild)


@dataclass(frozen=True, slots=True)
class ApplyContext:
    """The warehouse and the feed as one step reads them, for the applies of several tables.

    Make one only while the tables' locks are held: what another run commits between the reading and the taking of a
    lock would be undone.

    Args:
        lake: The warehouse.
        once: The same warehouse, whose accounts and decisions are read once: for tables that are made in this process.
        feed: The feed with its recorded decisions.
        stopped: The gold tables that cannot be made, by name.
    """

    lake: Lake
    once: ReadOnce
    feed: Feed
    stopped: Mapping[str, Stopped]

    @classmethod
    def of(cls, lake: Lake, feed: Feed) -> Self:
        """What the accounts and decisions of the feed say now."""
        once = ReadOnce.of(lake)
        # Before the accounts: a kind of change is in these before it is in silver.
        once.opened(Layer.SILVER, feed.name)
        feed = decisions.with_recorded(once, feed)
        # Too many tables are refused where all tables of the feed are asked for, and not for one.
        return cls(lake, once, feed, discovered_tables.everything(once, feed).stopped)


def apply_locked(
    known: ApplyContext, table: Table, windows: Sequence[str], *, full_rebuild: bool
) -> Applied:
    """``apply`` for a caller that holds the lock of the table (``apply_feed``)."""
    stopped = {name: why for name, why in known.stopped.items() if table.name in why.declared}
    done = Applied(stopped=stopped)
    for name in due_tables(known.once, known.feed, table, windows):
        if name not in known.stopped:
            done = done.plus(_apply_one(known, table, name, windows, full_rebuild=full_rebuild))
    return done


def _apply_one(
    known: ApplyContext, table: Table, name: str, windows: Sequence[str], *, full_rebuild: bool
) -> Applied:
    """Apply these windows' changes to one gold table: in this process where the table and the changes are small.

    A table that was made under another declaration is made from all of silver, once all windows of silver are derived
    under the new one; until then it stays as it is.
    """
    table = with_added(known.lake, known.feed, table, name)
    small = GoldTable(known.once, known.feed, table, name)
    done = local_apply.apply_one(small, windows, full_rebuild=full_rebuild)
    if done is not None:
        return done
    large = GoldTable(known.lake, known.feed, table, name)
    return spark_apply.apply_one(large, windows, full_rebuild=full_rebuild)
