"""What the formats of the Debezium family share: messages of Kafka Connect's JSON converter that carry envelopes.

A message is an envelope (before, after, source, op), bare or as the ``payload`` beside its ``schema``; its key is an
object of the key's columns, bare or in the same way. Connect's schema says each column's type; where it is missing, the
feed's declaration does. Not here: operations, order and identity, which each format has of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats._connect_values import COLUMN
from transforms.formats._json_numbers import exact
from transforms.formats._kafka import messages
from transforms.formats.spec import NO_FAULT, fault, moment
from transforms.gold.ordering import let

SOURCE = (
    *("connector", "db", "schema", "table", "snapshot", "ts_ms"),
    *("file", "pos", "row", "lsn", "sequence"),
)
"""What is read of an envelope's ``source``."""
_SOURCE = ", ".join(f"{name}: string" for name in SOURCE)
_ENVELOPE = {
    **dict.fromkeys(("before", "after", "op", "ts_ms"), "string"),
    "source": f"struct<{_SOURCE}>",
    "transaction": "struct<id: string, total_order: string>",
    **dict.fromkeys(("status", "id", "event_count"), "string"),
}
_FIELDS = ", ".join(f"{name} {kind}" for name, kind in _ENVELOPE.items())
_SCHEMA = (
    f"struct<name: string, fields: array<struct<field: string, fields: array<struct<{COLUMN}>>>>>"
)
_KEY_SCHEMA = f"struct<name: string, fields: array<struct<{COLUMN}>>>"
# Arcion's first generation has key and value in one object, numbered.
_DOCUMENT = (
    f"schema {_SCHEMA}, payload struct<{_FIELDS}>, schema_1 {_KEY_SCHEMA}, payload_1 string,"
    f" schema_2 {_SCHEMA}, payload_2 struct<{_FIELDS}>, {_FIELDS}"
)
# The vendor's own samples have line breaks within strings.
_LENIENT = {"allowUnquotedControlChars": "true"}


def read(
    bronze: DataFrame,
    feed: Feed,
    nothing: tuple[str, ...] = ("null",),
    adapted: Callable[[DataFrame, Feed], DataFrame] = lambda frame, _: frame,
) -> DataFrame:
    """The records with their envelope, key and schema; ``nothing`` are the texts that stand for no image and no key.

    ``adapted`` makes envelopes of what has none: a new ``message`` and ``document``, by those and ``top``, the fields
    of the message as it came.

    Adds ``envelope``, ``body`` (the same as variant), ``names`` (of its fields; null where the message is no object),
    ``is_tombstone``, ``columns_said`` and ``said`` (the schema's columns, and by name), ``own_key`` (the columns that
    its schema says, and its JSON text), ``has_no_key`` (known to have none), the table, ``event_at``,
    ``extracted_at``, ``fault``.
    """
    return (
        messages(bronze, feed)
        .withColumn("parsed", F.try_parse_json(bracketed("message")))
        # Two documents in a row are none.
        .withColumn("document", F.when(part("parsed", "[1]").isNull(), part("parsed", "[0]")))
        .withColumn("top", fields_of("document"))
        .withColumn("is_double", contains("top", "payload_2"))
        .withColumn("is_wrapped", contains("top", "payload") & ~contains("top", "op"))
        .transform(adapted, feed)
        .withColumn("read", F.from_json(exact(F.col("message")), _DOCUMENT, _LENIENT))
        .withColumn("body", chosen(part("document", ".payload_2"), part("document", ".payload")))
        .withColumn("names", fields_of("body"))
        .withColumn("is_tombstone", is_tombstone(nothing))
        .withColumn("envelope", chosen(F.col("read.payload_2"), F.col("read.payload"), top_level()))
        .withColumn("columns_said", columns_said())
        .withColumn("said", by_field("columns_said"))
        .withColumn("own_key", own_key())
        .withColumn("has_no_key", has_no_key(nothing))
        .withColumns(table_names())
        .withColumn("event_at", since_1970("envelope.source.ts_ms"))
        .withColumn("extracted_at", since_1970("envelope.ts_ms"))
        .withColumn("fault", unreadable())
    )


def written(nothing: tuple[str, ...]) -> list[str]:
    """The texts as a message may have them: a word with its quotes, too."""
    return [spelling for text in nothing for spelling in (text, f'"{text}"')]


def bracketed(text: str) -> Column:
    """The text as the only item of an array, with line breaks as JSON allows them."""
    return F.concat(F.lit("["), F.translate(text, "\n\r\t", "   "), F.lit("]"))


def part(variant: str, path: str) -> Column:
    """A part of a variant, as a variant."""
    return F.try_variant_get(variant, f"${path}", "variant")


def fields_of(variant: str) -> Column:
    """The names of an object's fields; null for what is no object."""
    return F.map_keys(F.col(variant).try_cast("map<string,variant>"))


def contains(names: str, name: str) -> Column:
    """Whether a name is among names; false where there are none."""
    return F.coalesce(F.array_contains(F.col(names), name), F.lit(False))


def chosen(double: Column, wrapped: Column, bare: Column | None = None) -> Column:
    """What belongs to the message's shape: key and value in one object, a payload beside its schema, or neither."""
    return (
        F.when(F.col("is_double"), double)
        .when(F.col("is_wrapped"), wrapped)
        .otherwise(F.col("document") if bare is None else bare)
    )


def is_tombstone(nothing: tuple[str, ...]) -> Column:
    """True for a message that says nothing: only its key is there, for a topic that keeps one message per key."""
    payload = F.when(F.col("names").isNull(), F.col("body").try_cast("string"))
    is_word = F.trim(payload).isin(*nothing) | ((F.size("names") == 0) & F.lit("{}" in nothing))
    empty = F.col("is_wrapped") & (F.is_variant_null("body") | is_word)
    return (
        F.col("is_null")
        | F.coalesce(F.trim("message").isin(*written(nothing)), F.lit(False))
        | F.coalesce(empty, F.lit(False))
    )


def top_level() -> Column:
    """The envelope of a message that is one itself."""
    return F.struct(*[F.col(f"read.{name}").alias(name) for name in _ENVELOPE])


def columns_said() -> Column:
    """The columns as the schema has them: those of the new image, which the old one shares; null without a schema."""
    fields = F.when(F.col("is_double"), F.col("read.schema_2.fields")).otherwise(
        F.col("read.schema.fields")
    )
    images = F.filter(
        fields, lambda one: one["field"].isin("before", "after") & one["fields"].isNotNull()
    )
    return F.get(images, F.lit(0))["fields"]


def by_field(columns: str) -> Column:
    """A schema's columns by their names; null where two have one name, or one has none."""
    names = F.transform(columns, lambda one: one["field"])
    sound = ~F.exists(names, lambda name: name.isNull()) & (
        F.size(F.array_distinct(names)) == F.size(names)
    )
    return F.when(sound, F.map_from_arrays(names, F.col(columns)))


def own_key() -> Column:
    """What the message's key says: its columns with their types, and its values as JSON; null where it says none."""
    text = F.coalesce("message_key", "header")
    names = F.map_keys(F.from_json(text, "map<string,string>"))
    is_wrapped = F.size(F.array_except(names, F.array(F.lit("schema"), F.lit("payload")))) == 0
    parsed = F.from_json(exact(text), f"schema {_KEY_SCHEMA}, payload string")
    return F.when(
        F.col("is_double"),
        F.struct(
            F.col("read.schema_1.fields").alias("said"), F.col("read.payload_1").alias("texts")
        ),
    ).otherwise(
        let(
            parsed,
            lambda key: F.struct(
                key["schema"]["fields"].alias("said"),
                F.when(
                    is_wrapped & (key["payload"].isNotNull() | (F.size(names) == 2)), key["payload"]
                )
                .otherwise(exact(text))
                .alias("texts"),
            ),
        )
    )


def has_no_key(nothing: tuple[str, ...]) -> Column:
    """True for a message that is known to have no key."""
    texts = F.col("own_key.texts")
    # A key that is there and is no text is unknown.
    is_empty = F.col("is_double") | F.coalesce("message_key", "header").isNotNull()
    is_word = F.coalesce(F.trim(texts).isin(*written(nothing)), F.lit(False))
    return (F.col("is_keyless") & ~F.col("is_double")) | (is_empty & texts.isNull()) | is_word


def table_names() -> dict[str, Column]:
    """The table as ``source`` names it: a schema's name says less, for topics are routed and renamed."""
    told = {name: F.col(f"envelope.source.{name}") for name in ("db", "schema", "table")}
    db, schema, name = (F.when(F.trim(part) != "", part) for part in told.values())
    return {
        "catalog": F.when(schema.isNotNull(), db),
        "schema": F.coalesce(schema, db),
        "name": name,
    }


def since_1970(name: str) -> Column:
    """Milliseconds since 1970 as a time; 0 is what sources say that do not know it."""
    number = F.col(name).try_cast("bigint")
    return moment(F.when(number > 0, number))


def unreadable() -> Column:
    """Why a record holds no JSON object; null for tombstones, which need none."""
    return (
        F.when(F.col("defect").isNotNull(), fault("damaged_record", F.col("defect")))
        .when(~F.col("is_utf8"), fault("invalid_utf8", "the value is not valid UTF-8"))
        .when(F.col("is_tombstone"), F.lit(None).cast(NO_FAULT))
        .when(
            F.col("document").isNull(),
            fault("malformed_json", "not one JSON document, or a name stands twice in one object"),
        )
        .when(F.col("names").isNull(), fault("malformed_json", "the message is no JSON object"))
        .otherwise(F.lit(None).cast(NO_FAULT))
    )
