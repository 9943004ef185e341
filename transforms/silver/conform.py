"""Apply the feed's declarations to events: which table, which key, do the values fit.

Not here: what a record means (``formats``) and which of several deliveries counts (``repeats``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transforms import types
from transforms.feed import Feed
from transforms.formats.spec import fault
from transforms.table_names import UNFIT

DECLARATION = T.StructType(
    [
        T.StructField("declared", T.StringType(), False),
        T.StructField("declared_catalog", T.StringType(), True),
        T.StructField("declared_schema", T.StringType(), True),
        T.StructField("declared_name", T.StringType(), False),
        T.StructField("key_columns", T.ArrayType(T.StringType()), False),
        T.StructField("column_types", T.MapType(T.StringType(), T.StringType()), False),
    ]
)
"""One row per table of the feed file; small, and joined by broadcast."""


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
        .withColumn("new_key", key_of(feed, "after", "before"))
        .withColumn("old_key", key_of(feed, "before", "after"))
        # A delete is of the row that was there, whatever its new image says.
        .withColumn(
            "key", F.when(F.col("effect") == "remove", F.col("old_key")).otherwise(F.col("new_key"))
        )
        .withColumn("fault", F.coalesce("fault", table_fault(), misfit(feed), key_fault()))
        .withColumn("event_id", event_id())
    )


def declarations(events: DataFrame, feed: Feed) -> DataFrame:
    """The feed file's tables as a frame (see ``DECLARATION``)."""
    rows = []
    for name, table in feed.tables.items():
        *qualifiers, plain = name.split(".")
        catalog, schema = [None, None, *qualifiers][-2:]
        rows.append((name, catalog, schema, plain, list(table.key), dict(table.columns)))
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


def table_fault() -> Column:
    """An event that names no table, and whose path names none; or one whose name cannot be a folder's."""
    return F.when(
        F.coalesce(F.col("name"), F.lit("")) == "",
        fault("missing_table", "neither record nor path names it"),
    ).when(
        F.col("table").rlike(UNFIT),
        fault(
            "unfit_table_name",
            *("the table is named ", F.col("table")),
            ", and a folder's name cannot hold slashes or control characters, or begin or end with a blank",
        ),
    )


def misfit(feed: Feed) -> Column:
    """The first value that goes into gold or into the key, and that its declared type cannot hold.

    Of the old image that is the key, and all of it where the key changes: the row goes along to the new key.
    """
    names = sorted({name for table in feed.tables.values() for name in table.columns.values()})

    def unfit(entry: Column) -> Column:
        type_name = F.try_element_at("column_types", entry["key"])
        verdicts = {name: ~types.fits(entry["value"], name) for name in names}
        return types.by_type(names, type_name, verdicts, F.lit(False))

    moved = F.coalesce(F.col("new_key") != F.col("old_key"), F.lit(False))
    old = F.map_filter("before", lambda name, _: moved | F.array_contains("key_columns", name))
    entries = F.concat(F.map_entries("after"), F.map_entries(old))
    found = F.get(F.filter(entries, unfit), F.lit(0))
    type_name = F.try_element_at("column_types", found["key"])
    return F.when(
        found.isNotNull(),
        fault(
            "value_does_not_fit", found["key"], " is ", found["value"], ", which is no ", type_name
        ),
    )


def key_fault() -> Column:
    """A declared table's event whose key has a part that is null, or that no image mentions."""
    parts = F.zip_with("key_columns", "key", lambda name, part: F.when(part.isNull(), name))
    missing = F.filter(parts, lambda name: name.isNotNull())
    return F.when(
        F.size(missing) > 0,
        fault("missing_key", "key column ", F.array_join(missing, ", "), " is absent or null"),
    )


def key_of(feed: Feed, first: str, second: str) -> Column:
    """The key's canonical texts, each column from the first image that mentions it; null where undeclared."""
    names = sorted(
        {table.columns[column] for table in feed.tables.values() for column in table.key}
    )

    def part(name: Column) -> Column:
        mentioned = F.map_contains_key(F.col(first), name)
        text = F.when(mentioned, F.try_element_at(first, name)).otherwise(
            F.try_element_at(second, name)
        )
        type_name = F.try_element_at("column_types", name)
        return types.by_type(names, type_name, {t: types.canonical(text, t) for t in names}, text)

    return F.transform("key_columns", part)


def event_id() -> Column:
    """SHA-256 over table, operation, identity and both images: equal for every delivery of one event.

    Each text goes in as its length, a colon and itself, so that no two events can spell the same line.
    """
    return F.when(
        F.col("fault").isNull(),
        F.sha2(
            F.concat(
                _net(F.col("table")),
                _net(F.col("operation")),
                _net(F.size("identity").cast("string")),
                F.array_join(F.transform("identity", _net), ""),
                _net_map("before"),
                _net_map("after"),
            ),
            256,
        ),
    )


def _net(text: Column) -> Column:
    return F.coalesce(F.concat(F.char_length(text).cast("string"), F.lit(":"), text), F.lit("-"))


def _net_map(image: str) -> Column:
    entries = F.array_sort(F.map_entries(image))
    spelled = F.transform(entries, lambda entry: F.concat(_net(entry["key"]), _net(entry["value"])))
    return F.concat(_net(F.size(image).cast("string")), F.array_join(spelled, ""))
