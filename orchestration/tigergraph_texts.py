"""TigerGraph's vertex and edge types as a feed file declares them.

Not here: what gold makes of them (``transforms/formats/tigergraph``).
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestration.feed_keys import DeclaredEdge, DeclaredVertex
from orchestration.table_texts import Misdeclared
from transforms.feed import EdgeType, VertexType


def vertices_from(
    declared: Mapping[str, DeclaredVertex], misdeclared: Misdeclared
) -> dict[str, VertexType]:
    """The vertex types by name.

    Raises:
        FeedMisdeclared: something in them cannot be.
    """
    return {
        name: VertexType(name, one.attributes, tuple(one.key), one.defaults)
        for name, one in declared.items()
    }


def edges_from(
    declared: Mapping[str, DeclaredEdge],
    vertices: Mapping[str, DeclaredVertex],
    misdeclared: Misdeclared,
) -> dict[str, EdgeType]:
    """The edge types by name.

    Raises:
        FeedMisdeclared: something in them cannot be.
    """
    return {
        name: EdgeType(
            name,
            tuple(one.sources),
            tuple(one.targets),
            one.attributes,
            one.directed,
            one.reverse,
            tuple(one.discriminator),
            one.defaults,
        )
        for name, one in declared.items()
    }
