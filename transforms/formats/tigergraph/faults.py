"""Why a message cannot be taken: each function gives a fault, or null where there is none.

Not here: values and operations that the declared types cannot take (``silver``).
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats.spec import NO_FAULT, fault
from transforms.formats.tigergraph import values
from transforms.formats.tigergraph.message import (
    EDGE,
    OVERWRITE,
    VERTEX,
    VERTEX_TYPE,
    fits_ends,
    fits_turned,
    given,
)
from transforms.gold.operations import UNSIGNED

OPERATORS = {
    VERTEX: ("insert", "insert-only", "delete"),
    VERTEX_TYPE: ("delete",),
    EDGE: ("insert", "delete", "delete-all"),
}
"""What each type of message may ask for; ``deleted`` is delete."""

ATTRIBUTE_OPERATIONS = (
    *(OVERWRITE, "Add", "Max", "Min", "And", "Or", "IgnoreIfExisted", "Minus", "ReplaceOrAdd"),
)

LOST = "UNKNOWN"
"""What stands for an id that the source has lost."""


def first_fault(feed: Feed) -> Column:
    """The first that a message has."""
    return F.coalesce(
        unreadable(),
        missing(),
        unknown(),
        lost_vertex(),
        ends(),
        delete_all(),
        attributes(feed),
        F.lit(None).cast(NO_FAULT),
    )


def unreadable() -> Column:
    """What is no JSON object."""
    return (
        F.when(F.col("defect").isNotNull(), fault("damaged_record", F.col("defect")))
        .when(F.col("is_null"), fault("empty_message", "the Kafka record has no value"))
        .when(~F.col("is_utf8"), fault("invalid_utf8", "the message is not valid UTF-8"))
        .when(
            F.col("document").isNull(),
            fault("malformed_json", "not JSON, or a name stands twice in one object"),
        )
        .when(F.col("fields").isNull(), fault("malformed_json", "the document is no JSON object"))
    )


def missing() -> Column:
    """A message without what every one of its type has."""
    is_vertex, is_edge = F.col("kind") == VERTEX, F.col("kind") == EDGE
    is_all = F.col("action") == "delete-all"
    of_edge = is_edge & ~F.coalesce(is_all, F.lit(False))
    needed = {
        "mid": F.lit(True),
        "operator": F.lit(True),
        "type": F.lit(True),
        "typename": is_vertex | (F.col("kind") == VERTEX_TYPE) | of_edge,
        "uid": is_vertex,
        "from.type": is_edge,
        "from.uid": is_edge,
        "to.type": of_edge,
        "to.uid": of_edge,
        # Of a type that has several edges between two vertices only this says which is meant.
        "discriminator": of_edge & F.coalesce("edge.is_multi", F.lit(False)),
    }
    columns = {"type": "kind"}
    lacking = F.array(
        *[
            F.when(when & F.col(columns.get(name, name.replace(".", "_"))).isNull(), F.lit(name))
            for name, when in needed.items()
        ]
    )
    names = F.filter(lacking, lambda name: name.isNotNull())
    return F.when(
        F.size(names) > 0, fault("missing_field", "the message lacks ", F.array_join(names, ", "))
    )


def unknown() -> Column:
    """A type, an operator or an id that nobody has told of."""
    known = F.lit(False)
    for kind, operators in OPERATORS.items():
        known = known | ((F.col("kind") == kind) & F.col("action").isin(*operators))
    return (
        F.when(
            ~F.col("kind").isin(*OPERATORS),
            fault("unknown_type", "type ", F.col("kind"), "; known: ", ", ".join(OPERATORS)),
        )
        .when(
            ~known,
            fault(
                "unknown_operation",
                *("operator ", F.col("operator"), " of type ", F.col("kind"), " is not known"),
            ),
        )
        .when(
            F.col("position").isNull(),
            fault(
                "unknown_mid",
                *("mid is ", F.col("mid"), "; known: partition|timestamp|tid|index and"),
                " partition|timestamp|tid|split_index|index, all numbers",
            ),
        )
    )


def lost_vertex() -> Column:
    """A vertex whose id the source itself does not know any more."""
    is_lost = F.greatest(*[F.col(name) == LOST for name in ("uid", "from_uid", "to_uid")])
    return F.when(
        is_lost,
        fault(
            "unknown_uid",
            "the uid is UNKNOWN: the source has lost its ids (a reset of its storage), and no vertex can be told",
        ),
    )


def ends() -> Column:
    """An edge between vertex types that its type is not declared for."""
    shown = (F.col("from_type"), " to ", F.col("to_type"))
    of_one = F.col("action").isin("insert", "delete")
    strange = (F.col("kind") == EDGE) & of_one & F.col("edge").isNotNull()
    # Of an undirected edge either end may come first; the others were turned round where they had to be.
    either = fits_ends() | fits_turned()
    fit = (
        F.when(~F.col("edge.directed"), either)
        .when(F.col("swapped"), fits_turned())
        .otherwise(fits_ends())
    )
    return F.when(
        strange & ~fit,
        fault("undeclared_end", "the edge goes from ", *shown, ", which the feed does not declare"),
    )


def delete_all() -> Column:
    """A delete-all that says more than it may, or less than is needed to know what it is for."""
    is_all = F.col("action") == "delete-all"
    more = F.array_compact(
        F.array(
            F.when(F.col("to_uid").isNotNull() | F.col("to_type").isNotNull(), F.lit("a target")),
            F.when(F.col("discriminator").isNotNull(), F.lit("a discriminator")),
        )
    )
    return F.when(
        is_all & (F.size(more) > 0),
        fault(
            "narrowed_delete_all",
            "delete-all is for all edges of a vertex, and this one names ",
            F.array_join(more, " and "),
        ),
    ).when(
        is_all & (F.size("scopes") == 0),
        fault(
            "unknown_edges",
            "the message names no edge type, and the feed declares none that begins at ",
            F.col("from_type"),
        ),
    )


def attributes(feed: Feed) -> Column:
    """The first attribute without an operation or a value, with an unknown one, or beyond 64 bits."""
    is_insert = F.col("action").isin("insert", "insert-only")
    shapeless = given("$.content") & F.col("cells").isNull()
    bare = F.get(F.filter("cells", lambda one: one["op"].isNull() | ~one["is_given"]), F.lit(0))
    strange = F.get(F.filter("cells", lambda one: ~one["op"].isin(*ATTRIBUTE_OPERATIONS)), F.lit(0))
    beyond = F.get(
        F.filter(
            "cells",
            lambda one: (one["kind"] == UNSIGNED) & values.is_beyond_unsigned(one["text"]),
        ),
        F.lit(0),
    )
    return (
        F.when(
            is_insert & shapeless,
            fault(
                "malformed_content",
                "content is no JSON object of attributes, or two of them have one name in gold",
            ),
        )
        .when(
            is_insert & bare.isNotNull(),
            fault("missing_field", "attribute ", bare["name"], " lacks its op or its value"),
        )
        .when(
            is_insert & strange.isNotNull(),
            fault(
                "unknown_operation",
                *("op ", strange["op"], " of attribute ", strange["name"], " is not known"),
            ),
        )
        .when(
            is_insert & beyond.isNotNull(),
            fault(
                "value_does_not_fit",
                *(
                    beyond["name"],
                    " is ",
                    beyond["text"],
                    ", which no unsigned number of 64 bits is",
                ),
            ),
        )
    )
