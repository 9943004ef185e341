"""The current-state table of one source table, its tombstones, and how new changes meet what is already there.

Not here: the order and the fold of changes (``fold``), and the commits (``assets``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.gold_columns import fold
from assets.gold_columns import typed as types
from assets.gold_columns.fold import Folding
from transforms.feed import Table

POSITION, EVENT_ID, EVENT_AT = "_weir_position", "_weir_event_id", "_weir_event_at"
KEY, COPY = "_weir_key", "_weir_copy"
EFFECT, MENTIONS = "_weir_effect", "_weir_mentions"


def key_columns(table: Table) -> tuple[str, ...]:
    """What tells the rows of gold apart: the key, or what stands for it in a table without one."""
    return table.key or (KEY, COPY)


def grave_columns(table: Table) -> tuple[str, ...]:
    """What tells tombstones apart."""
    return table.key or (KEY,)


def rows(net: DataFrame, table: Table) -> DataFrame:
    """One row per key of ``net`` (folded changes): what a merge into gold needs to know, typed.

    The table's columns, ``_weir_position``, ``_weir_event_id`` and ``_weir_event_at`` of the last change, and two that
    gold does not keep: ``_weir_effect``, and ``_weir_mentions``, the columns that the changes mention. A table without
    a key has one row per copy, with ``_weir_key`` and ``_weir_copy``, and one per copy that there is no more
    (``net.copies_before``: how many gold has).
    """
    if table.key:
        each, own = net, []
    else:
        each = with_copies(net)
        own = [
            F.to_json("key", {"ignoreNullFields": "false"}).alias(KEY),
            F.col("copy").alias(COPY),
        ]
    return each.select(
        *[_value(name, table).alias(name) for name in table.columns],
        *own,
        F.col("position").alias(POSITION),
        F.col("event_id").alias(EVENT_ID),
        F.col("event_at").alias(EVENT_AT),
        F.col("effect").alias(EFFECT),
        F.map_keys("columns").alias(MENTIONS),
    )


def with_copies(net: DataFrame) -> DataFrame:
    """One row per copy: those that there are, and those that are no more."""
    most = F.greatest("copies", "copies_before", F.lit(1))
    return net.withColumn("copy", F.explode(F.sequence(F.lit(1).cast("bigint"), most))).withColumn(
        "effect", F.when(F.col("copy") <= F.col("copies"), F.lit("put")).otherwise(F.lit("remove"))
    )


def _value(name: str, table: Table) -> Column:
    if name in table.identity:
        text = F.get("key", F.lit(table.identity.index(name)))
    else:
        text = F.try_element_at("columns", F.lit(name))
    return types.typed(text, table.columns[name])


def gold(net_rows: DataFrame, table: Table) -> DataFrame:
    """One row per key that is present, or per copy: the declared columns and Weir's own."""
    present = net_rows.where(F.col(EFFECT) != "remove")
    own = () if table.key else (KEY, COPY)
    return present.select(*table.columns, *own, POSITION, EVENT_ID, EVENT_AT)


def tombstones(net_rows: DataFrame, table: Table) -> DataFrame:
    """One row per key that was seen and is absent: the key columns and the position of its last change."""
    absent = net_rows.where(F.col(EFFECT) == "remove")
    if not table.key:
        # Of a row of which there is one copy less, the first is still there.
        absent = absent.where(F.col(COPY) == 1)
    return absent.select(*grave_columns(table), POSITION, EVENT_ID, EVENT_AT)


def base(
    table: Table,
    gold_rows: DataFrame,
    tombstone_rows: DataFrame,
    *,
    with_values: bool,
    of: DataFrame | None = None,
) -> DataFrame:
    """One row per key in gold or tombstones: ``key`` as canonical texts, and ``base``, the newer of its positions.

    ``of``: of these keys (``key``) only.

    ``copies`` counts the key's rows in gold. ``is_torn``: the tombstone is newer than a row that is still there, as a
    run leaves it that ended between the two commits. ``values``: the row's columns as texts, where asked for.
    """
    values = [types.text_of(F.col(f"`{name}`"), kind) for name, kind in table.columns.items()]
    names = [F.lit(name) for name in table.columns]
    image = F.map_from_arrays(F.array(*names), F.array(*values)) if with_values else None
    both = _stands(table, gold_rows, 1, image), _stands(table, tombstone_rows, 0, None)
    if of is not None:
        both = both[0].join(of, on="key", how="left_semi"), both[1].join(of, "key", "left_semi")
    return (
        both[0]
        .unionByName(both[1])
        .groupBy("key")
        .agg(
            F.max("base").alias("base"),
            F.sum("copy").alias("copies"),
            F.max(F.when(F.col("copy") == 1, F.col("base.position"))).alias("row"),
            F.max(F.when(F.col("copy") == 0, F.col("base.position"))).alias("grave"),
            F.first("values", ignorenulls=True).alias("values"),
        )
        .withColumn("is_torn", F.coalesce(F.col("grave") > F.col("row"), F.lit(False)))
        .drop("row", "grave")
    )


def _stands(table: Table, layer: DataFrame, copy: int, image: Column | None) -> DataFrame:
    if table.key:
        key = F.array(
            *[types.text_of(F.col(f"`{name}`"), table.columns[name]) for name in table.key]
        )
    else:
        key = F.from_json(KEY, "array<string>")
    newest = F.struct(F.col(POSITION).alias("position"), F.col(EVENT_ID).alias("event_id"))
    values = F.lit(None) if image is None else image
    return layer.select(
        key.alias("key"),
        newest.alias("base"),
        F.lit(copy).alias("copy"),
        values.cast("map<string,string>").alias("values"),
    )


def against(ordered_changes: DataFrame, based: DataFrame, folding: Folding) -> DataFrame:
    """Add what the base says of each key: ``before`` (a ``fold.STATE``), ``is_late``, ``is_known``, ``copies_before``.

    ``is_late``: the key must be folded anew from its whole history. Some change is not newer than the base, or the base
    is torn, or a key change needs another key's history.
    ``is_known``: the key's last applied event came again; it is no news and dropped from ``steps``, and so is a scoped
    change of an earlier window that the base has seen.
    """
    last = F.col("base")

    def is_same(step: Column) -> Column:
        same = (step["event_id"] == last["event_id"]) & (step["position"] == last["position"])
        return F.coalesce(same, F.lit(False))

    def is_old(step: Column) -> Column:
        # Another delivery may stand at a larger position: only the stable_prefix part says that an event is new.
        whole, stable_prefix = last["position"], step["stable_prefix"]
        older = F.slice(step["position"], F.lit(1), stable_prefix) <= F.slice(
            whole, F.lit(1), stable_prefix
        )
        return F.coalesce(older, F.lit(False))

    def is_news(step: Column) -> Column:
        return ~is_same(step) & ~(step["is_past"] & is_old(step))

    news = F.filter("steps", is_news)
    copies = F.coalesce("copies", F.lit(0))
    needs_history = F.exists("steps", lambda step: is_old(step) | (step["effect"] == "move"))
    if not folding.has_key:
        before = fold.copied(copies)
    elif folding.depends:
        before = fold.read(F.col("values"))
    else:
        before = fold.unread(copies > 0)
    return (
        ordered_changes.join(based, on="key", how="left")
        .withColumn("is_known", F.exists("steps", lambda one: is_same(one) & ~one["is_scoped"]))
        .withColumn("steps", news)
        .withColumn("is_late", needs_history | F.coalesce(F.col("is_torn"), F.lit(False)))
        .withColumn("before", before)
        .withColumn("copies_before", copies)
        .drop("base", "is_torn", "values", "copies")
    )


def without_base(ordered_changes: DataFrame) -> DataFrame:
    """The same columns as ``against``, where there is no table yet, or none that counts; ``before`` is there."""
    return (
        ordered_changes.withColumn("is_known", F.lit(False))
        .withColumn("is_late", F.lit(False))
        .withColumn("copies_before", F.lit(0).cast("bigint"))
    )
