"""Every key of a feed file, with its type, its default and what it means, from the model that reads the file."""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from docs.site.reference.markdown import code, page, prose, table
from orchestration.feeds.keys import OBJECTS, DeclaredFeed
from transforms.formats import FORMATS

INTRO = """Every key that `feeds/<feed>.yaml` may have. [feeds.md](../feeds.md) shows them in an example, and says more
of tables, windows, types and names. A key that stands nowhere here is an error, which names the nearest one."""

PLAIN = {str: "text", bool: "true or false", int: "whole number", float: "number"}
"""What simple types are called."""


def feed_keys() -> str:
    """The page ``feed_keys.md``."""
    return page("Keys of a feed file", INTRO, *[section(*one) for one in parts("", DeclaredFeed)])


def parts(
    path: str, model: type[BaseModel], *, is_optional: bool = False
) -> Iterator[tuple[str, type[BaseModel], bool]]:
    """The model and those of its keys' values, with their paths, and whether a part is left out as a whole."""
    yield path, model, is_optional
    for name, field in model.model_fields.items():
        found = part_of(field.annotation)
        if found:
            shape, inner, optional = found
            yield from parts(f"{path}.{key_of(name, field)}{shape}", inner, is_optional=optional)


def part_of(annotation: Any) -> tuple[str, type[BaseModel], bool] | None:
    """How the model inside a type is found under its key, the model, and whether there may be none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "", annotation, False
    arguments = [one for one in get_args(annotation) if one is not type(None)]
    shape = {dict: ".<name>", list: "[]"}.get(get_origin(annotation), "")
    for one in arguments:
        found = part_of(one)
        if found:
            return (
                shape + found[0],
                found[1],
                found[2] or len(arguments) < len(get_args(annotation)),
            )
    return None


def key_of(name: str, field: FieldInfo) -> str:
    """The key as the file has it: ``from`` and ``to`` are no names of Python."""
    return field.alias or name


def section(path: str, model: type[BaseModel], is_optional: bool) -> str:
    """The keys of one part of the file."""
    title = f"## {code(path.removeprefix('.'))}\n" if path else "## The file\n"
    head = ["key", "value", *([] if is_optional else ["default"]), "means"]
    if not path:
        head.insert(3, "formats")
    rows = []
    for name, field in model.model_fields.items():
        key = key_of(name, field)
        row = [code(key), kind_of(field.annotation, (*field.metadata,))]
        row += [] if is_optional else [default_of(field)]
        row += [] if path else [formats_of(key)]
        rows.append([*row, prose(field.description or "")])
    return "\n".join(
        [title, prose(inspect.cleandoc(model.__doc__ or "")) + "\n", table(head, rows)]
    )


def default_of(field: FieldInfo) -> str:
    """The default, as it would be written."""
    if field.is_required():
        return "**needed**"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None or isinstance(value, BaseModel):
        return ""
    return code(value if isinstance(value, str) else json.dumps(value, default=str))


def formats_of(key: str) -> str:
    """The formats whose feeds may have the key."""
    has_key = {
        "unavailable_value": "has_placeholders",
        "unwrapped": "may_be_unwrapped",
        "schemas": "schema_ids",
    }.get(key)
    if has_key is not None:
        return ", ".join(
            code(name) for name, one in sorted(FORMATS.items()) if getattr(one, has_key)
        )
    if key not in OBJECTS:
        return "all"
    own = [name for name, known in sorted(FORMATS.items()) if key in known.declares]
    others = [name for name in sorted(FORMATS) if name not in own]
    if len(own) > len(others):
        return "all but " + ", ".join(map(code, others))
    return ", ".join(map(code, own))


def kind_of(annotation: Any, metadata: tuple[object, ...] = ()) -> str:
    """What may be written as the value."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return kind_of(arguments[0], arguments[1:])
    if origin is Literal:
        return " or ".join(code(str(one)) for one in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(kind_of(one) for one in arguments if one is not type(None))
    if origin in (list, tuple, set, frozenset):
        one = kind_of(arguments[0])
        return f"{one}, or a list of {one}s" if takes_one(metadata) else f"list of {several(one)}"
    if origin is dict:
        return f"mapping of names to {several(kind_of(arguments[1]))}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "keys of its own"
    return PLAIN.get(annotation, "any value")


def several(kind: str) -> str:
    """What many values of a kind are called."""
    if kind.startswith(("list ", "mapping ")):
        return kind.replace(" ", "s ", 1)
    return f"{kind}s" if kind in PLAIN.values() else kind


def takes_one(metadata: tuple[object, ...]) -> bool:
    """Whether a list may be written as its only value: then a function of the model makes it a list."""
    return any(
        getattr(getattr(one, "func", None), "__name__", "") == "_as_list" for one in metadata
    )
