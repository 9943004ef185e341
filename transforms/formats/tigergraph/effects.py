"""What a message does: its own change, and what follows from it without a message.

An edge brings its source vertex with it; a vertex, or all of a type, takes its edges along; a delete-all is for every
direction in which an edge is stored. Not here: reading the message (``message``).

Vendor: TigerGraph documentation, "CDC Message Examples" (implicit source vertices, implicit edge deletion).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats.tigergraph import constants, tables
from transforms.formats.tigergraph.message import (
    EDGE,
    OVERWRITE,
    VERTEX,
    VERTEX_TYPE,
    joined,
    no_texts,
)

EFFECT: Final = (
    "struct<name:string,operation:string,effect:string,before:map<string,string>,after:map<string,string>,"
    "attribute_ops:map<string,string>,scope:map<string,string>,derived:string,graph:string>"
)

EDGE_SOURCE: Final = "edge_source"
VERTEX_DELETED: Final = "vertex_deleted"
DELETE_ALL: Final = "delete_all"

IF_NEW: Final = "IgnoreIfExisted"


def effects(feed: Feed) -> Column:
    """All that a sound message does, itself first: an array of ``EFFECT``."""
    action = F.col("action")
    is_vertex, is_edge = F.col("kind") == VERTEX, F.col("kind") == EDGE
    is_insert = action.isin("insert", "insert-only")
    gone = F.transform("scopes", _scoped(VERTEX_DELETED))
    return (
        F.when(is_vertex & is_insert, F.array(vertex_merged()))
        .when(is_vertex, F.concat(F.array(vertex_removed()), gone))
        .when(F.col("kind") == VERTEX_TYPE, F.concat(F.array(type_removed()), gone))
        .when(is_edge & is_insert, F.array(edge_merged(), source_merged(feed)))
        .when(is_edge & (action == "delete"), F.array(edge_removed()))
        .otherwise(F.transform("scopes", _scoped(DELETE_ALL)))
    )


def scopes(feed: Feed) -> Column:
    """Where the edges are that a delete takes along: an array of a table and a ``scope`` of it each."""
    of_type = F.when(F.col("kind") == EDGE, F.col("from_type")).otherwise(F.col("typename"))
    uid = F.when(F.col("kind") == EDGE, F.col("from_uid")).otherwise(F.col("uid"))
    touching, beginning, at = (
        constants.touching(feed),
        constants.beginning(feed),
        constants.beginning_at(feed),
    )
    of_edge = F.when(F.col("typename").isNull(), _of_vertex_type(at, of_type)).otherwise(
        F.coalesce(
            F.try_element_at(beginning, F.col("typename")),
            # Of what nothing declares nothing is known but its name.
            F.array(F.struct(F.col("name").alias("table"), F.lit("from").alias("end"))),
        )
    )
    reach = (
        F.when((F.col("kind") == EDGE) & (F.col("action") == "delete-all"), of_edge)
        .when(F.col("kind").isin(VERTEX, VERTEX_TYPE), _of_vertex_type(touching, of_type))
        .otherwise(F.array().cast(f"array<{constants.REACH}>"))
    )

    def scope(one: Column) -> Column:
        its_type = F.create_map(F.concat(one["end"], F.lit("_type")), of_type)
        its_uid = F.create_map(F.concat(one["end"], F.lit("_uid")), uid)
        whole = F.when(F.col("kind") == VERTEX_TYPE, its_type).otherwise(
            F.map_concat(its_type, its_uid)
        )
        return F.struct(one["table"].alias("table"), whole.alias("scope"))

    return F.transform(reach, scope)


def _of_vertex_type(known: Column, of_type: Column) -> Column:
    return F.coalesce(F.try_element_at(known, of_type), F.try_element_at(known, F.lit(tables.ANY)))


def vertex_merged() -> Column:
    """A vertex with some of its attributes."""
    only_new = F.col("action") == "insert-only"
    after = F.map_concat(_uid(F.col("uid")), _with_keys(attributes(), F.col("keyed")))
    return _effect(F.col("name"), "merge", after=after, operations=operations(only_new))


def vertex_removed() -> Column:
    """One vertex is gone."""
    return _effect(F.col("name"), "remove", before=_uid(F.col("uid")))


def type_removed() -> Column:
    """All vertices of a type are gone."""
    return _effect(F.col("name"), "remove", scope=no_texts())


def edge_merged() -> Column:
    """An edge with some of its attributes."""
    after = F.map_concat(edge_key(), _with_keys(attributes(), F.col("keyed")))
    return _effect(F.col("name"), "merge", after=after, operations=operations(F.lit(False)))


def edge_removed() -> Column:
    """One edge is gone."""
    return _effect(F.col("name"), "remove", before=edge_key())


def source_merged(feed: Feed) -> Column:
    """The vertex where an edge begins, which the source makes without a message where it is missing."""
    table = F.concat(F.lit("vertex_"), F.col("from_type"))
    names = F.try_element_at(constants.vertex_keys(feed), F.col("from_type"))
    keys = joined(feed, names, F.col("from_uid"), ",", table)
    after = F.map_concat(_uid(F.col("from_uid")), keys)
    return _effect(table, "merge", after=after, derived=EDGE_SOURCE)


def edge_key() -> Column:
    """The edge's key as gold has it: the other way round for the direction that is not shown."""
    turned = {"from": "to", "to": "from"}
    pairs = []
    for name in tables.ENDS:
        end, _, part = name.partition("_")
        value = F.when(F.col("swapped"), F.col(f"{turned[end]}_{part}")).otherwise(F.col(name))
        pairs += [F.lit(name), value]
    discriminator = F.coalesce("discriminator", F.lit(""))
    return F.create_map(*pairs, F.lit(tables.DISCRIMINATOR), discriminator)


def attributes() -> Column:
    """The attributes that the message mentions, as texts."""
    pairs = F.transform("cells", lambda one: F.struct(one["name"], one["text"]))
    return F.coalesce(F.map_from_entries(pairs), no_texts())


def operations(only_new: Column) -> Column:
    """What is done to attributes that are not plainly overwritten."""
    others = F.filter("cells", lambda one: only_new | (one["op"] != OVERWRITE))
    named = F.transform(
        others,
        lambda one: F.struct(one["name"], F.when(only_new, F.lit(IF_NEW)).otherwise(one["op"])),
    )
    return F.coalesce(F.map_from_entries(named), no_texts())


def _with_keys(mentioned: Column, keys: Column) -> Column:
    """What is mentioned, and of the keys what is not."""
    return F.map_concat(
        F.map_filter(keys, lambda name, _: ~F.map_contains_key(mentioned, name)), mentioned
    )


def _uid(uid: Column) -> Column:
    return F.create_map(F.lit(tables.UID), uid)


def _scoped(reason: str) -> Callable[[Column, Column], Column]:
    """A scoped remove; of a delete-all the first is the message itself."""

    def effect(one: Column, at: Column) -> Column:
        derived = F.lit(reason)
        if reason == DELETE_ALL:
            derived = F.when(at > 0, F.lit(reason))
        return _effect(one["table"], "remove", scope=one["scope"], derived=derived)

    return effect


def _effect(
    name: Column,
    effect: str,
    *,
    before: Column | None = None,
    after: Column | None = None,
    operations: Column | None = None,
    scope: Column | None = None,
    derived: Column | str | None = None,
) -> Column:
    if not isinstance(derived, Column):
        derived = F.lit(derived)
    return F.struct(
        name.alias("name"),
        F.col("action").alias("operation"),
        F.lit(effect).alias("effect"),
        (no_texts() if before is None else before).alias("before"),
        (no_texts() if after is None else after).alias("after"),
        (no_texts() if operations is None else operations).alias("attribute_ops"),
        (F.lit(None) if scope is None else scope).cast("map<string,string>").alias("scope"),
        derived.cast("string").alias("derived"),
        F.lit(None).alias("graph"),
    ).cast(EFFECT)
