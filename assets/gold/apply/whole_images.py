"""Keys that their newest change alone tells, told apart by Spark itself: the short way of an apply, before the fold.

Most sources send whole rows. Where all new changes of a key are newer than what gold has of it, and the newest says the
whole row, the others do not matter; where all are as old as what gold has, none does. A table that gets a million
changes has few other keys, and only these go to the fold in Python, which says the same of the rest: this saves its
time, and has no meaning of its own (``transforms/gold/onto_gold.py``; the laws hold the two together).
Not here: those other keys (``spark_apply``), and what is done with the rows (``commits``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from assets.arrow.gold_rows import CHANGED, Tally
from assets.columns import types
from assets.columns.gold import (
    BLOB,
    EFFECT,
    EVENT_AT,
    EVENT_ID,
    KIND,
    MENTIONS,
    PARTS,
    POSITION,
    RESET,
)
from assets.delta.broadcasting import broadcast_if_small
from assets.gold.apply import meeting_rows
from assets.gold.changes.table_changes import TableChanges
from transforms.feed.feed import Table

LEAST = 20_000
"""Fewer new changes are folded in Python as fast: what is saved here is 20 µs a change, and costs some queries."""

# Declared columns may have any name that does not begin like these.
_OUTCOME, _LAST, _ROWS = "_weir_outcome", "_weir_last", "_weir_rows"
_FIRST, _SHORTEST = "_weir_first", "_weir_shortest"
_EVENT, _EVENTS = "_weir_event", "_weir_events"
_IS_WHOLE, _IS_MIXED, _IS_NEWEST = "_weir_is_whole", "_weir_is_mixed", "_weir_is_newest"
_ANY_MIXED, _IS_TIED = "_weir_any_mixed", "_weir_is_tied"
_NEWER, _OLDER, _SAME, _UNSURE = "newer", "older", "same", "unsure"


@dataclass(frozen=True, slots=True)
class Told:
    """What the newest changes tell of a run's keys.

    ``rows``: one per key that has changed, with the columns in which the fold gives them. ``unsure``: one row per other
    key (``key``: its parts as canonical texts); ``tally`` counts neither these nor their events, but how many they are
    (``untold``).
    """

    rows: DataFrame
    unsure: DataFrame
    tally: Tally


def may_tell(table_changes: TableChanges, *, full_rebuild: bool) -> bool:
    """Whether there is much to tell, and all changes are for one row each and do not look at what it was.

    ``full_rebuild``: of all changes, without a look at gold.
    """
    table, kinds = table_changes.table, table_changes.change_kinds
    return (
        table_changes.most_new >= LEAST
        and bool(table.key)
        and not table.history
        and not (kinds.depends or kinds.moves or kinds.scopes)
        and not (full_rebuild and table_changes.base is not None)
    )


def told(table_changes: TableChanges, layers: Sequence[DataFrame] | None) -> Told:
    """Tell of each key with new changes what becomes of it, or that the fold has to.

    ``layers``: gold and its tombstones; None to tell of all keys by all their changes. Computed before anything is
    written: Spark would read the tables anew after a commit.
    """
    table = table_changes.table
    if layers is None:
        newest = _newest(table_changes.of_keys, table)
        is_told = F.col(_IS_WHOLE) & ~F.col(_IS_MIXED)
        met = newest.withColumn(_OUTCOME, F.when(is_told, _NEWER).otherwise(_UNSURE))
    else:
        new = table_changes.of_keys.where("is_new")
        newest, current_rows = _newest(new, table), _current_rows(table_changes, new, layers)
        together = newest.join(current_rows, on=[*table.key], how="left")
        met = together.withColumn(_OUTCOME, _outcome()).drop(_LAST, _ROWS)
    found = met.localCheckpoint()
    changed, unsure = (found.where(F.col(_OUTCOME) == one) for one in (_NEWER, _UNSURE))
    return Told(
        _as_folded(changed, table),
        unsure.select(meeting_rows.key_texts(table).alias("key")),
        _counted(found),
    )


def _newest(new: DataFrame, table: Table) -> DataFrame:
    """One row per key: its newest change as gold would have it, and what there is to know of the others.

    ``_FIRST``: where the oldest stands. ``_SHORTEST``: the least length of their places. ``_EVENT``: 1 for a new event,
    0 for an old one and for what follows from another; ``_EVENTS``: the sum. ``_IS_WHOLE``: the newest says the whole
    row. ``_IS_MIXED``: two stand at one place, or an event may come at another place once more, so that which one
    counts is for the fold to say.
    """

    def text(name: str) -> Column:
        if name in table.key:
            return F.get("key", F.lit(table.key.index(name)))
        return F.try_element_at("after", F.lit(name))

    effect = F.col("effect")
    said = [
        F.map_contains_key("after", F.lit(one)) for one in table.columns if one not in table.key
    ]
    is_whole = effect.isin("put", "remove") | reduce(Column.__and__, said, effect == "merge")
    rows = new.select(
        *[
            types.typed(text(name), kind, strictly=True).alias(name)
            for name, kind in table.columns.items()
        ],
        F.col("position").alias(POSITION),
        F.col("event_id").alias(EVENT_ID),
        F.col("event_at").alias(EVENT_AT),
        F.when(effect == "remove", "remove").otherwise("put").alias(EFFECT),
        is_whole.alias(_IS_WHOLE),
        (F.col("stable_prefix") != F.size("position")).alias(_IS_MIXED),
        (F.col("derived").isNull() & F.col("is_new")).cast("bigint").alias(_EVENT),
    )
    in_order = Window.partitionBy(*_quoted(table.key)).orderBy(POSITION)
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    # None of these needs another, so that Spark goes through the rows once.
    found = rows.select(
        "*",
        F.max(_IS_MIXED).over(so_far).alias(_ANY_MIXED),
        # Fewer places than changes: two stand at one.
        (F.dense_rank().over(in_order) < F.row_number().over(in_order)).alias(_IS_TIED),
        F.first(POSITION).over(so_far).alias(_FIRST),
        F.min(F.size(POSITION)).over(so_far).alias(_SHORTEST),
        F.sum(_EVENT).over(so_far).alias(_EVENTS),
        F.lead(POSITION).over(in_order).isNull().alias(_IS_NEWEST),
    )
    newest = found.where(_IS_NEWEST).withColumn(_IS_MIXED, F.col(_ANY_MIXED) | F.col(_IS_TIED))
    return newest.drop(_ANY_MIXED, _IS_TIED, _IS_NEWEST)


def _current_rows(
    table_changes: TableChanges, new: DataFrame, layers: Sequence[DataFrame]
) -> DataFrame:
    """One row per key that gold has: the place of its ``_LAST`` change, and how many ``_ROWS`` of gold are of it."""
    table = table_changes.table
    own = _quoted(table.key)
    asked = broadcast_if_small(meeting_rows.typed_keys(table, new), table_changes.most_new)

    def places(layer: DataFrame, *, is_row: bool) -> DataFrame:
        # A table of an earlier version has none.
        reset = F.col(RESET) if RESET in layer.columns else F.lit(None).cast("array<bigint>")
        last = F.struct(POSITION, EVENT_ID, reset.alias(RESET), F.lit(is_row).alias("is_row"))
        return layer.select(*own, last.alias(_LAST), F.lit(int(is_row)).alias(_ROWS))

    gold, tombstones = layers
    both = places(gold, is_row=True).unionByName(places(tombstones, is_row=False))
    mine = both.join(asked, on=[*table.key], how="left_semi")
    return mine.groupBy(*own).agg(F.max(_LAST).alias(_LAST), F.sum(_ROWS).alias(_ROWS))


def _outcome() -> Column:
    """What becomes of a key, by its newest change and what stands in gold; what is unknown is for the fold."""
    position = F.col(POSITION)
    last, reset, event_id = (F.col(f"{_LAST}.{name}") for name in (POSITION, RESET, EVENT_ID))
    rows = F.coalesce(_ROWS, F.lit(0))
    # Several rows are somebody else's doing, and a row beside a newer tombstone is torn.
    is_clean = ~F.col(_IS_MIXED) & ((rows == 0) | ((rows == 1) & F.col(f"{_LAST}.is_row")))
    is_newer = F.col(_IS_WHOLE) & (F.col(_LAST).isNull() | (F.col(_FIRST) > last))
    # A shorter place is compared with as much of the other one: a matter for the fold.
    is_within_prefix = F.size(reset) <= F.col(_SHORTEST)
    is_older = is_within_prefix & (position < reset)
    is_last = (position == last) & (F.col(EVENT_ID) == event_id)
    is_same = is_within_prefix & is_last & (reset == last)
    return (
        F.when(is_clean & is_newer, _NEWER)
        .when(is_clean & is_older, _OLDER)
        .when(is_clean & is_same, _SAME)
        .otherwise(_UNSURE)
    )


def _counted(found: DataFrame) -> Tally:
    """The counts, as the fold would count these keys."""
    tally = Tally()
    counts = found.groupBy(_OUTCOME, EFFECT).agg(
        F.count("*").alias("keys"), F.sum(_EVENTS).alias("events"), F.sum(_EVENT).alias("newest")
    )
    for outcome, effect, keys, events, newest in counts.collect():
        if outcome == _UNSURE:
            tally.untold += keys
            continue
        tally.deliveries += events
        if outcome == _NEWER:
            tally.keys += keys
            tally.absent += keys if effect == "remove" else 0
        elif outcome == _OLDER:
            tally.superseded += events
        else:
            # The newest is what gold has, once more; it answers those below it.
            tally.repeats += newest
            tally.superseded += events - newest
    return tally


def _as_folded(rows: DataFrame, table: Table) -> DataFrame:
    """The rows with the columns in which the fold gives them (``gold_rows``)."""
    return rows.select(
        F.lit(CHANGED).alias(KIND),
        F.lit(None).cast("array<string>").alias(PARTS),
        F.lit(None).cast("binary").alias(BLOB),
        *_quoted([*table.columns]),
        *(POSITION, EVENT_ID, EVENT_AT),
        # It says the whole row: nothing older can matter.
        F.col(POSITION).alias(RESET),
        EFFECT,
        F.lit(None).cast("array<string>").alias(MENTIONS),
    )


def _quoted(names: Sequence[str]) -> list[str]:
    return [f"`{name}`" for name in names]
