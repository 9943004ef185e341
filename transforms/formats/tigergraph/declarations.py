"""What a feed declares of a graph: its gold tables, attributes, and which edges a delete takes along.

Every type is one table. An edge that the source stores in both directions (undirected, or with a reverse type) has a
second one for the other direction, under the same keys: each stored direction is folded by itself, and a check
compares the two.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NamedTuple

from transforms.column_types.column_type import ColumnType
from transforms.column_types.nested import Array, Map, Struct
from transforms.column_types.numbers import DecimalNumber, FloatingNumber, WholeNumber
from transforms.column_types.registry import UNSIGNED, column_type
from transforms.column_types.texts import Boolean, String
from transforms.column_types.times import Date, Timestamp
from transforms.event import Value
from transforms.fault import Fault, shown
from transforms.feed.feed import EdgeType, Feed, Table, VertexType
from transforms.formats.tigergraph.texts import (
    NOTHING_JOINED,
    Joined,
    Spell,
    joined_text,
    minus_speller,
    speller,
)
from transforms.json_values import as_text, part, written

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


def shared_vertices(feed: Feed) -> list[str]:
    """The vertex types of which the feed says that all graphs share them."""
    return [name for name, vertex in feed.vertices.items() if vertex.graphs == (GLOBAL,)]


def has_mirror(edge: EdgeType) -> bool:
    """Whether the source stores each of its edges twice."""
    return not edge.directed or edge.reverse is not None


def stored_in(edge: EdgeType) -> tuple[str, ...]:
    """The tables of an edge type, the one that is shown first."""
    shown = edge_table(edge.name)
    return (shown, shown + MIRROR) if has_mirror(edge) else (shown,)


def gold_tables(feed: Feed) -> Mapping[str, Table]:
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
    known = {name: default_of(column_type(kind)) for name, kind in attributes.items()}
    return {name: text for name, text in known.items() if text is not None}


def default_of(kind: ColumnType) -> str | None:
    """The default of a type, as TigerGraph's documentation has it; None for types that it does not have."""
    match kind:
        case Array():
            return "[]"
        case Map():
            return "{}"
        case Struct():
            spelled = [f"{json.dumps(name)}:{_in_json(one)}" for name, one in kind.fields.items()]
            return f"{{{','.join(spelled)}}}"
        case WholeNumber() | DecimalNumber():
            return "0"
        case FloatingNumber():
            return "0.0"
        case Boolean():
            return "false"
        case String():
            return ""
        case Timestamp():
            return "1970-01-01 00:00:00"
        case Date():
            return "1970-01-01"
    return None


def _in_json(kind: ColumnType) -> str:
    """The default of a field: numbers and truths stand bare, as JSON has them."""
    text = default_of(kind)
    is_bare = isinstance(kind, WholeNumber | DecimalNumber | FloatingNumber | Boolean)
    return "null" if text is None else text if is_bare else json.dumps(text)


# Which edges a delete takes along. A vertex, or all of a type, takes every edge that begins or ends there; a delete-all
# takes those that begin there, in every direction in which the source stores them.
# Vendor: TigerGraph documentation, "CDC Message Examples" (implicit edge deletion, restrictions for delete-all).


class Reach(NamedTuple):
    """A table of edges, and which end of them (``from``, ``to``) a range delete of it names."""

    table: str
    end: str


def edges_touching(feed: Feed) -> dict[str, tuple[Reach, ...]]:
    """By vertex type (``ANY``: those that nothing declares), where its edges are."""
    return {
        name: tuple(
            Reach(table, end)
            for edge in feed.edges.values()
            for table in stored_in(edge)
            for end in _ends_at(edge, name)
        )
        for name in _vertex_names(feed)
    }


def edges_beginning(feed: Feed) -> dict[str, tuple[Reach, ...]]:
    """By an edge type's name, its reverse type's included, where its edges from a vertex are."""
    found = {}
    for edge in feed.edges.values():
        found[edge.name] = _beginning(edge)
        if edge.reverse is not None:
            found[edge.reverse] = tuple(Reach(table, "to") for table in reversed(stored_in(edge)))
    return found


def edges_beginning_at(feed: Feed) -> dict[str, tuple[Reach, ...]]:
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


# The attributes that a message mentions: their values, what is done to them, and what is wrong with them.
# Vendor: TigerGraph documentation, "CDC Message Examples", content field.


OVERWRITE: Final = "Overwrite"
IF_NEW: Final = "IgnoreIfExisted"
MINUS: Final = "Minus"
OPERATIONS: Final = frozenset(
    (OVERWRITE, "Add", "Max", "Min", "And", "Or", IF_NEW, MINUS, "ReplaceOrAdd")
)

_NUMBER: Final = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,6})?\s*")


class Attribute(NamedTuple):
    """How the values of a declared attribute are spelled; ``minus``: those that are taken away."""

    spell: Spell
    minus: Spell
    is_unsigned: bool


class Mentions(NamedTuple):
    """``values``: the attributes with their texts; ``operations``: those that are not plainly overwritten."""

    values: dict[str, Value]
    operations: dict[str, str]


_UNDECLARED: Final = Attribute(as_text, as_text, is_unsigned=False)


def mentions_of(content: Any, declared: Mapping[str, Attribute]) -> Mentions | Fault:
    """What a message's content mentions; a fault where it says something that cannot be taken."""
    values: dict[str, Value] = {}
    operations: dict[str, str] = {}
    if content is None:
        return Mentions(values, operations)
    if type(content) is not dict:
        return _MALFORMED
    bare = strange = beyond = None
    for given, one in content.items():
        name, kind = given, declared.get(given)
        if kind is None and given.lower() in OWN_COLUMNS:
            name = f"content_{given}"
            if name in content:
                return _MALFORMED
        op = part(one, "op")
        if op is None or "value" not in one:
            bare = bare or name
            continue
        if type(op) is not str:
            op = written(op)
        if kind is None:
            kind = declared.get(name, _UNDECLARED)
        values[name] = kind.minus(one["value"]) if op == MINUS else kind.spell(one["value"])
        if op != OVERWRITE:
            operations[name] = op
            if op not in OPERATIONS:
                strange = strange or name
        if kind.is_unsigned and _is_beyond_unsigned(values[name]):
            beyond = beyond or name
    if bare is None and strange is None and beyond is None:
        return Mentions(values, operations)
    return _content_fault(bare, strange, beyond, Mentions(values, operations))


_MALFORMED: Final = Fault(
    "malformed_content",
    "content is no JSON object of attributes, or two of them have one name in gold",
)


def _content_fault(
    bare: str | None, strange: str | None, beyond: str | None, found: Mentions
) -> Fault:
    """The first fault: an attribute without operation or value, one with an unknown one, one beyond 64 bits."""
    if bare is not None:
        return Fault("missing_field", f"attribute {shown(bare)} lacks its op or its value")
    if strange is not None:
        op = shown(found.operations[strange])
        return Fault("unknown_operation", f"op {op} of attribute {shown(strange)} is not known")
    assert beyond is not None
    text = shown(found.values[beyond])
    return Fault(
        "value_does_not_fit",
        f"{shown(beyond)} is {text}, which no unsigned number of 64 bits is",
    )


def _is_beyond_unsigned(text: Value) -> bool:
    """True for a number that no unsigned number of 64 bits is; never for what is no number."""
    if (
        not isinstance(text, str)
        or (len(text) < 20 and text.isdecimal())
        or not _NUMBER.fullmatch(text)
    ):
        return False
    return not -1 < Decimal(text) < 2**64


# What a feed declares, as messages ask for it: worked out once for a feed.


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
class DeclaredGraph:
    """Everything that a feed declares of its graph.

    ``vertices``, ``edges``: by the type names that messages use. ``graphs``: by table, the graphs that have it.
    ``touching``, ``beginning`` and ``beginning_at``: where edges are that a delete takes along. ``baseline``: by
    partition, the last tid that a restored backup holds. ``names_graphs``: whether tables are named by their graph.
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


def declared_graph(feed: Feed) -> DeclaredGraph:
    """What the feed declares."""
    edges = {}
    graphs = {vertex_table(one.name): one.graphs for one in feed.vertices.values()}
    for edge in feed.edges.values():
        graphs |= dict.fromkeys(stored_in(edge), edge.graphs)
        for name in (edge.name, edge.reverse):
            if name is not None:
                edges[name] = _edge(edge, is_reverse=name != edge.name)
    return DeclaredGraph(
        vertices={vertex.name: _vertex(vertex) for vertex in feed.vertices.values()},
        edges=edges,
        graphs={table: of for table, of in graphs.items() if of},
        touching=edges_touching(feed),
        beginning=edges_beginning(feed),
        beginning_at=edges_beginning_at(feed),
        baseline=dict(feed.baseline),
        names_graphs=feed.table_names != "plain",
    )


def _vertex(vertex: VertexType) -> Vertex:
    key = joined_text(vertex.key, vertex.attributes, ",")
    return Vertex(vertex_table(vertex.name), _attributes(vertex.attributes), key)


def _edge(edge: EdgeType, *, is_reverse: bool) -> Edge:
    several = len(edge.targets) > 1 or ANY in edge.targets
    return Edge(
        table=edge_table(edge.name),
        mirror=edge_table(edge.name) + MIRROR,
        attributes=_attributes(edge.attributes),
        discriminator=joined_text(edge.discriminator, edge.attributes, ":"),
        is_reverse=is_reverse,
        is_directed=edge.directed,
        has_mirror=has_mirror(edge),
        is_restricted=several or bool(edge.discriminator) or edge.reverse is not None,
        is_multi=bool(edge.discriminator),
        sources=frozenset(edge.sources),
        targets=frozenset(edge.targets),
    )


def _attributes(types: Mapping[str, str]) -> dict[str, Attribute]:
    return {
        name: Attribute(speller(kind), minus_speller(kind), kind == UNSIGNED)
        for name, kind in types.items()
    }
