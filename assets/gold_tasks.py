"""One gold table's apply in Spark's tasks: which rows are brought together by key, and the commits of what comes out.

New changes meet what gold has of their keys in one shuffle; the few keys that this cannot tell are folded from their
history in a second one. Not here: what becomes of a key (``arrow_gold``), silver as the table sees it (``history``).
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets import scoped_changes, silver_frames
from assets.arrow_gold import BASE_COLUMNS, FromHistory, OntoGold, ToBase
from assets.arrow_gold_rows import CHANGED, COUNTED, UNTOLD, VERSION, Tally, out_columns
from assets.arrow_meetings import (
    BASE,
    CARRIED,
    CHANGE,
    COLUMNS,
    GOLD,
    TOMBSTONE,
    Folding,
    met,
)
from assets.arrow_stories import Story, stories
from assets.broadcasting import hinted
from assets.gold_columns import typed as types
from assets.gold_columns.current_state import EVENT_AT, EVENT_ID, KEY, POSITION, RESET
from assets.history import History
from assets.lake_table import LakeTable
from assets.silver_files import Place
from transforms.feed import Feed, Table
from transforms.gold.change import Key
from transforms.gold.fold import Fold
from transforms.gold.scopes import Scoped, Scopes

_SHARD = "shard"


@dataclass(frozen=True, slots=True)
class Folded:
    """What a run makes of one table: a row per key that has changed, or per copy of one, and the counts.

    ``versions``: of these keys, where the table keeps versions, those that silver can tell. ``scopes``, ``places``: its
    scoped changes by event, and what a person is told of each.
    """

    rows: DataFrame
    versions: DataFrame
    tally: Tally
    scopes: dict[str, Scoped]
    places: dict[str, Place]


def folded(
    feed: Feed, history: History, gold: LakeTable | None, tombstones: LakeTable | None
) -> Folded:
    """Fold the run's changes onto the tables, or, where they are None, all changes there are."""
    scoped, scopes, places = scoped_changes.of_history(history)
    folding = _folding(feed, history, scoped, anew=gold is None)
    if gold is None or tombstones is None:
        rows, tally = _from_history(history, folding, None, 0)
    else:
        rows, tally = _onto(history, folding, gold, tombstones)
    if tally.untold:
        asked = rows.where(F.col("kind") == UNTOLD).select("key", F.col("blob").alias("carried"))
        others, counts = _from_history(history, folding, asked, tally.untold)
        tally.add(counts)
        if folding.moves:
            # Of linked keys all are told there, also those that their new changes alone had told.
            rows = rows.join(others.select("key"), on="key", how="left_anti")
        rows = rows.unionByName(others)
    changed, versions = (rows.where(F.col("kind") == one) for one in (CHANGED, VERSION))
    return Folded(changed, versions, tally, scopes, places)


def to_base(feed: Feed, history: History) -> DataFrame:
    """What all keys are by all changes of this history (``BASE_COLUMNS``), computed once."""
    folding = _folding(feed, history, scoped_changes.of_history(history)[0], anew=True)
    rows = _by_key(_whole(history, folding, None, 0))
    return silver_frames.staged(rows, ToBase(folding), BASE_COLUMNS).localCheckpoint()


def story_of(feed: Feed, history: History, key: Key) -> Story | None:
    """Everything that happened to one key; None where nothing did."""
    folding = _folding(feed, history, scoped_changes.of_history(history)[0], anew=True)
    asked = history.changes.sparkSession.createDataFrame([(list(key),)], "key array<string>")
    rows = _by_key(_whole(history, folding, asked, 1), 1).toArrow()
    scopes = Scopes(folding.scoped, (fold := Fold.of(history.table)).identity)
    for meetings in met(folding, rows.to_batches()):
        for one in stories(folding, fold, scopes, list(meetings)):
            if one.key.key == key:
                return one
    return None


def _folding(feed: Feed, history: History, scoped: list[Scoped], *, anew: bool) -> Folding:
    kinds = history.change_kinds
    return Folding(
        *(feed, history.table, scoped),
        depends=kinds.depends,
        keeps_history=kinds.moves or history.table.history,
        moves=kinds.moves,
        anew=anew,
    )


def _onto(
    history: History, folding: Folding, gold: LakeTable, tombstones: LakeTable
) -> tuple[DataFrame, Tally]:
    """What the new changes make of what the tables have."""
    table = history.table
    new = history.of_keys.where("is_new")
    stands = _stands(table, gold.read(), GOLD, with_values=folding.depends)
    buried = _stands(table, tombstones.read(), TOMBSTONE, with_values=False)
    stands = stands.unionByName(buried, allowMissingColumns=True)
    brings_scopes = not all(one.change.is_past for one in folding.scoped)
    # A new scoped change is for all that stands.
    if not brings_scopes:
        stands = stands.join(history.new_keys(), on="key", how="left_semi")
    rows = _changes(new).unionByName(stands, allowMissingColumns=True)
    shaped = _shaped(rows.withColumn("group", F.col("key")))
    together = _by_key(shaped, None if brings_scopes else history.most_new)
    return _staged(together, OntoGold(folding), table)


def _from_history(
    history: History, folding: Folding, asked: DataFrame | None, count: int
) -> tuple[DataFrame, Tally]:
    """What all keys are, or those that are ``asked`` for (``key``, ``carried``), by all that silver has of them."""
    rows = _by_key(_whole(history, folding, asked, count))
    return _staged(rows, FromHistory(folding), history.table)


def _whole(history: History, folding: Folding, asked: DataFrame | None, count: int) -> DataFrame:
    """All that is known of all keys, or of those that are ``asked`` for and of what is linked with them."""
    rows = _changes(history.of_keys)
    if history.spread is not None:
        spread = history.spread.withColumn("is_new", F.lit(False))
        rows = rows.unionByName(_changes(spread), allowMissingColumns=True)
    if history.base is not None:
        last = "state.last"
        base = history.base.select(
            F.lit(BASE).alias("what"),
            *("key", "streams", "state.copies"),
            F.col("state.columns").alias("after"),
            *(f"{last}.position", f"{last}.event_id"),
            F.unix_micros(f"{last}.event_at").alias("event_at"),
        )
        rows = rows.unionByName(base, allowMissingColumns=True)
    rows = _grouped(history, folding, rows)
    if asked is not None:
        asked = _grouped(history, folding, asked)
        groups = asked.select("group").distinct() if folding.moves else asked.select("group")
        rows = rows.join(hinted(groups, count), on="group", how="left_semi")
        if "carried" in asked.columns:
            asked = asked.withColumn("what", F.lit(CARRIED))
            rows = rows.unionByName(asked, allowMissingColumns=True)
    return _shaped(rows)


def _grouped(history: History, folding: Folding, rows: DataFrame) -> DataFrame:
    """The rows with the ``group`` of their key: keys that key changes link are in one."""
    if not folding.moves:
        return rows.withColumn("group", F.col("key"))
    named = rows.join(history.roots, on="key", how="left")
    return named.withColumn("group", F.coalesce("root", "key")).drop("root")


def _changes(rows: DataFrame) -> DataFrame:
    """Changes of single keys, a row of ``COLUMNS`` each; the others' columns are filled in by ``_shaped``."""
    return rows.select(
        F.lit(CHANGE).alias("what"),
        *("key", "is_new", "effect", "position", "stable_prefix", "event_id"),
        F.unix_micros("event_at").alias("event_at"),
        *("before", "after", "attribute_ops", "moved_from", "stream"),
        F.col("scope").isNotNull().alias("is_scoped"),
        (F.col("derived").isNotNull() | F.col("scope").isNotNull()).alias("is_derived"),
    )


def _stands(table: Table, layer: DataFrame, what: int, *, with_values: bool) -> DataFrame:
    """One row per row of gold, or per tombstone: ``key`` as canonical texts, and the place of its last change."""
    if table.key:
        key = F.array(
            *[types.text_of(F.col(f"`{name}`"), table.columns[name]) for name in table.key]
        )
    else:
        key = F.from_json(KEY, "array<string>")
    values: list[Column] = []
    if with_values:
        texts = [types.text_of(F.col(f"`{name}`"), kind) for name, kind in table.columns.items()]
        names = [F.lit(name) for name in table.columns]
        values = [F.map_from_arrays(F.array(*names), F.array(*texts)).alias("after")]
    return layer.select(
        F.lit(what).alias("what"),
        key.alias("key"),
        F.col(POSITION).alias("position"),
        F.col(EVENT_ID).alias("event_id"),
        F.unix_micros(EVENT_AT).alias("event_at"),
        *([F.col(RESET).alias("reset")] if RESET in layer.columns else []),
        *values,
    )


def _shaped(rows: DataFrame) -> DataFrame:
    """Exactly the columns that the tasks read."""
    cells = []
    for name, kind in COLUMNS.items():
        there = [F.col(name)] if name in rows.columns else []
        cells.append(F.coalesce(*there, _nothing(name, kind).cast(kind)).alias(name))
    return rows.select(*cells)


def _nothing(name: str, kind: str) -> Column:
    """What stands where a row has no such column: lists and maps are never null."""
    if kind.startswith("array"):
        return F.array()
    if kind.startswith("map"):
        return F.create_map()
    return F.lit({"stable_prefix": 0, "copies": 0}.get(name, False if kind == "boolean" else None))


def _staged(
    rows: DataFrame, stage: OntoGold | FromHistory, table: Table
) -> tuple[DataFrame, Tally]:
    """What comes out of the tasks, computed once, and the sum of their counts.

    Computed before anything is written: Spark would read the tables anew after a commit.
    """
    found = silver_frames.staged(rows, stage, out_columns(table)).localCheckpoint()
    tally = Tally()
    for row in found.where(F.col("kind") == COUNTED).select("blob").collect():
        tally.add(pickle.loads(row["blob"]))
    return found, tally


def _by_key(rows: DataFrame, most: int | None = None) -> DataFrame:
    """The rows of each group together, in the order of their positions.

    ``most``: so many changes there may be; where it is not known, Spark chooses the number of tasks by what it
    shuffles.
    """
    tasks = () if most is None else (silver_frames.tasks_for(rows, most),)
    # Numbers are sorted much faster than lists of texts are; two groups of one number are told apart by themselves.
    together = rows.withColumn(_SHARD, F.xxhash64("group")).repartition(*tasks, _SHARD)
    return together.sortWithinPartitions(_SHARD, "group", "what", "position").drop(_SHARD)
