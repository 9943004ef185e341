"""Apply the feed's declarations to events: which table, which key, do the values fit.

Not here: what a record means (``formats``) and which of several deliveries counts (``repeats``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transforms import types
from transforms.change import CONTROL, HOLD
from transforms.decisions import epoch_of
from transforms.feed import Feed
from transforms.record import COORDINATES
from transforms.silver import faults
from transforms.silver.identity import event_id

DECLARATION = T.StructType(
    [
        T.StructField("declared", T.StringType(), False),
        T.StructField("declared_catalog", T.StringType(), True),
        T.StructField("declared_schema", T.StringType(), True),
        T.StructField("declared_name", T.StringType(), False),
        T.StructField("key_columns", T.ArrayType(T.StringType()), False),
        T.StructField("keyless", T.BooleanType(), False),
        T.StructField("column_types", T.MapType(T.StringType(), T.StringType()), False),
    ]
)
"""One row per table of the feed file; small, and joined by broadcast. A keyless table's key is its whole row."""


def conform(events: DataFrame, feed: Feed) -> DataFrame:
    """One row per event: its gold table, key, identity, and a fault where it does not fit the declaration."""
    return (
        events.join(F.broadcast(declarations(events, feed)), on=declared_as(feed), how="left")
        .withColumn("feed", F.lit(feed.name))
        .withColumn("catalog", F.coalesce("catalog", "declared_catalog"))
        .withColumn("schema", F.coalesce("schema", "declared_schema"))
        .withColumn("name", F.coalesce("declared_name", "name"))
        .withColumn("source_table", F.concat_ws(".", "catalog", "schema", "name"))
        .withColumn("table", gold_table(feed))
        .withColumn("identity", of_epoch(feed))
        .withColumn("position", in_epoch(feed))
        .withColumn("attribute_ops", F.coalesce("attribute_ops", no_texts()))
        .withColumn("of_one_key", F.col("scope").isNull() & ~F.col("effect").isin(*CONTROL))
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
    )


def declarations(events: DataFrame, feed: Feed) -> DataFrame:
    """The feed file's tables as a frame (see ``DECLARATION``)."""
    rows = []
    for name, table in feed.tables.items():
        *qualifiers, plain = name.split(".")
        catalog, schema = [None, None, *qualifiers][-2:]
        key = list(table.identity)
        rows.append((name, catalog, schema, plain, key, not table.key, dict(table.columns)))
    return events.sparkSession.createDataFrame(rows, DECLARATION)


def declared_as(feed: Feed) -> Column:
    """The most exact of the feed's names for the event's table."""
    known = F.array(*[F.lit(name) for name in feed.tables]).cast("array<string>")
    spelled = [
        F.concat_ws(".", "catalog", "schema", "name"),
        F.concat_ws(".", "schema", "name"),
        F.col("name"),
    ]
    choice = F.coalesce(*[F.when(F.array_contains(known, name), name) for name in spelled])
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
    """The effect, or ``hold`` for a scoped delete over a whole table that waits for a decision.

    What follows from the same record waits with it.
    """
    if feed.scope_deletes != "hold":
        return F.col("effect")
    released = [one.event_id for one in feed.decisions.releases]
    waits = (
        F.col("scope").isNotNull()
        & (F.size("scope") == 0)
        & (F.col("effect") == "remove")
        & ~F.col("event_id").isin(released)
    )
    of_record = Window.partitionBy("window", *COORDINATES)
    together = F.bool_or(waits).over(of_record) & F.col("scope").isNotNull()
    return F.when(together, F.lit(HOLD)).otherwise(F.col("effect"))


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
    """The types that key columns have."""
    return sorted(
        {table.columns[column] for table in feed.tables.values() for column in table.identity}
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
