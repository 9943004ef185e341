"""The gold tables that follow from a feed's vertex and edge types, and which of them an event reaches.

Every type is one table. An edge that the source stores in both directions (undirected, or with a reverse type) has a
second one for the other direction, under the same keys: each stored direction is folded by itself, and a check compares
the two. Not here: what an event does (``effects``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms import typed_columns as types
from transforms.feed import EdgeType, Feed, Table

UID: Final = "uid"
ENDS: Final = ("from_type", "from_uid", "to_type", "to_uid")
DISCRIMINATOR: Final = "discriminator"
ANY: Final = "*"
"""Instead of vertex types: an edge type whose ends may be of every type."""

GLOBAL: Final = "GLOBAL"
"""What stands for the graph of a type that all graphs share."""

MIRROR: Final = "__mirror"

EDGE: Final = (
    "struct<name:string,is_reverse:boolean,directed:boolean,has_mirror:boolean,restricted:boolean,"
    "sources:array<string>,targets:array<string>,discriminator:array<string>,is_multi:boolean>"
)
"""What an event has to know of the edge type that it names; ``restricted``: the vendor rules out delete-all for it."""

REACH: Final = "struct<table:string,end:string>"
"""A table, and which end of its edges (``from``, ``to``) a scoped change of it names."""


def vertex_table(name: str) -> str:
    """The table of a vertex type."""
    return f"vertex_{name}"


def edge_table(name: str) -> str:
    """The table of an edge type."""
    return f"edge_{name}"


def shared(feed: Feed) -> list[str]:
    """The vertex types of which the feed says that all graphs share them."""
    return [name for name, vertex in feed.vertices.items() if vertex.graphs == (GLOBAL,)]


def graphs(feed: Feed) -> Column:
    """By table, the graphs that have its type, where the feed says so; a constant."""
    known = {vertex_table(one.name): list(one.graphs) for one in feed.vertices.values()}
    known |= {table: list(one.graphs) for one in feed.edges.values() for table in stored_in(one)}
    return constant({name: of for name, of in known.items() if of}, "map<string,array<string>>")


def has_mirror(edge: EdgeType) -> bool:
    """Whether the source stores each of its edges twice."""
    return not edge.directed or edge.reverse is not None


def stored_in(edge: EdgeType) -> tuple[str, ...]:
    """The tables of an edge type, the one that is shown first."""
    shown = edge_table(edge.name)
    return (shown, shown + MIRROR) if has_mirror(edge) else (shown,)


def tables(feed: Feed) -> Mapping[str, Table]:
    """The gold tables of a feed, by name."""
    found = {}
    for vertex in feed.vertices.values():
        name = vertex_table(vertex.name)
        columns = {UID: "string", **vertex.attributes}
        given = {**_defaults(vertex.attributes), **vertex.defaults}
        found[name] = Table(name, (UID,), columns, tuple(columns), defaults=given)
    for edge in feed.edges.values():
        key = (*ENDS, DISCRIMINATOR)
        columns = {**dict.fromkeys(key, "string"), **edge.attributes}
        given = {**_defaults(edge.attributes), **edge.defaults}
        for name in stored_in(edge):
            found[name] = Table(name, key, columns, tuple(columns), defaults=given)
    return found


def _defaults(attributes: Mapping[str, str]) -> dict[str, str]:
    """What an attribute that was never mentioned is, where the schema says nothing else."""
    known = {name: default_of(kind) for name, kind in attributes.items()}
    return {name: text for name, text in known.items() if text is not None}


_BARE: Final = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double", "boolean")


def default_of(type_name: str) -> str | None:
    """The default of a type, as TigerGraph's documentation has it; None for types that it does not have."""
    if types.element(type_name) is not None:
        return "[]"
    if types.entries(type_name) is not None:
        return "{}"
    if fields := types.fields(type_name):
        of_fields = {name: default_of(kind) for name, kind in fields.items()}
        # Numbers and truths stand bare, as JSON has them.
        texts = {
            name: text if kind.startswith(_BARE) or text is None else json.dumps(text)
            for (name, text), kind in zip(of_fields.items(), fields.values(), strict=True)
        }
        spelled = [f"{json.dumps(name)}:{text or 'null'}" for name, text in texts.items()]
        return "{" + ",".join(spelled) + "}"
    if type_name in ("tinyint", "smallint", "int", "bigint") or type_name.startswith("decimal"):
        return "0"
    usual = {
        **dict.fromkeys(("float", "double"), "0.0"),
        "boolean": "false",
        "string": "",
        "date": "1970-01-01",
        "timestamp": "1970-01-01 00:00:00",
        "timestamp_ntz": "1970-01-01 00:00:00",
    }
    return usual.get(type_name)


def attribute_types(feed: Feed) -> Column:
    """By a type's table, the types of its attributes; a constant."""
    known = {vertex_table(one.name): dict(one.attributes) for one in feed.vertices.values()}
    known |= {edge_table(one.name): dict(one.attributes) for one in feed.edges.values()}
    return constant(known, "map<string,map<string,string>>")


def vertex_keys(feed: Feed) -> Column:
    """By vertex type, what its uid is made of; a constant."""
    keys = {name: named(one.key, one.attributes) for name, one in feed.vertices.items()}
    return constant(keys, "map<string,array<string>>")


def named(parts: Sequence[str], attributes: Mapping[str, str]) -> list[str]:
    """The attributes that a joined text has the values of, empty for what gold has no column of; none without any."""
    names = [part if part in attributes else "" for part in parts]
    return names if any(names) else []


def key_types(feed: Feed) -> list[str]:
    """The types that attributes may have whose values stand in joined texts."""
    keys = [(one.key, one.attributes) for one in feed.vertices.values()]
    keys += [(one.discriminator, one.attributes) for one in feed.edges.values()]
    return sorted(
        {attributes[part] for key, attributes in keys for part in key if part in attributes}
    )


def edge_types(feed: Feed) -> Column:
    """By the names that events use, what is declared of edge types (``EDGE``); a constant."""
    known = {}
    for edge in feed.edges.values():
        for name in (edge.name, edge.reverse):
            if name is not None:
                known[name] = {
                    "name": edge.name,
                    "is_reverse": name != edge.name,
                    "directed": edge.directed,
                    "has_mirror": has_mirror(edge),
                    "restricted": is_restricted(edge),
                    "sources": list(edge.sources),
                    "targets": list(edge.targets),
                    "discriminator": named(edge.discriminator, edge.attributes),
                    "is_multi": bool(edge.discriminator),
                }
    return constant(known, f"map<string,{EDGE}>")


def is_restricted(edge: EdgeType) -> bool:
    """Whether the vendor's document rules out delete-all for the type."""
    several = len(edge.targets) > 1 or ANY in edge.targets
    return several or bool(edge.discriminator) or edge.reverse is not None


def touching(feed: Feed) -> Column:
    """By vertex type (``ANY``: those that nothing declares), where its edges are; a constant."""
    found = {}
    for name in _vertex_names(feed):
        reach = []
        for edge in feed.edges.values():
            ends = _ends_at(edge, name)
            reach += [_reach(table, end) for table in stored_in(edge) for end in ends]
        found[name] = reach
    return constant(found, f"map<string,array<{REACH}>>")


def beginning(feed: Feed) -> Column:
    """By an edge type's name, where its edges from a vertex are; a constant."""
    found = {}
    for edge in feed.edges.values():
        found[edge.name] = _beginning(edge)
        if edge.reverse is not None:
            found[edge.reverse] = [_reach(table, "to") for table in reversed(stored_in(edge))]
    return constant(found, f"map<string,array<{REACH}>>")


def beginning_at(feed: Feed) -> Column:
    """By vertex type, where all edges from one of its vertices are; a constant."""
    found = {}
    for name in _vertex_names(feed):
        types_here = [edge for edge in feed.edges.values() if _begins_at(edge, name)]
        found[name] = [one for edge in types_here for one in _beginning(edge)]
    return constant(found, f"map<string,array<{REACH}>>")


def _beginning(edge: EdgeType) -> list[dict[str, str]]:
    ends = ("from",) if edge.directed else ("from", "to")
    return [_reach(table, end) for table in stored_in(edge) for end in ends]


def _begins_at(edge: EdgeType, name: str) -> bool:
    ends = edge.sources if edge.directed else (*edge.sources, *edge.targets)
    return name in ends or ANY in ends


def _ends_at(edge: EdgeType, name: str) -> tuple[str, ...]:
    """Which ends of such an edge a vertex of this type may be; of an undirected one both, for they are sorted."""
    is_source = name in edge.sources or ANY in edge.sources
    is_target = name in edge.targets or ANY in edge.targets
    if not edge.directed:
        is_source = is_target = is_source or is_target
    return ("from",) * is_source + ("to",) * is_target


def _vertex_names(feed: Feed) -> list[str]:
    ends = [end for edge in feed.edges.values() for end in (*edge.sources, *edge.targets)]
    return sorted({*feed.vertices, *ends, ANY})


def _reach(table: str, end: str) -> dict[str, str]:
    return {"table": table, "end": end}


def constant(value: object, type_name: str) -> Column:
    """A nested constant: Spark reads it once, when it plans."""
    return F.from_json(F.lit(json.dumps(value)), type_name)
