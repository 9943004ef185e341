"""Silver as one gold table sees it: its changes and the scoped ones, put together for the keys that are to be folded.

Not here: which rows are brought together (``spark_apply``), and what each change means (``transforms/gold``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.bookkeeping import accounting, snapshot_deletes, window_progress
from assets.bookkeeping.compacted import bases
from assets.bookkeeping.transactions.complete_transactions import released
from assets.columns import silver_rows, spelling, transactions
from assets.columns.horizons import covers
from assets.delta.broadcasting import broadcast_if_small
from assets.gold.changes import cross_stream_deletes, waiting_changes
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
    """All changes of one gold table in silver, what kinds there are among them, and at most how many are new.

    ``everywhere``: the changes of all the feed's tables, ``is_new``: they may not be in gold yet. ``crosses``: whether
    scoped changes may reach keys of other streams, of which there are some. ``base``, ``horizon``: what the keys were
    where the table's history was cut, and where that is; None where it was not.
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
        """One gold table's (``name``) silver rows that count; ``is_new``: these windows bring or release them.

        What is at or below the table's horizon is left out: its base rows have it.
        """
        horizon = bases.drawn(lake, feed).get(name)
        silver = silver_rows.with_key_text(lake.table(Layer.SILVER, feed.name).read())
        changes = silver.where(silver_rows.are_of(name, table.name))
        change_kinds, most_new = kinds_and_counts(lake, feed, name, windows)
        if waiting_changes.there_are(lake, feed, table, name):
            changes = changes.unionByName(waiting_changes.conformed(silver, feed, table, name))
            # Whether one moves a row to another key could not be told when it was counted.
            change_kinds = replace(change_kinds, moves=True)
        if change_kinds.transactions:
            found = released(lake, feed, windows)
            changes = transactions.visible(changes, found)
        else:
            changes = changes.withColumn("is_new", F.lit(False))
        here = F.col("window").isin(list(windows))
        changes = changes.withColumn("is_new", F.col("is_new") | here)
        decided = snapshot_deletes.scoped_by(lake, feed, table.name, name)
        if decided is not None:
            # Gold is made anew for every epoch, so that none of these is ever news.
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
        everywhere = silver.withColumn("is_new", here)
        if FORMATS[feed.format].crosses_streams:
            before = window_progress.brought_before(lake, feed, windows)
            everywhere = silver.withColumn("is_new", ~F.col("window").isin(sorted(before)))
        base = None if horizon is None else bases.rows(lake, feed, table, name)
        crosses = cross_stream_deletes.crosses(
            feed, change_kinds
        ) and cross_stream_deletes.has_streams(lake, feed)
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
        """The changes of single keys, without most of those that are for none of these ``keys`` (``key``).

        ``count``: how many keys there are, at most.
        """
        if count > silver_rows.MOST_KEYS or self.change_kinds.moves:
            # Of linked keys it is not known yet which others they bring along.
            return self.of_keys
        texts = keys.select(silver_rows.key_text(F.col("key")).alias("text")).collect()
        return self.of_keys.where(silver_rows.may_be_of([row["text"] for row in texts]))

    @cached_property
    def roots(self) -> DataFrame:
        """One row per key that key changes link: ``key``, and ``root``, the one that stands for all linked with it."""
        linked = self.of_keys.where(F.col("effect") == "move").select("moved_from", "key")
        links = [(tuple(row["moved_from"]), tuple(row["key"])) for row in linked.collect()]
        roots = [(list(key), list(root)) for key, root in key_changes.groups(links).items()]
        frame = linked.sparkSession.createDataFrame(roots, "key array<string>, root array<string>")
        return broadcast_if_small(frame, len(roots))

    def new_keys(self) -> DataFrame:
        """The keys that new changes are for, but for scoped ones."""
        return broadcast_if_small(
            self.of_keys.where("is_new").select("key").distinct(), self.most_new
        )


def kinds_and_counts(
    lake: Lake, feed: Feed, name: str, windows: Sequence[str]
) -> tuple[ChangeKinds, int]:
    """What kinds of change one gold table has, by the accounts of all windows; and how many are new, at most."""
    accounts = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
    columns = ["window", "change_kinds", "changes", "derived"]
    rows = accounts.rows(columns, {"table": [name]})
    change_kinds = ChangeKinds.of({word for row in rows for word in row["change_kinds"] or ()})
    # What a commit releases may have come in any window.
    counted = (
        rows if change_kinds.transactions else [one for one in rows if one["window"] in windows]
    )
    return change_kinds, sum(one["changes"] + one["derived"] for one in counted)
