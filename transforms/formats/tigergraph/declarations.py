"""What a feed declares of TigerGraph's types, as messages ask for it: worked out once for a feed.

Put here what is looked up for a message, by the names that messages use. Not here: the gold tables (``tables``), and
reading the feed file (``orchestration/feeds/graphs/tigergraph.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from transforms.feed.feed import Feed
from transforms.feed.graph_types import EdgeType, VertexType
from transforms.formats.tigergraph import reach, tables
from transforms.formats.tigergraph.contents import Attribute, attribute
from transforms.formats.tigergraph.reach import Reach
from transforms.formats.tigergraph.tables import ANY, MIRROR, edge_table, vertex_table
from transforms.formats.tigergraph.texts.joined_texts import NOTHING_JOINED, Joined, joined


class Vertex(NamedTuple):
    """A vertex type: its table, its attributes, and which of them its uid is made of."""

    table: str
    attributes: Mapping[str, Attribute]
    key: Joined


class Edge(NamedTuple):
    """An edge type under a name that messages use, its own or its reverse type's (``is_reverse``).

    ``mirror`` is the table of the other direction, which only those with ``has_mirror`` have. ``is_restricted``: the
    vendor rules out a delete-all of such edges. ``is_multi``: several may go between two vertices.
    """

    table: str
    mirror: str
    attributes: Mapping[str, Attribute]
    discriminator: Joined
    is_reverse: bool
    is_directed: bool
    has_mirror: bool
    is_restricted: bool
    is_multi: bool
    sources: frozenset[str]
    targets: frozenset[str]

    def fits(self, source: str | None, target: str | None) -> bool:
        """Whether such an edge may go from a vertex of one type to one of the other."""
        sources, targets = self.sources, self.targets
        return (source in sources or ANY in sources) and (target in targets or ANY in targets)


@dataclass(frozen=True, slots=True)
class Declared:
    """Everything that a feed declares of its graph.

    ``vertices``, ``edges``: by the type names that messages use. ``graphs``: by table, the graphs that have it.
    ``touching``, ``beginning`` and ``beginning_at``: see ``reach``. ``baseline``: by partition, the last tid that a
    restored backup holds. ``names_graphs``: whether tables are named by their graph, too.
    """

    vertices: Mapping[str, Vertex]
    edges: Mapping[str, Edge]
    graphs: Mapping[str, tuple[str, ...]]
    touching: Mapping[str, tuple[Reach, ...]]
    beginning: Mapping[str, tuple[Reach, ...]]
    beginning_at: Mapping[str, tuple[Reach, ...]]
    baseline: Mapping[str, int]
    names_graphs: bool

    def vertex(self, name: str) -> Vertex:
        """What is known of a vertex type; of one that nothing declares that is its table."""
        return self.vertices.get(name) or Vertex(vertex_table(name), {}, NOTHING_JOINED)


def declared(feed: Feed) -> Declared:
    """What the feed declares."""
    edges = {}
    for edge in feed.edges.values():
        for name in (edge.name, edge.reverse):
            if name is not None:
                edges[name] = _edge(edge, is_reverse=name != edge.name)
    return Declared(
        vertices={vertex.name: _vertex(vertex) for vertex in feed.vertices.values()},
        edges=edges,
        graphs=tables.graphs(feed),
        touching=reach.touching(feed),
        beginning=reach.beginning(feed),
        beginning_at=reach.beginning_at(feed),
        baseline=dict(feed.baseline),
        names_graphs=feed.table_names != "plain",
    )


def _vertex(vertex: VertexType) -> Vertex:
    key = joined(vertex.key, vertex.attributes, ",")
    return Vertex(vertex_table(vertex.name), _attributes(vertex.attributes), key)


def _edge(edge: EdgeType, *, is_reverse: bool) -> Edge:
    several = len(edge.targets) > 1 or ANY in edge.targets
    return Edge(
        table=edge_table(edge.name),
        mirror=edge_table(edge.name) + MIRROR,
        attributes=_attributes(edge.attributes),
        discriminator=joined(edge.discriminator, edge.attributes, ":"),
        is_reverse=is_reverse,
        is_directed=edge.directed,
        has_mirror=tables.has_mirror(edge),
        is_restricted=several or bool(edge.discriminator) or edge.reverse is not None,
        is_multi=bool(edge.discriminator),
        sources=frozenset(edge.sources),
        targets=frozenset(edge.targets),
    )


def _attributes(types: Mapping[str, str]) -> dict[str, Attribute]:
    return {name: attribute(type_name) for name, type_name in types.items()}
