"""From an envelope's images to an event's: texts that the declared types read, and what the schema says of the table.

Not here: reading messages (``_connect``), and what one value's JSON means (``_connect_values``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.change import TEXTS
from transforms.feed import Feed
from transforms.formats._connect import by_field, written
from transforms.formats._connect_values import decoded, is_unavailable, spark_type
from transforms.formats.spec import TOLD, fault
from transforms.gold.ordering import let

SIDES = ("before", "after")
ROUTED = "__dbz__physicalTableIdentifier"


def with_images(
    frame: DataFrame,
    feed: Feed,
    nothing: tuple[str, ...] = ("null",),
    stand_ins: bool = False,
    numbers_are_texts: bool = False,
) -> DataFrame:
    """Adds ``before``, ``after``, ``told``, ``misshapen`` (a fault), and ``is_partial``: a value was not sent.

    ``nothing`` are texts that stand for no image, ``stand_ins``: whether there are Debezium's for values that were not
    sent, which are left out; ``numbers_are_texts``: whether a text that reads as a number is one. A key's column that
    neither image mentions is taken from the message's key.
    """

    def decode(found: str, variants: str, said: str) -> Column:
        return as_texts(found, variants, F.col(said), numbers_are_texts)

    return (
        frame.withColumns({f"{side}_given": given(side, nothing) for side in SIDES})
        .withColumns({f"{side}_values": values("body", f".{side}") for side in SIDES})
        .withColumns({f"{side}_texts": image(side) for side in SIDES})
        .withColumn("misshapen", F.coalesce(misshapen("before"), misshapen("after")))
        .withColumns({f"{side}_sent": sent(side, stand_ins) for side in SIDES})
        .withColumn("is_partial", F.size("after_sent") < F.size("after_texts"))
        .withColumn("declared_types", declared_types(feed))
        .withColumns({side: decode(f"{side}_sent", f"{side}_values", "said") for side in SIDES})
        .withColumn("key_texts", of_table(texts(F.col("own_key.texts"))))
        .withColumn("key_parsed", F.try_parse_json("own_key.texts"))
        .withColumn("key_values", values("key_parsed", ""))
        .withColumn("key_said", F.col("own_key.said"))
        .withColumn("key_said", F.coalesce(by_field("key_said"), "said"))
        .withColumn("key_texts", decode("key_texts", "key_values", "key_said"))
        .withColumn("unsaid", unsaid())
        .withColumns({side: with_key(side) for side in SIDES})
        .withColumn("told", told())
    )


def given(side: str, nothing: tuple[str, ...]) -> Column:
    """An image's JSON; null where there is none, however that is said."""
    text = F.col(f"envelope.{side}")
    return F.when(~F.trim(text).isin(*written(nothing)), text)


def image(side: str) -> Column:
    """An image's values as texts; null where it is no object (a text may well hold one)."""
    return F.when(F.col(f"{side}_values").isNotNull(), texts(F.col(f"{side}_given")))


def texts(text: Column) -> Column:
    """An object's fields as texts; null for what is no object."""
    return F.from_json(text, "map<string,string>", {"allowUnquotedControlChars": "true"})


def misshapen(side: str) -> Column:
    """An image that is there and is no object, as MongoDB's, which are JSON within a text."""
    found = F.col(f"{side}_given")
    return F.when(
        found.isNotNull() & F.col(f"{side}_texts").isNull(),
        fault("malformed_image", f"{side} is no object of columns: ", found),
    )


def sent(side: str, stand_ins: bool) -> Column:
    """The values that the source sent."""
    all_of = F.coalesce(f"{side}_texts", no_texts())
    return F.map_filter(all_of, lambda _, text: ~is_unavailable(text)) if stand_ins else all_of


def values(variant: str, path: str) -> Column:
    """An object's fields with their JSON types."""
    return F.try_variant_get(variant, f"${path}", "map<string,variant>")


def of_table(key: Column) -> Column:
    """A key without the name of its table, which Debezium's ByLogicalTableRouter writes beside the columns."""
    return F.map_filter(key, lambda name, _: name != ROUTED)


def as_texts(found: str, variants: str, said: Column, numbers_are_texts: bool) -> Column:
    """The values as the texts that the declared types read."""

    def one(name: Column, text: Column) -> Column:
        about = F.struct(
            F.try_element_at(variants, name).alias("variant"),
            F.try_element_at(said, name).alias("column"),
            F.try_element_at("declared_types", name).alias("declared"),
        )
        return F.when(
            text.isNotNull(),
            let(
                about,
                lambda it: decoded(
                    text, it["variant"], it["column"], it["declared"], numbers_are_texts
                ),
            ),
        )

    return F.transform_values(found, one).cast(TEXTS)


def declared_types(feed: Feed) -> Column:
    """The types of the event's table by column, as the feed declares them; null where it does not."""
    pairs = []
    for name, table in feed.tables.items():
        earlier = {old: table.columns[new] for old, new in table.renamed.items()}
        types = {**table.columns, **earlier}
        kinds = F.create_map(*[F.lit(text) for pair in types.items() for text in pair])
        pairs += [part for known in (name, *table.was) for part in (F.lit(known), kinds)]
    if not pairs:
        return F.lit(None).cast("map<string,string>")
    spelled = [("catalog", "schema", "name"), ("schema", "name"), ("name",)]
    known = F.create_map(*pairs)
    return F.coalesce(*[F.try_element_at(known, F.concat_ws(".", *names)) for names in spelled])


def unsaid() -> Column:
    """The key's columns that neither image mentions; such as the schema does not have are none of the table's."""
    return F.map_filter(
        F.coalesce("key_texts", no_texts()),
        lambda name, _: (
            ~F.map_contains_key("before", name)
            & ~F.map_contains_key("after", name)
            & (F.col("said").isNull() | F.map_contains_key("said", name))
        ),
    )


def with_key(side: str) -> Column:
    """An image with the key that no image mentions: a delete's in the old one, that of all others in the new one."""
    of_delete = F.col("operation") == "delete"
    belongs = of_delete if side == "before" else ~of_delete
    return F.when(
        F.coalesce(belongs, F.lit(False)) & (F.size("unsaid") > 0), F.map_concat(side, "unsaid")
    ).otherwise(F.col(side))


def told() -> Column:
    """The table as the schema tells it; null where the message has none, or its key is unknown or no column of it."""
    names = F.transform("columns_said", lambda column: column["field"])
    key = F.when(F.col("has_no_key"), F.array().cast("array<string>")).otherwise(
        F.coalesce(
            F.array_remove(F.transform("own_key.said", lambda column: column["field"]), ROUTED),
            F.map_keys("key_texts"),
        )
    )
    columns = F.transform(
        "columns_said",
        lambda column: F.struct(column["field"].alias("name"), spark_type(column).alias("type")),
    )
    of_rows = F.col("operation").isin("read", "insert", "update", "delete")
    known = F.when(of_rows & (F.size(F.array_except(key, names)) == 0), key)
    # A truncate has no key to tell, whether its table has one or not.
    sound = F.col("said").isNotNull() & (known.isNotNull() | (F.col("operation") == "truncate"))
    return F.when(sound, F.struct(known.alias("key"), columns.alias("columns"))).cast(TOLD)


def no_texts() -> Column:
    """An empty map of texts."""
    return F.create_map().cast("map<string,string>")
