"""Silver as one gold table sees it: its changes and the scoped ones, put together for the keys that are to be folded.

Not here: what is folded onto what (``current_state``), and what each change means (``assets/gold_columns``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets import bases, decisions, reaching, silver_rows, waiting_changes
from assets.broadcasting import hinted
from assets.gold_columns import fold, moves, ordering, scopes, spelling, transactions
from assets.gold_columns.fold import Folding
from assets.gold_columns.horizons import covers
from assets.lake import Lake
from assets.transactions import released
from transforms.change_kinds import WHOLE_TABLE, ChangeKinds
from transforms.feed import Feed, Table


# Without slots: what several steps need is computed once and kept in the instance.
@dataclass(frozen=True)
class History:
    """All changes of one gold table in silver, what kinds there are among them, and at most how many are new.

    ``spread``: scoped changes of one stream, for keys of another that they reach by time; None without any.
    """

    table: Table
    changes: DataFrame
    change_kinds: ChangeKinds
    most_new: int
    base: DataFrame | None = None
    spread: DataFrame | None = None

    @classmethod
    def read(cls, lake: Lake, feed: Feed, table: Table, name: str, windows: Sequence[str]) -> Self:
        """One gold table's (``name``) silver rows that count; ``is_new``: these windows bring or release them.

        What is at or below the table's horizon is left out: its base rows have it.
        """
        horizon = bases.drawn(lake, feed).get(name)
        silver = lake.table("silver", feed.name).read()
        changes = silver.where(silver_rows.are_of(name, table.name))
        change_kinds, most_new = booked(lake, feed, name, windows)
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
        decided = decisions.scoped_by(lake, feed, table.name, name)
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
        reached = reaching.spread(feed, table, change_kinds, changes, silver)
        if horizon is None:
            return cls(table, changes, change_kinds, most_new, spread=reached)
        return cls(
            table, changes, change_kinds, most_new, bases.rows(lake, feed, table, name), reached
        )

    @cached_property
    def places(self) -> str:
        """Which scoped changes reach which keys of other streams, and where they stand there, in one short text.

        Any later event may move one: gold is then no longer what it was folded from, and is made anew.
        """
        return reaching.digest(self.spread)

    @property
    def folding(self) -> Folding:
        """How the table's rows are folded."""
        return Folding.of(self.table, depends=self.change_kinds.depends)

    @property
    def of_keys(self) -> DataFrame:
        """The changes of single keys."""
        return self.changes.where(F.col("scope").isNull())

    @cached_property
    def scoped(self) -> DataFrame:
        """The scoped changes: few, and asked for more than once."""
        return self.changes.where(F.col("scope").isNotNull()).localCheckpoint()

    @cached_property
    def links(self) -> DataFrame:
        """The keys that key changes link (see ``moves.links``)."""
        return moves.links(self.of_keys).localCheckpoint()

    @cached_property
    def brings_scopes(self) -> bool:
        """True where a scoped change is new: it is for keys of which nothing else may be."""
        return bool(self.change_kinds.scopes) and not self.scoped.where("is_new").isEmpty()

    def new_keys(self) -> DataFrame:
        """The keys that new changes are for, but for scoped ones."""
        return hinted(self.of_keys.where("is_new").select("key").distinct(), self.most_new)

    def new(self, standing: DataFrame) -> DataFrame:
        """The new changes, one row per change and key; scoped ones for all keys that they meet.

        A new scoped change meets the keys that stand in gold or tombstones (``standing``: their ``key``); those of all
        windows meet the keys that new changes are for.
        """
        new = self.of_keys.where("is_new")
        if not self.change_kinds.scopes:
            return new.withColumn("is_past", F.lit(False))
        # Read once, used twice.
        new = new.localCheckpoint()
        keys = hinted(new.select("key").distinct(), self.most_new)
        all_new = new.unionByName(self._scoped_on(self._with_streams(keys), self.scoped))
        if self.brings_scopes:
            fresh = self.scoped.where("is_new")
            all_new = all_new.unionByName(self._scoped_on(self._with_streams(standing), fresh))
        return all_new.withColumn("is_past", ~F.col("is_new"))

    def steps(self, keys: DataFrame | None = None) -> DataFrame:
        """The ordered changes of all keys, or of these, from their first on: ``ordering.ordered``'s rows.

        With ``before``: what each key is before them, its base where it has one.
        """
        if not self.change_kinds.moves:
            return self._on_base(ordering.ordered(self._whole(keys)), keys)
        wanted = keys
        if wanted is not None:
            keys = grown(wanted, lambda some: moves.sources(some, self.links))
        steps = self._on_base(ordering.ordered(self._whole(keys)), keys).localCheckpoint()
        while not steps.where(F.exists("steps", moves.is_open)).isEmpty():
            steps = moves.resolved_once(steps, self.folding).localCheckpoint()
        return steps if wanted is None else steps.join(wanted, on="key", how="left_semi")

    def folded_anew(self, keys: DataFrame) -> DataFrame:
        """What these keys (``key``, ``copies_before``) are after all their changes: ``fold.folded``'s rows."""
        return fold.folded(self.steps(keys.select("key")).join(keys, on="key"), self.folding)

    def dependents(self, keys: DataFrame) -> DataFrame:
        """The keys, and all whose rows took values from theirs, directly or through others."""
        if not self.change_kinds.moves:
            return keys
        return grown(keys, lambda some: moves.targets(some, self.links))

    def _whole(self, keys: DataFrame | None) -> DataFrame:
        of_keys = self.of_keys
        if keys is not None:
            of_keys = of_keys.join(keys, on="key", how="left_semi")
        if not self.change_kinds.scopes:
            return of_keys
        of_keys = of_keys.localCheckpoint()
        reached = self._spread_on(keys)
        known = of_keys.select("key", "stream")
        if self.base is not None:
            of_base = self._of_base(keys)
            known = known.unionByName(of_base)
        scoped = self._scoped_on(known.distinct(), self.scoped)
        whole = of_keys.unionByName(scoped)
        return whole if reached is None else whole.unionByName(reached)

    def _spread_on(self, keys: DataFrame | None) -> DataFrame | None:
        """The scoped changes of other streams that reach these keys, or any."""
        if self.spread is None or keys is None:
            return self.spread
        return self.spread.join(keys, on="key", how="left_semi")

    def _on_base(self, steps: DataFrame, keys: DataFrame | None) -> DataFrame:
        """Add ``before``, and the keys of which there is nothing but their base."""
        if self.base is None:
            return steps.withColumn("before", fold.absent())
        base = self.base.select("key", F.col("state").alias("before"))
        if keys is not None:
            base = base.join(keys, on="key", how="left_semi")
        both = steps.join(base, on="key", how="full_outer")
        return (
            both.withColumn(
                "steps", F.coalesce("steps", F.array().cast(steps.schema["steps"].dataType))
            )
            .withColumn("before", F.coalesce(F.col("before").cast(fold.STATE), fold.absent()))
            .withColumn("deliveries", F.coalesce("deliveries", F.lit(0)))
            .withColumn("repeats", F.coalesce("repeats", F.lit(0)))
        )

    def _of_base(self, keys: DataFrame | None) -> DataFrame:
        """The base's keys, or those of them, each with its ``stream``."""
        assert self.base is not None
        base = self.base if keys is None else self.base.join(keys, on="key", how="left_semi")
        return base.select("key", F.explode_outer("streams").alias("stream"))

    def _scoped_on(self, keys: DataFrame, scoped: DataFrame) -> DataFrame:
        met = scopes.keyed(scoped, keys, self.change_kinds.scopes, self.table.identity)
        return met.select(*self.changes.columns)

    def _with_streams(self, keys: DataFrame) -> DataFrame:
        """Add ``stream``, one row per key and stream that it has changes of, in whatever window.

        Gold does not say which these are; silver does, and is asked only if it matters.
        """
        if not any(shape.of_stream for shape in self.change_kinds.scopes):
            return keys.withColumn("stream", F.lit(None).cast("string"))
        of_key = self.of_keys.select("key", "stream")
        if self.base is not None:
            of_key = of_key.unionByName(self._of_base(None))
        return of_key.join(keys, on="key").distinct()


def booked(lake: Lake, feed: Feed, name: str, windows: Sequence[str]) -> tuple[ChangeKinds, int]:
    """What kinds of change one gold table has, by the accounts of all windows; and how many are new, at most."""
    accounts = lake.table("accounting", feed.name).read().where(F.col("table") == name)
    here = F.col("window").isin(list(windows))
    changes = F.col("changes") + F.col("derived")
    row = accounts.agg(
        F.array_distinct(F.flatten(F.collect_set("change_kinds"))).alias("words"),
        F.coalesce(F.sum(F.when(here, changes)), F.lit(0)).alias("here"),
        F.coalesce(F.sum(changes), F.lit(0)).alias("everywhere"),
    ).first()
    assert row is not None  # an aggregate without groups has one row
    change_kinds = ChangeKinds.of(row["words"])
    # What a commit releases may have come in any window.
    return change_kinds, row["everywhere"] if change_kinds.transactions else row["here"]


def grown(keys: DataFrame, step: Callable[[DataFrame], DataFrame]) -> DataFrame:
    """The keys after as many steps as add any."""
    size = -1
    while (now := (keys := keys.localCheckpoint()).count()) > size:
        keys, size = step(keys), now
    return keys
