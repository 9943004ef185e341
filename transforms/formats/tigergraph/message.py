"""The fields of a message, and what the feed declares of the type that it names.

Not here: what is wrong with a message (``faults``), and what it does (``effects``).

Vendor: TigerGraph documentation, "CDC Message Examples", message format fields.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms import typed_columns as types
from transforms.change import EPOCH, STREAM
from transforms.feed import Feed
from transforms.formats._kafka import messages
from transforms.formats.spec import moment
from transforms.formats.tigergraph import constants, tables, values

MID: Final = r"^\s*(\d{1,18})\|(\d{1,18})\|(\d{1,18})(?:\|(\d{1,18}))?\|(\d{1,18})\s*$"
"""partition, timestamp, tid, split_index (of transactions only), index."""

VERTEX, VERTEX_TYPE, EDGE = "vertex", "vertex-type", "edge"

OVERWRITE: Final = "Overwrite"

_TEXTS: Final = {
    "mid": "$.mid",
    "operator": "$.operator",
    "kind": "$.type",
    "graph": "$.graph",
    "typename": "$.typename",
    "uid": "$.uid",
    "discriminator": "$.discriminator",
    "from_type": "$.from.type",
    "from_uid": "$.from.uid",
    "to_type": "$.to.type",
    "to_uid": "$.to.uid",
}
_NONE_WHERE_EMPTY: Final = ("graph", "typename", "discriminator")

_OWN_COLUMNS: Final = (tables.UID, *tables.ENDS, tables.DISCRIMINATOR)
_OF_CONTENT: Final = "content_"
"""What stands before the name of an attribute that is called like one of gold's own columns."""


def parsed(bronze: DataFrame, feed: Feed) -> DataFrame:
    """One row per record with its fields; ``document`` is null for what is no JSON."""
    read = (
        messages(bronze, feed)
        .withColumn("document", F.try_parse_json("message"))
        .withColumn("fields", F.col("document").try_cast("map<string,variant>"))
    )
    texts = {name: F.try_variant_get("document", path, "string") for name, path in _TEXTS.items()}
    for name in _NONE_WHERE_EMPTY:
        texts[name] = F.nullif(texts[name], F.lit(""))
    content = F.try_variant_get("document", "$.content", "map<string,variant>")
    return (
        read.withColumns(texts)
        .withColumn("action", action())
        .withColumn("numbers", F.when(F.col("mid").rlike(MID), numbers()))
        .withColumn("stream", F.col("numbers.partition").cast("string"))
        .withColumn("tid", F.col("numbers.tid"))
        .withColumn("position", position())
        .withColumn("event_at", moment(stated_time()))
        .withColumn("edge", F.try_element_at(constants.edge_types(feed), F.col("typename")))
        .withColumn("swapped", is_swapped())
        .withColumn("name", table_name())
        .withColumn("cells", cells(content))
        .withColumn("cells", with_texts(feed))
        .withColumn("keyed", keyed(feed))
    )


def action() -> Column:
    """The operator, in the one spelling of ``delete`` and ``deleted``."""
    return F.when(F.col("operator") == "deleted", F.lit("delete")).otherwise(F.col("operator"))


def numbers() -> Column:
    """The parts of the message's id."""
    parts = {"partition": 1, "timestamp": 2, "tid": 3, "split": 4, "index": 5}
    return F.struct(
        *[
            F.regexp_extract("mid", MID, group).try_cast("bigint").alias(name)
            for name, group in parts.items()
        ]
    )


def position() -> Column:
    """Epoch, phase, tid, split (0 where there is none), index; null where the id is none."""
    own = F.col("numbers")
    place = F.array(
        F.lit(EPOCH).cast("bigint"),
        F.lit(STREAM).cast("bigint"),
        *(own["tid"], F.coalesce(own["split"], F.lit(0).cast("bigint")), own["index"]),
    )
    return F.when(own.isNotNull(), place)


def given(path: str) -> Column:
    """True where a field is there and is not null."""
    value = F.try_variant_get("document", path, "variant")
    return value.isNotNull() & ~F.is_variant_null(value)


def stated_time() -> Column:
    """When the source says that it was: milliseconds since 1970."""
    return F.coalesce(
        F.try_variant_get("document", "$.timestamp", "bigint"), F.col("numbers.timestamp")
    )


def is_swapped() -> Column:
    """True for an edge of the direction that is not shown: its ends stand in gold the other way round."""
    edge = F.col("edge")
    is_turned = ~fits_ends() & fits_turned() & edge["has_mirror"]
    begins, ends = (F.struct(f"{end}_type", f"{end}_uid") for end in ("from", "to"))
    turned = F.when(edge["directed"], edge["is_reverse"] | is_turned).otherwise(begins > ends)
    # Of an edge type that nothing declares no direction is known.
    return F.coalesce(edge.isNotNull() & turned, F.lit(False))


def fits(declared: Column, name: str) -> Column:
    """True where a vertex type may stand at this end."""
    return F.array_contains(declared, F.col(name)) | F.array_contains(declared, F.lit(tables.ANY))


def fits_ends() -> Column:
    """True where both ends are of the types that the edge type declares."""
    return fits(F.col("edge.sources"), "from_type") & fits(F.col("edge.targets"), "to_type")


def fits_turned() -> Column:
    """True where they are, the other way round."""
    return fits(F.col("edge.sources"), "to_type") & fits(F.col("edge.targets"), "from_type")


def table_name() -> Column:
    """The table of the message's type; null where it names none."""
    mirror = F.when(F.col("swapped"), F.lit(tables.MIRROR)).otherwise(F.lit(""))
    of_edge = F.concat(F.lit("edge_"), F.coalesce("edge.name", "typename"), mirror)
    of_vertex = F.concat(F.lit("vertex_"), F.col("typename"))
    return F.when(F.col("kind") == EDGE, of_edge).when(
        F.col("kind").isin(VERTEX, VERTEX_TYPE), of_vertex
    )


def shown_table() -> Column:
    """The table that declares the message's attributes."""
    return F.regexp_replace("name", f"{tables.MIRROR}$", "")


def cells(content: Column) -> Column:
    """One struct per attribute: its name, operation and value, as they stand.

    Null where there is no content, or two attributes would have one name.
    """

    def name(key: Column) -> Column:
        is_own = F.lower(key).isin(*_OWN_COLUMNS)
        return F.when(is_own, F.concat(F.lit(_OF_CONTENT), key)).otherwise(key)

    names = F.transform(F.map_keys(content), name)
    found = F.transform(
        F.map_entries(content),
        lambda one: F.struct(
            name(one["key"]).alias("name"),
            F.try_variant_get(one["value"], "$.op", "string").alias("op"),
            F.try_variant_get(one["value"], "$.value", "variant").alias("value"),
        ),
    )
    return F.when(F.size(F.array_distinct(names)) == F.size(names), found)


def with_texts(feed: Feed) -> Column:
    """The cells with their values as texts, by the declared types."""
    every = [one.attributes for one in feed.vertices.values()]
    every += [one.attributes for one in feed.edges.values()]
    kinds = sorted({kind for attributes in every for kind in attributes.values()})
    declared = F.try_element_at(constants.attribute_types(feed), shown_table())

    def text(value: Column, kind: Column, op: Column) -> Column:
        by_kind = {name: values.text_of(value, name) for name in kinds}
        for name in filter(types.entries, kinds):
            keys = F.when(op == "Minus", values.keys_alone(value, name))
            by_kind[name] = F.coalesce(keys, by_kind[name])
        return types.by_type(kinds, kind, by_kind, values.untyped(value))

    def typed(one: Column) -> Column:
        kind = F.try_element_at(declared, one["name"])
        return F.struct(
            one["name"].alias("name"),
            one["op"].alias("op"),
            one["value"].isNotNull().alias("is_given"),
            kind.alias("kind"),
            text(one["value"], kind, one["op"]).alias("text"),
        )

    return F.transform("cells", typed)


def keyed(feed: Feed) -> Column:
    """The key attributes of the vertex, or the discriminator's of the edge, with their values."""
    of_vertex = F.try_element_at(constants.vertex_keys(feed), F.col("typename"))
    is_edge = F.col("kind") == EDGE
    return F.when(
        is_edge,
        joined(feed, F.col("edge.discriminator"), F.col("discriminator"), ":", shown_table()),
    ).otherwise(joined(feed, of_vertex, F.col("uid"), ",", shown_table()))


def joined(feed: Feed, names: Column, text: Column, mark: str, table: Column) -> Column:
    """What a joined text says of the attributes that it is made of: a map.

    Null stands for a value of which nothing says where it ends, or that its type cannot hold.
    """
    kinds = constants.key_types(feed)
    declared = F.try_element_at(constants.attribute_types(feed), table)
    # One value is the whole text, whatever is in it.
    parts = F.when(F.size(names) == 1, F.array(text)).otherwise(cut(text, mark))
    given = F.when(F.size(parts) == F.size(names), parts)

    def value(name: Column, at: Column) -> Column:
        kind = F.try_element_at(declared, name)
        by_kind = {one: values.of_text(F.get(given, at), one) for one in kinds}
        fit = {one: F.when(types.fits(text, one), text) for one, text in by_kind.items()}
        return F.struct(
            name.alias("name"),
            types.by_type(kinds, kind, fit, F.lit(None).cast("string")).alias("text"),
        )

    both = F.filter(F.transform(names, value), lambda one: one["name"] != "")
    return F.coalesce(F.when(text.isNotNull(), F.map_from_entries(both)), no_texts())


def cut(text: Column, mark: str) -> Column:
    """The parts of a joined text; the colons of a time of day are its own."""
    kept = F.regexp_replace(text, r"(\d{4}-\d\d-\d\d \d\d):(\d\d):(\d\d)", "$1\u0001$2\u0001$3")
    return F.transform(
        F.split(kept, mark), lambda part: F.replace(part, F.lit("\u0001"), F.lit(":"))
    )


def no_texts() -> Column:
    """An empty map of texts."""
    return F.create_map().cast("map<string,string>")
