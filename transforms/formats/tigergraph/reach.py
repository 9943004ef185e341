"""Which edges a delete takes along: the tables that it is for, and the end of their edges that it names.

A vertex, or all of a type, takes every edge that begins or ends there; a delete-all takes those that begin there, in
every direction in which the source stores them. Put here where the edges are, by vertex type and by edge type. Not
here: what such a delete looks like (``consequences``).

Vendor: TigerGraph documentation, "CDC Message Examples" (implicit edge deletion, restrictions for delete-all).
"""

from __future__ import annotations

from typing import NamedTuple

from transforms.feed.feed import Feed
from transforms.feed.graph_types import EdgeType
from transforms.formats.tigergraph.tables import ANY, stored_in


class Reach(NamedTuple):
    """A table of edges, and which end of them (``from``, ``to``) a range delete of it names."""

    table: str
    end: str


def touching(feed: Feed) -> dict[str, tuple[Reach, ...]]:
    """By vertex type (``ANY``: those that nothing declares), where its edges are."""
    found = {}
    for name in _vertex_names(feed):
        found[name] = tuple(
            Reach(table, end)
            for edge in feed.edges.values()
            for table in stored_in(edge)
            for end in _ends_at(edge, name)
        )
    return found


def beginning(feed: Feed) -> dict[str, tuple[Reach, ...]]:
    """By an edge type's name, its reverse type's included, where its edges from a vertex are."""
    found = {}
    for edge in feed.edges.values():
        found[edge.name] = _beginning(edge)
        if edge.reverse is not None:
            found[edge.reverse] = tuple(Reach(table, "to") for table in reversed(stored_in(edge)))
    return found


def beginning_at(feed: Feed) -> dict[str, tuple[Reach, ...]]:
    """By vertex type (``ANY``: those that nothing declares), where all edges from one of its vertices are."""
    return {
        name: tuple(
            one
            for edge in feed.edges.values()
            if _begins_at(edge, name)
            for one in _beginning(edge)
        )
        for name in _vertex_names(feed)
    }


def _beginning(edge: EdgeType) -> tuple[Reach, ...]:
    ends = ("from",) if edge.directed else ("from", "to")
    return tuple(Reach(table, end) for table in stored_in(edge) for end in ends)


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
