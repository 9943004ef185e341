"""What an event does to the triples: sets, deletes and drops.

Vendor: dgraph-io/dgraph v25.3.8, posting/index.go (addMutationHelper), worker/cdc.go (toCDCEvent).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.change import TEXTS
from transforms.formats.dgraph.exports import RESERVED
from transforms.formats.spec import fault, remarks

DROPS = {
    "all": "drop_all",
    "data": "drop_data",
    # The code says predicate, the documentation attribute.
    "predicate": "drop_predicate",
    "attribute": "drop_predicate",
    "type": "drop_type",
}

REMOVING = ("drop_all", "drop_data", "drop_predicate")


def with_effects(said: DataFrame, table: str) -> DataFrame:
    """The events with what they do: ``operation``, ``effect``, images, ``scope``, ``remarks`` and ``fault``."""
    nothing = F.lit(None).cast("string")
    return (
        said.withColumn("operation", operation())
        .withColumn("fault", F.coalesce("fault", operation_fault(), lost_fault()))
        .withColumn("is_noted", is_noted())
        .withColumn("effect", effect())
        .withColumn("scope", scope())
        .withColumns({"before": before(), "after": after()})
        .withColumn("remarks", remarked())
        .withColumns({"catalog": nothing, "schema": nothing, "name": F.lit(table)})
        .withColumn("segment", F.lit(None).cast("bigint"))
        .withColumn("event_at", F.lit(None).cast("timestamp"))
        .withColumn("extracted_at", F.col("sent_at"))
        .withColumn("position", F.when(F.col("commit_ts").isNotNull(), F.col("position")))
    )


def operation() -> Column:
    """What Dgraph did: set, del, a drop by its kind, or read for a triple of an export; null where it is unknown."""
    known = F.create_map(*[F.lit(part) for pair in DROPS.items() for part in pair])
    return (
        F.when(F.col("kind") == "export", F.lit("read"))
        .when((F.col("kind") == "mutation") & F.col("op").isin("set", "ovr"), F.lit("set"))
        .when((F.col("kind") == "mutation") & (F.col("op") == "del"), F.lit("del"))
        .when(F.col("kind") == "drop", F.try_element_at(known, F.col("op")))
    )


def operation_fault() -> Column:
    """An operation that nobody knows, or a drop that does not say of what."""
    return F.when(
        F.col("operation").isNull(),
        fault(
            "unknown_operation",
            *(F.col("kind"), " ", F.col("op"), " is not known"),
            "; known: mutation set, del, ovr; drop all, data, predicate, attribute, type",
        ),
    ).when(
        (F.col("operation") == "drop_predicate") & F.col("attr").isNull(),
        fault("missing_field", "the drop of a predicate lacks event.pred"),
    )


def lost_fault() -> Column:
    """A delete of a value that the stream has lost: it is of one value, and nothing tells of which."""
    return F.when(
        (F.col("operation") == "del") & F.col("is_lost"),
        fault(
            "value_lost",
            *("a delete of one value of ", F.col("attr"), ", which is a ", F.col("value_type")),
            ": Dgraph writes it as {}, so that nothing tells which value, or whether it was there",
        ),
    )


def is_noted() -> Column:
    """True for what says nothing of any triple: a dropped type, a password, what Dgraph keeps for itself."""
    is_password = (F.col("value_type") == "password") & ~F.col("is_star")
    is_reserved = F.col("is_export") & F.col("attr").startswith(RESERVED)
    return F.coalesce((F.col("operation") == "drop_type") | is_password | is_reserved, F.lit(False))


def effect() -> Column:
    """A set puts; a delete removes: a member, a single value if it is the one named, or all values."""
    return (
        F.when(F.col("is_noted"), F.lit("note"))
        .when(F.col("operation").isin("set", "read"), F.lit("put"))
        .when((F.col("operation") == "del") & ~F.col("is_star") & ~F.col("in_list"), "remove_if")
        .otherwise(F.lit("remove"))
    )


def scope() -> Column:
    """What a drop, or a delete of all values of a list, is for."""
    none = F.create_map().cast(TEXTS)
    namespace = (F.lit("namespace"), F.col("namespace"))
    predicate = (F.lit("predicate"), F.col("attr"))
    is_single = F.coalesce(~F.col("in_list"), F.lit(False))
    return (
        F.when(F.col("is_noted") | F.col("fault").isNotNull(), F.lit(None).cast(TEXTS))
        .when(F.col("operation") == "drop_all", none)
        .when(F.col("operation") == "drop_data", F.create_map(*namespace))
        .when(F.col("operation") == "drop_predicate", F.create_map(*namespace, *predicate))
        .when(
            F.col("is_star") & ~is_single,
            F.create_map(*namespace, F.lit("uid"), F.col("uid"), *predicate),
        )
    )


def key() -> list[Column]:
    """The key of the triple, as pairs of a map."""
    is_member = F.coalesce(F.col("in_list"), F.lit(False)) & ~F.col("is_lost")
    member = F.when(is_member, F.col("value")).otherwise(F.lit(""))
    return [
        *(F.lit("namespace"), F.col("namespace"), F.lit("uid"), F.col("uid")),
        *(F.lit("predicate"), F.col("attr"), F.lit("_weir_member"), member),
    ]


def before() -> Column:
    """Of a delete the key, and the value where that decides."""
    value = [F.lit("value"), F.col("value"), F.lit("value_type"), F.col("value_type")]
    return _image(
        F.when(F.col("effect") == "remove_if", F.create_map(*key(), *value)).when(
            F.col("operation") == "del", F.create_map(*key())
        )
    )


def after() -> Column:
    """Of a set the whole triple."""
    value = [F.lit("value"), F.col("value"), F.lit("value_type"), F.col("value_type")]
    return _image(F.when(F.col("effect") == "put", F.create_map(*key(), *value)))


def _image(image: Column) -> Column:
    is_of_one = F.col("scope").isNull() & F.col("fault").isNull() & ~F.col("is_noted")
    return F.coalesce(F.when(is_of_one, image), F.create_map()).cast(TEXTS)


def remarked() -> Column:
    """What is worth knowing of the event."""
    is_mutation = F.col("kind").isin("mutation", "export") & F.col("fault").isNull()
    is_set = F.col("operation").isin("set", "read")
    is_password = F.col("value_type") == "password"
    return F.when(
        F.col("fault").isNull(),
        remarks(
            no_namespace=~F.col("has_key") & (F.col("operation") != "drop_all"),
            undeclared_predicate=is_mutation & ~F.col("is_declared") & ~F.col("is_noted"),
            ambiguous_language=(F.col("kind") == "mutation")
            & (F.col("operation") == "set")
            & ~F.col("in_list")
            & ~F.col("is_noted")
            & F.col("value_type").isin("string", "default")
            & (F.col("sets") > 1),
            drop_behind=F.col("operation").isin(*REMOVING) & F.col("is_behind"),
            value_lost=is_set & F.col("is_lost"),
            password_masked=is_mutation & is_password & ~F.col("is_star"),
            facets_left_out=F.col("has_facets") & ~F.col("is_noted"),
        ),
    ).otherwise(F.lit(None).cast("array<string>"))
