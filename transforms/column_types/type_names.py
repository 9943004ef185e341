"""What the name of a declared type says: what it holds, and as which type Spark keeps and reads it.

Pure functions on names such as ``map<string,array<int>>``. ``transforms.types`` is where to import them from.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_NESTED: Final = re.compile(r"\s*(array|set|map|struct)\s*<(.*)>\s*", re.IGNORECASE | re.DOTALL)
_FIELD: Final = re.compile(r"\s*(`(?:[^`]|``)+`|[^:]*?)\s*(?::(.*))?", re.DOTALL)


def is_nested(type_name: str) -> bool:
    """True for what JSON writes as an array or an object."""
    return _NESTED.fullmatch(type_name) is not None


def stored(type_name: str) -> str:
    """The Spark SQL type of a declared type: a set is kept as an array."""
    return _rewritten(type_name, key=lambda name: name)


def written(type_name: str) -> str:
    """The type as which Spark's ``from_json`` can read a canonical text: the keys of an object are texts to it.

    Cast to ``stored``, the value has its keys' type, too.
    """
    return _rewritten(type_name, key=lambda _: "string")


def element(type_name: str) -> str | None:
    """What an array or a set holds; None for other types."""
    inside = _inside(type_name, "array", "set")
    return None if inside is None else inside.strip()


def is_set(type_name: str) -> bool:
    """True for a set, which has no order and no repeats."""
    return _inside(type_name, "set") is not None


def entries(type_name: str) -> tuple[str, str] | None:
    """The key's and the value's type of a map with simple keys; None for other types."""
    inside = _inside(type_name, "map")
    pair = [] if inside is None else [part.strip() for part in parts(inside)]
    return (pair[0], pair[1]) if len(pair) == 2 and "<" not in pair[0] else None


def fields(type_name: str) -> dict[str, str] | None:
    """The fields of a struct by name, with their types; None for other types. Names stand without their backticks."""
    named = _named(type_name)
    if named is None:
        return None
    return {
        name[1:-1].replace("``", "`") if name[:1] == "`" else name: kind for name, kind in named
    }


def parts(inside: str) -> list[str]:
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


def _inside(type_name: str, *kinds: str) -> str | None:
    """What stands between the brackets of a type of these kinds; None for other types."""
    found = _NESTED.fullmatch(type_name)
    return found[2] if found and found[1].lower() in kinds else None


def _named(type_name: str) -> list[tuple[str, str]] | None:
    """The fields of a struct, their names as they are written."""
    inside = _inside(type_name, "struct")
    if inside is None:
        return None
    found = [_FIELD.fullmatch(part) for part in parts(inside)]
    return [(one[1], (one[2] or "").strip()) for one in found if one]


def _rewritten(type_name: str, key: Callable[[str], str]) -> str:
    """The type with arrays for sets, and other keys in its maps."""
    if (inner := element(type_name)) is not None:
        return f"array<{_rewritten(inner, key)}>"
    if pair := entries(type_name):
        return f"map<{key(pair[0])},{_rewritten(pair[1], key)}>"
    if (named := _named(type_name)) is not None:
        return f"struct<{','.join(f'{name}:{_rewritten(kind, key)}' for name, kind in named)}>"
    return type_name
