"""TigerGraph's vertex and edge types, and the types of their attributes, as a feed file declares them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from orchestration.feeds.faults import InvalidKey, below, check_among
from orchestration.feeds.keys import DeclaredEdge, DeclaredVertex
from orchestration.feeds.tables import columns_from
from transforms.column_types.column_type import UnknownType
from transforms.column_types.nested import Nested, Struct
from transforms.column_types.registry import canonical_type, column_type
from transforms.feed.feed import EdgeType, VertexType
from transforms.formats.tigergraph.declarations import ANY, GLOBAL, OWN_COLUMNS, stored_in

_NAME: Final = re.compile(r"\w+")


def vertices_from(declared: Mapping[str, DeclaredVertex]) -> dict[str, VertexType]:
    """The vertex types by name."""
    vertices = {}
    for name, vertex in declared.items():
        _check_name(f"vertices.{name}", name)
        with below(f"vertices.{name}"):
            attributes = _attributes(vertex.attributes)
            if twice := {key for key in vertex.key if vertex.key.count(key) > 1}:
                raise InvalidKey("key", f"names {min(twice)} twice")
            defaults = _defaults(vertex.defaults, attributes)
            graphs = _graphs(vertex.graph)
            vertices[name] = VertexType(name, attributes, tuple(vertex.key), defaults, graphs)
    return vertices


def edges_from(declared: Mapping[str, DeclaredEdge]) -> dict[str, EdgeType]:
    """The edge types by name."""
    edges: dict[str, EdgeType] = {}
    taken = {*declared}
    for name, edge in declared.items():
        _check_name(f"edges.{name}", name)
        with below(f"edges.{name}"):
            edges[name] = _edge(name, edge)
            if edge.reverse is not None:
                if edge.reverse in taken:
                    raise InvalidKey(
                        "reverse", f"{edge.reverse} is the name of an edge type already"
                    )
                taken.add(edge.reverse)
    # No two edge types have one gold table: an undirected one has two.
    owners: dict[str, str] = {}
    for name, made in edges.items():
        for table in stored_in(made):
            owner = owners.setdefault(table, name)
            if owner != name:
                raise InvalidKey(
                    f"edges.{name}", f"{table} would be the gold table of {owner}, too"
                )
    return edges


def _edge(name: str, edge: DeclaredEdge) -> EdgeType:
    attributes = _attributes(edge.attributes)
    for key, ends in (("from", edge.sources), ("to", edge.targets)):
        for end in ends:
            if end != ANY:
                _check_name(key, end)
    if edge.reverse is not None:
        _check_name("reverse", edge.reverse)
        if not edge.directed:
            fault = "is for directed edges; the two directions of an undirected one are one type"
            raise InvalidKey("reverse", fault)
    return EdgeType(
        name,
        tuple(edge.sources),
        tuple(edge.targets),
        attributes,
        edge.directed,
        edge.reverse,
        tuple(edge.discriminator),
        _defaults(edge.defaults, attributes),
        _graphs(edge.graph),
    )


def baseline_from(declared: Mapping[str, str]) -> dict[str, int]:
    """By partition, the last tid that a restored backup holds."""
    for partition, tid in declared.items():
        key = f"baseline.{partition}"
        if not re.fullmatch(r"[1-9]\d{0,17}", partition):
            raise InvalidKey(key, "a partition is a number from 1 on")
        if not re.fullmatch(r"\d{1,18}", tid):
            raise InvalidKey(key, f"{tid!r} is no tid: the LastTid of the backup's metadata")
    return {partition: int(tid) for partition, tid in declared.items()}


def _attributes(declared: Mapping[str, str]) -> dict[str, str]:
    with below("attributes"):
        attributes = columns_from(declared, attribute_type, ATTRIBUTE_TYPES)
        for name in attributes:
            # The messages' attributes of these names get the other ones, on vertices and edges alike.
            if name.lower() in OWN_COLUMNS:
                fault = "is the name of a column that gold has anyway: declare it as content_"
                raise InvalidKey(name, f"{fault}{name}")
    return attributes


def _graphs(declared: Sequence[str]) -> tuple[str, ...]:
    for name in declared:
        _check_name("graph", name)
    if len(declared) > 1 and GLOBAL in declared:
        raise InvalidKey("graph", "a GLOBAL type is one for all graphs: name that alone")
    return tuple(declared)


def _defaults(declared: Mapping[str, str], attributes: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for name, text in declared.items():
        check_among("defaults", name, "the type's attributes", attributes, attributes)
        canonical = column_type(attributes[name]).judge(text)
        if canonical is None:
            raise InvalidKey(f"defaults.{name}", f"{text!r} is no {attributes[name]}")
        found[name] = canonical
    return found


def _check_name(key: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidKey(key, f"{name!r} is no name: letters, digits and _")


ATTRIBUTE_TYPES: Final = (
    *("int", "uint", "float", "double", "bool", "string", "datetime", "tuple"),
    *("list<type>", "set<type>", "map<type,type>", "tuple<name type, ...>"),
    "or a type of Spark SQL",
)

_SIMPLE: Final = {
    # TigerGraph's int and uint are 64 bits wide.
    **{"int": "bigint", "integer": "bigint", "uint": "decimal(20,0)"},
    **{"float": "float", "double": "double", "bool": "boolean", "string": "string"},
    **{"string compress": "string", "datetime": "timestamp", "tuple": "string"},
}
_CONTAINER: Final = re.compile(r"(list|array|set|map)\s*<(.*)>", re.DOTALL | re.IGNORECASE)
_TUPLE: Final = re.compile(r"(?:tuple|struct)\s*<(.*)>", re.DOTALL | re.IGNORECASE)
_FIELD: Final = re.compile(r"(\w+)\s*[: ]\s*(.+)", re.DOTALL)


def attribute_type(text: str) -> str:
    """Give an attribute's type, TigerGraph's or Spark SQL's, in the one spelling that Weir has for it."""
    plain = " ".join(text.lower().split())
    if plain in _SIMPLE:
        return _SIMPLE[plain]
    if of_fields := _TUPLE.fullmatch(text.strip()):
        return _tuple_type(text, of_fields[1])
    container = _CONTAINER.fullmatch(text.strip())
    if container is None:
        return canonical_type(text)
    kind, inside = container[1].lower(), container[2]
    parts = [attribute_type(part) for part in _parts(inside)]
    if len(parts) != (2 if kind == "map" else 1):
        wants = "a key's type and a value's" if kind == "map" else "one type"
        raise UnknownType(f"{text!r}: a {kind} has {wants}")
    kinds = [column_type(part) for part in parts]
    if any(isinstance(one, Nested) and not isinstance(one, Struct) for one in kinds):
        raise UnknownType(f"{text!r}: what a {kind} holds must be of simple types, or tuples")
    if kind == "map" and isinstance(kinds[0], Nested):
        raise UnknownType(f"{text!r}: the keys of a map must be of a simple type")
    return f"{'array' if kind == 'list' else kind}<{','.join(parts)}>"


def _tuple_type(text: str, inside: str) -> str:
    """Give a tuple whose fields are named as Spark's struct; the names keep their spelling."""
    fields: dict[str, str] = {}
    for part in _parts(inside):
        field = _FIELD.fullmatch(part.strip())
        if field is None:
            raise UnknownType(f"{text!r}: a field of a tuple is a name and a type, as in `i int`")
        name, kind = field[1], attribute_type(field[2])
        if isinstance(column_type(kind), Nested):
            raise UnknownType(f"{text!r}: the fields of a tuple must be of simple types")
        if name.lower() in map(str.lower, fields):
            raise UnknownType(f"{text!r}: has the field {name} twice")
        fields[name] = kind
    return f"struct<{','.join(f'{name}:{kind}' for name, kind in fields.items())}>"


def _parts(inside: str) -> list[str]:
    """What stands between brackets, cut at the commas that stand in no brackets of their own, nor in backticks."""
    found, depth, is_quoted = [""], 0, False
    for sign in inside:
        is_quoted ^= sign == "`"
        if not is_quoted:
            depth += (sign in "<(") - (sign in ">)")
        if sign == "," and depth == 0 and not is_quoted:
            found.append("")
        else:
            found[-1] += sign
    return found
