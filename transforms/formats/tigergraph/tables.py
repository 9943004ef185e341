"""The gold tables that follow from a feed's vertex and edge types.

Every type is one table. An edge that the source stores in both directions (undirected, or with a reverse type) has a
second one for the other direction, under the same keys: each stored direction is folded by itself, and a check compares
the two. Put here what gold calls its tables and columns of a graph. Not here: which of them a delete reaches
(``reach``), and what a message does (``consequences``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from transforms import types
from transforms.feed.feed import Feed, Table
from transforms.feed.graph_types import EdgeType

UID: Final = "uid"
ENDS: Final = ("from_type", "from_uid", "to_type", "to_uid")
DISCRIMINATOR: Final = "discriminator"
OWN_COLUMNS: Final = frozenset((UID, *ENDS, DISCRIMINATOR))
"""What gold calls its own columns, in lower case: attributes that are called so get another name."""

ANY: Final = "*"
"""Instead of vertex types: an edge type whose ends may be of every type."""

GLOBAL: Final = "GLOBAL"
"""What stands for the graph of a type that all graphs share."""

MIRROR: Final = "__mirror"


def vertex_table(name: str) -> str:
    """The table of a vertex type."""
    return f"vertex_{name}"


def edge_table(name: str) -> str:
    """The table of an edge type."""
    return f"edge_{name}"


def shared(feed: Feed) -> list[str]:
    """The vertex types of which the feed says that all graphs share them."""
    return [name for name, vertex in feed.vertices.items() if vertex.graphs == (GLOBAL,)]


def graphs(feed: Feed) -> dict[str, tuple[str, ...]]:
    """By table, the graphs that have its type, where the feed says so."""
    known = {vertex_table(one.name): one.graphs for one in feed.vertices.values()}
    known |= {table: one.graphs for one in feed.edges.values() for table in stored_in(one)}
    return {name: of for name, of in known.items() if of}


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
