"""How new changes get into a gold table: what is read, what is folded anew, what is merged.

Not here: the order and the fold (``assets/gold_columns``), and the Dagster asset (``gold``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets import bases, decisions, discovered_tables, schema_changes, versions
from assets.broadcasting import hinted
from assets.gold_columns import current_state, fold, ordering
from assets.gold_tables import (
    CONSTRAINT,
    DECLARATION,
    PLACES,
    PROPERTIES,
    create,
    due_tables,
    require_whole_key,
    stale_windows,
    upsert,
)
from assets.history import History
from assets.lake import Lake
from assets.scoped_changes import Reached, reached
from assets.writing import writing
from transforms.feed import Feed, Table
from transforms.feed_digest import table_digest
from transforms.silver.discovered_tables import Stopped
from transforms.table_names import HISTORY, TOMBSTONES


@dataclass(frozen=True, slots=True)
class GoldTable:
    """One gold table after an apply: its sizes, and how many of the run's events another window had delivered.

    ``scoped``: what its scoped changes did.
    """

    name: str
    rows: int
    tombstones: int
    repeats: int
    scoped: tuple[Reached, ...] = ()


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply did, summed over the gold tables of one declared table.

    ``changes`` counts the run's silver rows, ``repeats`` those of them that another window had delivered before;
    ``rows`` and ``tombstones`` are the tables' sizes afterwards. ``waits_for`` are windows to be derived anew under a
    changed declaration before gold can follow it. ``stopped``: gold tables that stay as they were, each with the
    reason.
    """

    tables: tuple[GoldTable, ...] = ()
    changes: int = 0
    repeats: int = 0
    keys: int = 0
    late_keys: int = 0
    ties: int = 0
    foreign_copies: int = 0
    rows: int = 0
    tombstones: int = 0
    rebuilt: bool = False
    waits_for: tuple[str, ...] = ()
    stopped: Mapping[str, Stopped] = field(default_factory=dict)

    def plus(self, other: Self) -> Self:
        """Both together."""
        sums = {
            name: getattr(self, name) + getattr(other, name)
            for name in self.__slots__
            if name not in ("tables", "rebuilt", "waits_for", "stopped")
        }
        return replace(
            self,
            tables=self.tables + other.tables,
            rebuilt=self.rebuilt or other.rebuilt,
            waits_for=tuple(sorted({*self.waits_for, *other.waits_for})),
            stopped={**self.stopped, **other.stopped},
            **sums,
        )


def apply(
    lake: Lake, feed: Feed, table: Table, windows: Sequence[str], *, anew: bool = False
) -> Applied:
    """Bring every gold table that mirrors the declared one up to these windows; ``anew``: from all of silver.

    One that cannot be made stays as it was (``discovered_tables.stopped``).
    """
    feed = decisions.with_recorded(lake, feed)
    # Whether a feed has too many tables is for whoever asks for all of them.
    stopped = discovered_tables.everything(lake, feed).stopped
    mine = {name: one for name, one in stopped.items() if table.name in one.declared}
    done = Applied(stopped=mine)
    with writing(lake, "gold", feed.name, table.name):
        for name in due_tables(lake, feed, table, windows):
            if name not in stopped:
                done = done.plus(apply_one(lake, feed, table, name, windows, anew=anew))
    return done


def apply_one(
    lake: Lake, feed: Feed, table: Table, name: str, windows: Sequence[str], *, anew: bool = False
) -> Applied:
    """Fold these windows' changes onto one gold table; tombstones first, so that a crash between loses none.

    Keys whose changes are all newer than what gold knows are folded onto it; the others are folded anew from silver.
    A table that was made under another declaration is made anew as a whole, once all its windows are derived anew;
    until then it stays as it is.
    """
    table = schema_changes.with_added(lake, feed, table, name)
    history = History.read(lake, feed, table, name, windows)
    gold = lake.table("gold", feed.name, name)
    graves = lake.table("gold", feed.name, name + TOMBSTONES)
    exists = gold.exists() and graves.exists()
    # A table that is missing is made from all of silver, too: whoever removed it wants it back whole.
    stands = gold.properties() if exists else {}
    anew = anew or not exists or stands.get(DECLARATION) != table_digest(feed, table)
    # What reaches keys of other streams may have moved with whatever came.
    has_moved = not anew and stands.get(PLACES, "") != history.places
    anew = anew or has_moved
    if anew:
        if exists:
            schema_changes.refuse_declaration(lake, feed, table, name, gold, graves)
        if stale := stale_windows(lake, feed, name):
            return Applied(waits_for=tuple(stale))
        based = current_state.without_base(history.steps())
    else:
        standing = current_state.base(
            table,
            gold.read(),
            graves.read(),
            with_values=history.change_kinds.depends,
            # A new scoped change is for all that stands.
            of=None if history.brings_scopes else history.new_keys(),
        )
        steps = ordering.ordered(history.new(standing.select("key")))
        based = current_state.against(steps, standing, history.folding)
    based = based.localCheckpoint()
    counts = Counts.of(based)
    # A table that is made anew has rows of keys, too, of which there is nothing but their base.
    has_news = F.lit(anew) | (F.size("steps") > 0)
    net = fold.folded(based.where(has_news & ~F.col("is_late")), history.folding)
    repeats = counts.repeats
    if counts.met_again:
        again = hinted(based.where("is_late OR is_known").select("key"), counts.met_again)
        of_these = history.of_keys.join(again, on="key", how="left_semi")
        repeats += repeats_of_other_windows(of_these, windows)
    if counts.late_keys:
        late = history.dependents(based.where("is_late").select("key"))
        copies = based.select("key", "copies_before")
        # Those that others' histories add are few beside them, as key changes are.
        late = hinted(late.join(copies, on="key", how="left"), counts.late_keys)
        net = net.join(late, on="key", how="left_anti").unionByName(history.folded_anew(late))
    # Computed before anything is written: Spark refreshes a cached frame when a table that it was read from
    # changes, and a tombstone just written would then be taken for news that gold has already.
    if history.change_kinds.scopes or table.history:
        net = net.localCheckpoint()
    did = reached(history, net, anew=anew)
    rows = current_state.rows(net, table).localCheckpoint()
    if table.history and (anew or counts.keys):
        versions.write(
            lake.table("gold", feed.name, name + HISTORY),
            history,
            net.select("key"),
            anew=anew,
            horizon=bases.drawn(lake, feed).get(name),
        )
    if not anew and CONSTRAINT not in stands:
        require_whole_key(gold, table)
    if anew:
        create(gold, graves, rows, table, table_digest(feed, table), history.places)
    elif counts.keys:
        if missing := {name: on for name, on in PROPERTIES.items() if stands.get(name) != on}:
            # An earlier version of Weir made the table.
            gold.set_properties(missing)
        # Without a key, a row's copies are many rows.
        upsert(gold, graves, hinted(rows, counts.keys) if table.key else rows, table)
    sizes = gold.read().count(), graves.read().count()
    return Applied(
        tables=(GoldTable(name, *sizes, repeats, did),),
        changes=counts.delivered,
        repeats=repeats,
        keys=counts.keys,
        late_keys=counts.late_keys,
        ties=counts.ties,
        foreign_copies=counts.foreign_copies if table.key else 0,
        rows=sizes[0],
        tombstones=sizes[1],
        rebuilt=exists and anew and not has_moved,
    )


@dataclass(frozen=True, slots=True)
class Counts:
    """One pass over the ordered changes, before they are folded."""

    delivered: int
    repeats: int
    keys: int
    late_keys: int
    met_again: int
    ties: int
    foreign_copies: int

    @classmethod
    def of(cls, based: DataFrame) -> Self:
        """Count keys with news, and the events they come from: ``delivered`` all, ``repeats`` those known before."""
        row = based.agg(
            F.coalesce(F.sum("deliveries"), F.lit(0)).alias("delivered"),
            F.coalesce(F.sum("repeats"), F.lit(0)).alias("repeats"),
            F.count_if(F.size("steps") > 0).alias("keys"),
            F.count_if("is_late").alias("late_keys"),
            F.count_if(F.col("is_late") | F.col("is_known")).alias("met_again"),
            F.count_if(ordering.has_ties()).alias("ties"),
            F.count_if(F.col("copies_before") > 1).alias("foreign_copies"),
        ).first()
        assert row is not None  # an aggregate without groups has one row
        return cls(**row.asDict())


def repeats_of_other_windows(history: DataFrame, windows: Sequence[str]) -> int:
    """How many events of these windows another window has delivered, too, by the history of the keys concerned."""
    here = F.col("window").isin(list(windows))
    by_event = (
        history.where(F.col("derived").isNull())
        .groupBy("event_id")
        .agg(F.bool_or(here).alias("here"), F.bool_or(~here).alias("elsewhere"))
    )
    return by_event.where("here AND elsewhere").count()
