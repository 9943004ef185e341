"""Silver as one gold table sees it, read by Spark: its changes of single keys, its scoped changes, and its base rows.

Put here what of silver counts for the table. Not here: small silver (``silver_files``), what is brought together by key
(``assets/gold/fold``), and what each change means (``transforms/gold``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.bookkeeping import snapshot_deletes, window_progress
from assets.bookkeeping.compacted import bases
from assets.bookkeeping.transactions.complete_transactions import released
from assets.columns import silver_rows, spelling, transactions
from assets.columns.horizons import covers
from assets.delta.broadcasting import broadcast_if_small
from assets.gold.changes import streams, waiting_changes
from assets.gold.changes.change_counts import kinds_and_counts
from assets.lake import Lake
from assets.layers import Layer
from transforms.change_kinds import WHOLE_TABLE, ChangeKinds
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.gold import key_changes
from transforms.horizons import Horizon


# Without slots: what several steps need is computed once and kept in the instance.
@dataclass(frozen=True)
class TableChanges:
    """All changes of one gold table in silver.

    ``changes``: one row per change that counts, ``is_new`` where the run brings or releases it. ``change_kinds``: which
    kinds there are among them. ``most_new``: how many are new at most. ``everywhere``: the changes of all the feed's
    tables, ``is_new`` where they may not be in gold yet. ``crosses``: whether scoped changes may reach keys of other
    streams, and there are some. ``base``, ``horizon``: what the keys were where the table's history was cut, and where
    that is; None where nothing is compacted.
    """

    table: Table
    changes: DataFrame
    change_kinds: ChangeKinds
    most_new: int
    everywhere: DataFrame
    crosses: bool
    base: DataFrame | None = None
    horizon: Horizon | None = None

    @classmethod
    def read(cls, lake: Lake, feed: Feed, table: Table, name: str, windows: Sequence[str]) -> Self:
        """Read the silver rows that count for the gold table ``name``; those are new that the windows bring or release.

        Changes at or below the table's horizon are left out: its base rows stand for them.
        """
        horizon = bases.horizons(lake, feed).get(name)
        silver = silver_rows.with_key_text(lake.table(Layer.SILVER, feed.name).read())
        changes = silver.where(silver_rows.are_of(name, table.name))
        change_kinds, most_new = kinds_and_counts(lake, feed, name, windows)
        if waiting_changes.there_are(lake, feed, table, name):
            changes = changes.unionByName(waiting_changes.conformed(silver, feed, table, name))
            # Whether a waiting change moves a row to another key could not be known when it was counted.
            change_kinds = replace(change_kinds, moves=True)
        if change_kinds.transactions:
            found = released(lake, feed, windows)
            changes = transactions.visible(changes, found)
        else:
            changes = changes.withColumn("is_new", F.lit(False))
        is_own = F.col("window").isin(list(windows))
        changes = changes.withColumn("is_new", F.col("is_new") | is_own)
        decided = snapshot_deletes.scoped_by(lake, feed, table.name, name)
        if decided is not None:
            # Gold is made from all of silver for every epoch, so that these deletes are never new.
            changes = changes.unionByName(decided.withColumn("is_new", F.lit(False)))
            change_kinds = replace(
                change_kinds, scopes=tuple(sorted({*change_kinds.scopes, WHOLE_TABLE}))
            )
        if table.spelled:
            changes = spelling.in_gold(changes, table)
            shapes = (spelling.shape_in_gold(one, table) for one in change_kinds.scopes)
            change_kinds = replace(change_kinds, scopes=tuple(sorted(set(shapes))))
        if horizon is not None:
            changes = changes.where(~covers(horizon))
        everywhere = silver.withColumn("is_new", is_own)
        if FORMATS[feed.format].crosses_streams:
            before = window_progress.brought_before(lake, feed, windows)
            everywhere = silver.withColumn("is_new", ~F.col("window").isin(sorted(before)))
        base = None if horizon is None else bases.rows(lake, feed, table, name)
        crosses = streams.crosses(feed, change_kinds) and streams.has_several_streams(lake, feed)
        return cls(table, changes, change_kinds, most_new, everywhere, crosses, base, horizon)

    @property
    def of_keys(self) -> DataFrame:
        """The changes of single keys."""
        return self.changes.where(F.col("scope").isNull())

    @property
    def scoped(self) -> DataFrame:
        """The changes of many keys."""
        return self.changes.where(F.col("scope").isNotNull())

    def of_few(self, keys: DataFrame, count: int) -> DataFrame:
        """The changes of single keys, without most of those for other keys than these; which are left is for a join.

        ``keys``: one row per key (``key``). ``count``: how many there are at most.
        """
        if count > silver_rows.MOST_KEYS or self.change_kinds.moves:
            # Of linked keys it is not known yet which others they bring along.
            return self.of_keys
        texts = keys.select(silver_rows.key_text(F.col("key")).alias("text")).collect()
        return self.of_keys.where(silver_rows.may_be_of([row["text"] for row in texts]))

    @cached_property
    def roots(self) -> DataFrame:
        """One row per key that key changes link: ``key``, and ``root``, the same key for all that are linked."""
        linked = self.of_keys.where(F.col("effect") == "move").select("moved_from", "key")
        links = [(tuple(row["moved_from"]), tuple(row["key"])) for row in linked.collect()]
        roots = [(list(key), list(root)) for key, root in key_changes.groups(links).items()]
        frame = linked.sparkSession.createDataFrame(roots, "key array<string>, root array<string>")
        return broadcast_if_small(frame, len(roots))

    def new_keys(self) -> DataFrame:
        """One row per key that new changes are for, scoped ones apart: ``key``."""
        return broadcast_if_small(
            self.of_keys.where("is_new").select("key").distinct(), self.most_new
        )
