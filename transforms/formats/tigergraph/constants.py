"""What the feed declares of its types as constants of Spark's, for the engine of column expressions.

Not here: the declarations themselves (``tables``, ``reach``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.feed import EdgeType, Feed
from transforms.formats.tigergraph import reach, tables
from transforms.formats.tigergraph.reach import Reach
from transforms.formats.tigergraph.tables import ANY, edge_table, vertex_table

EDGE: Final = (
    "struct<name:string,is_reverse:boolean,directed:boolean,has_mirror:boolean,restricted:boolean,"
    "sources:array<string>,targets:array<string>,discriminator:array<string>,is_multi:boolean>"
)
"""What an event has to know of the edge type that it names; ``restricted``: the vendor rules out delete-all for it."""

REACH: Final = "struct<table:string,end:string>"
"""A table, and which end of its edges (``from``, ``to``) a scoped change of it names."""


def graphs(feed: Feed) -> Column:
    """By table, the graphs that have its type, where the feed says so."""
    known = {name: list(of) for name, of in tables.graphs(feed).items()}
    return constant(known, "map<string,array<string>>")


def attribute_types(feed: Feed) -> Column:
    """By a type's table, the types of its attributes."""
    known = {vertex_table(one.name): dict(one.attributes) for one in feed.vertices.values()}
    known |= {edge_table(one.name): dict(one.attributes) for one in feed.edges.values()}
    return constant(known, "map<string,map<string,string>>")


def vertex_keys(feed: Feed) -> Column:
    """By vertex type, what its uid is made of."""
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
    """By the names that events use, what is declared of edge types (``EDGE``)."""
    known = {}
    for edge in feed.edges.values():
        for name in (edge.name, edge.reverse):
            if name is not None:
                known[name] = {
                    "name": edge.name,
                    "is_reverse": name != edge.name,
                    "directed": edge.directed,
                    "has_mirror": tables.has_mirror(edge),
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
    """``reach.touching``."""
    return _reaches(reach.touching(feed))


def beginning(feed: Feed) -> Column:
    """``reach.beginning``."""
    return _reaches(reach.beginning(feed))


def beginning_at(feed: Feed) -> Column:
    """``reach.beginning_at``."""
    return _reaches(reach.beginning_at(feed))


def _reaches(known: Mapping[str, Sequence[Reach]]) -> Column:
    of_name = {name: [one._asdict() for one in every] for name, every in known.items()}
    return constant(of_name, f"map<string,array<{REACH}>>")


def constant(value: object, type_name: str) -> Column:
    """A nested constant: Spark reads it once, when it plans."""
    return F.from_json(F.lit(json.dumps(value)), type_name)
