"""How new changes get into a gold table: what is read, what is folded anew, what is merged.

Not here: the order and the fold (``transforms/gold``), and the Dagster asset (``gold``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.lake import Lake, LakeTable
from transforms.feed import Feed, Table
from transforms.feed_digest import feed_digest, table_digest
from transforms.gold import current_state, fold
from transforms.gold.current_state import EFFECT, EVENT_AT, EVENT_ID, MENTIONS, POSITION
from transforms.table_names import TOMBSTONES, gold_name

DECLARATION = "weir.declaration"


@dataclass(frozen=True, slots=True)
class GoldTable:
    """One gold table after an apply: its sizes, and how many of the run's events another window had delivered."""

    name: str
    rows: int
    tombstones: int
    repeats: int


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply did, summed over the gold tables of one declared table.

    ``changes`` counts the run's silver rows, ``repeats`` those of them that another window had delivered before;
    ``rows`` and ``tombstones`` are the tables' sizes afterwards. ``waits_for`` are windows to be derived anew under a
    changed declaration before gold can follow it.
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

    def plus(self, other: Self) -> Self:
        """Both together."""
        sums = {
            name: getattr(self, name) + getattr(other, name)
            for name in self.__slots__
            if name not in ("tables", "rebuilt", "waits_for")
        }
        return replace(
            self,
            tables=self.tables + other.tables,
            rebuilt=self.rebuilt or other.rebuilt,
            waits_for=tuple(sorted({*self.waits_for, *other.waits_for})),
            **sums,
        )


def apply(lake: Lake, feed: Feed, table: Table, windows: Sequence[str]) -> Applied:
    """Bring every gold table that mirrors the declared one up to these windows."""
    done = Applied()
    for name in gold_tables(lake, feed, table, windows):
        done = done.plus(apply_one(lake, feed, table, name, windows))
    return done


def gold_tables(lake: Lake, feed: Feed, table: Table, windows: Sequence[str]) -> list[str]:
    """The gold tables of one declared table: its own name, or with ``table_names`` one per schema that has it."""
    books = lake.table("accounting", feed.name).read()
    named = books.where(
        (F.col("declared") == table.name)
        & F.col("window").isin(list(windows))
        & (F.col("changes") > 0)
    )
    found = {row["table"] for row in named.select("table").distinct().collect()}
    if feed.table_names == "plain":
        found.add(gold_name(table.name, feed.table_names))
    return sorted(found)


def apply_one(lake: Lake, feed: Feed, table: Table, name: str, windows: Sequence[str]) -> Applied:
    """Fold these windows' changes onto one gold table; tombstones first, so that a crash between loses none.

    Keys whose changes are all newer than what gold knows are folded onto it; the others are folded anew from silver.
    A table that was made under another declaration is made anew as a whole, once all its windows are derived anew;
    until then it stays as it is.
    """
    silver = lake.table("silver", feed.name).read()
    # By both: what the feed does not declare has no key, and waits, even under a name that gold has.
    history = silver.where((F.col("table") == name) & (F.col("declared") == table.name))
    gold = lake.table("gold", feed.name, name)
    graves = lake.table("gold", feed.name, name + TOMBSTONES)
    exists = gold.exists() and graves.exists()
    # A table that is missing is made from all of silver, too: whoever removed it wants it back whole.
    anew = not exists or gold.properties().get(DECLARATION) != table_digest(feed, table)
    if anew:
        if stale := stale_windows(lake, feed, name):
            return Applied(waits_for=tuple(stale))
        based = current_state.without_base(fold.ordered(history))
    else:
        steps = fold.ordered(history.where(F.col("window").isin(list(windows))))
        based = current_state.against(steps, current_state.base(table, gold.read(), graves.read()))
    based = based.localCheckpoint()
    counts = Counts.of(based)
    net = fold.folded(based.where((F.size("steps") > 0) & ~F.col("is_late")).select("key", "steps"))
    repeats = counts.repeats
    if counts.met_again:
        again = based.where("is_late OR is_known").select("key")
        repeats += repeats_of_other_windows(history.join(again, on="key", how="left_semi"), windows)
    if counts.late_keys:
        late = history.join(based.where("is_late").select("key"), on="key", how="left_semi")
        net = net.unionByName(fold.whole(fold.folded(fold.ordered(late))))
    # Computed before anything is written: Spark refreshes a cached frame when a table that it was read from
    # changes, and a tombstone just written would then be taken for news that gold has already.
    rows = current_state.rows(net, table).localCheckpoint()
    if anew:
        create(gold, graves, rows, table, table_digest(feed, table))
    elif counts.keys:
        upsert(gold, graves, rows, table)
    sizes = gold.read().count(), graves.read().count()
    return Applied(
        tables=(GoldTable(name, *sizes, repeats),),
        changes=counts.delivered,
        repeats=repeats,
        keys=counts.keys,
        late_keys=counts.late_keys,
        ties=counts.ties,
        foreign_copies=counts.foreign_copies,
        rows=sizes[0],
        tombstones=sizes[1],
        rebuilt=exists and anew,
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
            F.count_if(fold.has_ties()).alias("ties"),
            F.count_if(F.col("copies") > 1).alias("foreign_copies"),
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


def stale_windows(lake: Lake, feed: Feed, name: str) -> list[str]:
    """The windows whose silver was derived under another declaration: its keys may be others."""
    books = lake.table("accounting", feed.name).read()
    stale = books.where(
        (F.col("table") == name) & (F.col("declaration") != feed_digest(feed))
    ).select("window")
    return sorted(row["window"] for row in stale.distinct().collect())


def create(
    gold: LakeTable, graves: LakeTable, rows: DataFrame, table: Table, declaration: str
) -> None:
    """Write both tables anew."""
    graves.create(current_state.tombstones(rows, table), {})
    gold.create(
        current_state.gold(rows, table),
        {"delta.enableDeletionVectors": "true", DECLARATION: declaration},
    )


def upsert(gold: LakeTable, graves: LakeTable, rows: DataFrame, table: Table) -> None:
    """Merge rows into both tables."""
    stands = (POSITION, EVENT_ID, EVENT_AT)
    absent = current_state.tombstones(rows, table)
    if not absent.isEmpty():
        moved = _differ({name: F.col(f"new.{name}") for name in stands})
        whole = {name: F.col(f"new.`{name}`") for name in (*table.key, *stands)}
        graves.merge(absent, table.key, update=(moved, whole), insert=(F.lit(True), whole))
    values = {name: _merged(name) for name in table.columns if name not in table.key}
    values |= {name: F.col(f"new.{name}") for name in stands}
    new_row = {name: F.col(f"new.`{name}`") for name in (*table.columns, *stands)}
    present = F.col(f"new.{EFFECT}") != "remove"
    gold.merge(
        rows,
        table.key,
        delete=~present,
        update=(_differ(values), {f"`{name}`": value for name, value in values.items()}),
        insert=(present, {f"`{name}`": value for name, value in new_row.items()}),
    )


def _merged(name: str) -> Column:
    """The new value where the whole row is put or the column is mentioned, else the old one."""
    mentioned = (F.col(f"new.{EFFECT}") == "put") | F.array_contains(
        F.col(f"new.{MENTIONS}"), F.lit(name)
    )
    return F.when(mentioned, F.col(f"new.`{name}`")).otherwise(F.col(f"old.`{name}`"))


def _differ(values: Mapping[str, Column]) -> Column:
    """True where any column of the old row would change: a row that stays is not rewritten."""
    differ = F.lit(False)
    for name, value in values.items():
        differ = differ | ~F.col(f"old.`{name}`").eqNullSafe(value)
    return differ
