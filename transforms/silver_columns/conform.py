"""Apply the feed's declarations to events: which table, which key, do the values fit.

Not here: what a record means (``formats``) and which of several deliveries counts (``repeats``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transforms import typed_columns as types
from transforms.change import CONTROL, HOLD
from transforms.decisions import epoch_of
from transforms.feed import Feed
from transforms.formats import FORMATS
from transforms.record import COORDINATES
from transforms.schema_changes import Policies, is_column_drop
from transforms.silver_columns import faults, renames
from transforms.silver_columns.identity import event_id
from transforms.silver_columns.told import told_types

DECLARATION = T.StructType(
    [
        T.StructField("declared", T.StringType(), False),
        T.StructField("declared_catalog", T.StringType(), True),
        T.StructField("declared_schema", T.StringType(), True),
        T.StructField("declared_name", T.StringType(), False),
        T.StructField("key_columns", T.ArrayType(T.StringType()), False),
        T.StructField("keyless", T.BooleanType(), False),
        T.StructField("column_types", T.MapType(T.StringType(), T.StringType()), False),
        T.StructField("renames", T.MapType(T.StringType(), T.StringType()), False),
        T.StructField("add_column", T.StringType(), False),
        T.StructField("drop_column", T.StringType(), False),
    ]
)
"""One row per table of the feed file; small, and joined by broadcast. A keyless table's key is its whole row.

``renames``: earlier to present column names. ``add_column``, ``drop_column``: the policies (``schema_changes``).
"""


def conform(events: DataFrame, feed: Feed) -> DataFrame:
    """One row per event: its gold table, key, identity, and a fault where it does not fit the declaration."""
    joined = (
        with_todays_table(events, feed)
        .join(F.broadcast(declarations(events, feed)), on=declared_as(feed), how="left")
        .withColumn("feed", F.lit(feed.name))
        .withColumn("catalog", F.coalesce("catalog", "declared_catalog"))
        .withColumn("schema", F.coalesce("schema", "declared_schema"))
        .withColumn("name", F.coalesce("declared_name", "name"))
        .withColumn("source_table", F.concat_ws(".", "catalog", "schema", "name"))
        .withColumn("is_declared", F.col("declared").isNotNull())
        .withColumns(as_told() if FORMATS[feed.format].tells_tables else {})
        .withColumn("table", gold_table(feed))
        .withColumn("identity", of_epoch(feed))
        .withColumn("position", in_epoch(feed))
        .withColumn("attribute_ops", F.coalesce("attribute_ops", no_texts()))
    )
    if renames.any_column(feed):
        joined = renames.with_todays_columns(joined)
    return (
        joined.withColumn("of_one_key", F.col("scope").isNull() & ~F.col("effect").isin(*CONTROL))
        .withColumn("new_key", key_of(feed, "after", "before"))
        .withColumn("old_key", key_of(feed, "before", "after"))
        # A delete is of the row that was there, whatever its new image says.
        .withColumn(
            "key",
            F.when(
                F.col("of_one_key"),
                F.when(F.col("effect").isin("remove", "remove_if"), F.col("old_key")).otherwise(
                    F.col("new_key")
                ),
            ),
        )
        .withColumn("scope", canonical_scope(feed))
        .withColumn(
            "fault",
            F.coalesce("fault", *faults.all_faults(feed)),
        )
        .withColumn("event_id", event_id())
        .withColumn("effect", held(feed))
        .withColumn("after", without_kept_columns())
    )


def declarations(events: DataFrame, feed: Feed) -> DataFrame:
    """The feed file's tables as a frame (see ``DECLARATION``)."""
    rows = []
    for name, table in feed.tables.items():
        *qualifiers, plain = name.split(".")
        catalog, schema = [None, None, *qualifiers][-2:]
        key = list(table.identity)
        policies = (table.policies.add_column, table.policies.drop_column)
        known = (not table.key, dict(table.columns), dict(table.renamed))
        rows.append((name, catalog, schema, plain, key, *known, *policies))
    return events.sparkSession.createDataFrame(rows, DECLARATION)


def as_told() -> dict[str, Column]:
    """The declaration that the stream itself gives of a table, where the feed file gives none."""
    told = F.col("told")
    types_told = F.map_from_entries(told["columns"])
    no_names = F.create_map().cast("map<string,string>")
    stand_ins = {
        "declared": F.when(told.isNotNull(), F.col("source_table")),
        "keyless": F.size(told["key"]) == 0,
        "column_types": types_told,
        "renames": F.when(told.isNotNull(), no_names),
        "add_column": F.when(told.isNotNull(), F.lit(Policies().add_column)),
        "drop_column": F.when(told.isNotNull(), F.lit(Policies().drop_column)),
    }
    keyless = F.when(F.size(told["key"]) == 0, F.map_keys(types_told)).otherwise(told["key"])
    stand_ins["key_columns"] = keyless
    return {name: F.coalesce(F.col(name), given) for name, given in stand_ins.items()}


def with_todays_table(events: DataFrame, feed: Feed) -> DataFrame:
    """The events, those of a table's earlier names under the name that it has now."""
    earlier = renames.earlier_names(feed)
    if not earlier:
        return events
    # Both, so that an exact name comes before an earlier one that says less.
    known = {name: name for name in feed.tables} | earlier
    now = F.create_map(*[F.lit(part) for pair in known.items() for part in pair])
    choice = F.coalesce(*[F.try_element_at(now, name) for name in spelled()])
    parts = F.split(choice, r"\.")
    told = {
        part: F.coalesce(
            F.get(parts, F.size(parts) - at), F.when(choice.isNull() | (at > 1), F.col(part))
        )
        for at, part in enumerate(("name", "schema", "catalog"), start=1)
    }
    return events.withColumns(told)


def spelled() -> list[Column]:
    """The event's table, most exactly first."""
    return [
        F.concat_ws(".", "catalog", "schema", "name"),
        F.concat_ws(".", "schema", "name"),
        F.col("name"),
    ]


def declared_as(feed: Feed) -> Column:
    """The most exact of the feed's names for the event's table."""
    known = F.array(*[F.lit(name) for name in feed.tables]).cast("array<string>")
    choice = F.coalesce(*[F.when(F.array_contains(known, name), name) for name in spelled()])
    return F.col("declared") == choice


def gold_table(feed: Feed) -> Column:
    """The gold table's name, as ``table_names`` asks; a part that the source does not tell is left out."""
    parts = {
        "plain": ["name"],
        "schema": ["schema", "name"],
        "catalog": ["catalog", "schema", "name"],
    }
    return F.nullif(F.concat_ws("__", *parts[feed.table_names]), F.lit(""))


def in_epoch(feed: Feed) -> Column:
    """The position, in the epoch that the feed's decisions put the event in, on top of the format's own."""
    opened = epoch_of(feed.tables, feed.decisions)
    if opened is None:
        return F.col("position")
    own = F.get("position", F.lit(0))
    rest = F.slice("position", F.lit(2), F.size("position"))
    return F.concat(F.array(own + opened), rest)


def of_epoch(feed: Feed) -> Column:
    """The identity, with the epoch in it where there are several: the same place in a new log is another place."""
    opened = epoch_of(feed.tables, feed.decisions)
    if opened is None:
        return F.col("identity")
    named = F.concat(F.array(F.concat(F.lit("epoch "), opened.cast("string"))), F.col("identity"))
    return F.when(opened > 0, named).otherwise(F.col("identity"))


def held(feed: Feed) -> Column:
    """The effect, or ``hold`` for a delete over a whole table or column that waits for a decision.

    What follows from the same record waits with it.
    """
    holds_drops = any(table.policies.drop_column == "hold" for table in feed.tables.values())
    if feed.scope_deletes != "hold" and not holds_drops:
        return F.col("effect")
    released = [one.event_id for one in feed.decisions.releases]
    is_whole = F.lit(feed.scope_deletes == "hold") & (F.col("effect") == "remove")
    is_held_drop = is_column_drop() & (F.col("drop_column") == "hold")
    waits = (
        F.col("scope").isNotNull()
        & (F.size("scope") == 0)
        & (is_whole | F.coalesce(is_held_drop, F.lit(False)))
        & ~F.col("event_id").isin(released)
    )
    of_record = Window.partitionBy("window", *COORDINATES)
    together = F.bool_or(waits).over(of_record) & F.col("scope").isNotNull()
    return F.when(together, F.lit(HOLD)).otherwise(F.col("effect"))


def without_kept_columns() -> Column:
    """What the event sets: a column drop sets nothing where the feed keeps dropped columns."""
    keeps = is_column_drop() & (F.col("drop_column") == "keep")
    return F.when(keeps, no_texts()).otherwise(F.col("after"))


def canonical_scope(feed: Feed) -> Column:
    """The scope's values as canonical text, as keys are."""
    names = key_types(feed)

    def part(name: Column, text: Column) -> Column:
        type_name = F.try_element_at("column_types", name)
        return types.by_type(names, type_name, {t: types.canonical(text, t) for t in names}, text)

    return F.transform_values("scope", part)


def no_texts() -> Column:
    """An empty map of texts."""
    return F.create_map().cast("map<string,string>")


def key_types(feed: Feed) -> list[str]:
    """The types that key columns have, where they are known before the stream is read."""
    return sorted(
        {table.columns[column] for table in feed.tables.values() for column in table.identity}
        | set(told_types(feed))
    )


def key_of(feed: Feed, first: str, second: str) -> Column:
    """The key's canonical texts, each column from the first image that mentions it; null where undeclared."""
    names = key_types(feed)

    def part(name: Column) -> Column:
        mentioned = F.map_contains_key(F.col(first), name)
        text = F.when(mentioned, F.try_element_at(first, name)).otherwise(
            F.try_element_at(second, name)
        )
        type_name = F.try_element_at("column_types", name)
        return types.by_type(names, type_name, {t: types.canonical(text, t) for t in names}, text)

    return F.transform("key_columns", part)
