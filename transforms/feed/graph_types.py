"""What the feeds of graph databases declare: predicates of Dgraph, vertex and edge types of TigerGraph.

Put here one dataclass per kind of declaration. Not here: the gold tables that follow from them, which the format gives
(``SourceFormat.tables``), and reading the feed file (``orchestration/feeds``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Predicate:
    """One predicate of Dgraph.

    ``type``: Dgraph's name of its values' type; None where the feed file gives none. ``list``: whether a node may have
    several values of it.
    """

    name: str
    type: str | None = None
    list: bool = False


@dataclass(frozen=True, slots=True)
class VertexType:
    """One vertex type of TigerGraph: ``attributes`` with Spark SQL types, ``defaults`` as texts, ``key`` by name.

    ``graphs`` are those that have it, or ``GLOBAL``; empty where the feed file names none.
    """

    name: str
    attributes: Mapping[str, str]
    key: tuple[str, ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    graphs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EdgeType:
    """One edge type of TigerGraph; ``sources`` and ``targets`` are the vertex types of its two ends.

    ``reverse`` is the name of the type of its mirrored edges, ``discriminator`` the attributes that tell its edges
    between two vertices apart. ``graphs``: as of vertex types.
    """

    name: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    attributes: Mapping[str, str]
    directed: bool = True
    reverse: str | None = None
    discriminator: tuple[str, ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    graphs: tuple[str, ...] = ()
