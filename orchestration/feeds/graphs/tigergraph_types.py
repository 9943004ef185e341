"""The types of TigerGraph's attributes as a feed file declares them: TigerGraph's own names, or Spark SQL's.

Put here how an attribute's type may be written. Not here: the types that own attributes (``tigergraph``), and Spark
SQL's types (``orchestration/feeds/column_types.py``).
"""

from __future__ import annotations

import re
from typing import Final

from orchestration.feeds.column_types import UnknownType, canonical_type
from transforms import types

KNOWN_TYPES: Final = (
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
    """Give an attribute's type, TigerGraph's or Spark SQL's, in the one spelling that Weir has for it.

    Raises:
        UnknownType: It is none that an attribute can have.
    """
    plain = " ".join(text.lower().split())
    if plain in _SIMPLE:
        return _SIMPLE[plain]
    if of_fields := _TUPLE.fullmatch(text.strip()):
        return _tuple_type(text, of_fields[1])
    container = _CONTAINER.fullmatch(text.strip())
    if container is None:
        return canonical_type(text)
    kind, inside = container[1].lower(), container[2]
    parts = [attribute_type(part) for part in types.parts(inside)]
    if len(parts) != (2 if kind == "map" else 1):
        wants = "a key's type and a value's" if kind == "map" else "one type"
        raise UnknownType(f"{text!r}: a {kind} has {wants}")
    if any("<" in part and types.fields(part) is None for part in parts):
        raise UnknownType(f"{text!r}: what a {kind} holds must be of simple types, or tuples")
    if kind == "map" and "<" in parts[0]:
        raise UnknownType(f"{text!r}: the keys of a map must be of a simple type")
    return f"{'array' if kind == 'list' else kind}<{','.join(parts)}>"


def _tuple_type(text: str, inside: str) -> str:
    """Give a tuple whose fields are named as Spark's struct; the names keep their spelling."""
    fields: dict[str, str] = {}
    for part in types.parts(inside):
        field = _FIELD.fullmatch(part.strip())
        if field is None:
            raise UnknownType(f"{text!r}: a field of a tuple is a name and a type, as in `i int`")
        name, kind = field[1], attribute_type(field[2])
        if "<" in kind:
            raise UnknownType(f"{text!r}: the fields of a tuple must be of simple types")
        if name.lower() in map(str.lower, fields):
            raise UnknownType(f"{text!r}: has the field {name} twice")
        fields[name] = kind
    return f"struct<{','.join(f'{name}:{kind}' for name, kind in fields.items())}>"
