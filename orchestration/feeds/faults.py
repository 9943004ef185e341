"""What pydantic finds wrong with a feed file, in words for the person who wrote the file.

Put here the words for a wrong key or a wrong shape. Not here: faults that only Weir can see, such as a key column that
is no column (``tables`` and the other modules of this package).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from transforms.errors import FeedMisdeclared

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

_WANTED = {
    "string_type": "must be a text",
    "list_type": "must be a list, such as [a, b]",
    "dict_type": "must be a mapping, such as {a: int}",
    "bool_type": "must be true or false",
    "model_type": "must be a mapping, with keys of its own",
}


def nearest(name: str, known: Iterable[str]) -> str:
    """End a sentence with the known name that was probably meant, if there is one."""
    close = get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}" if close else ""


def faults_in_shape(
    file: str,
    faults: ValidationError,
    feed: type[BaseModel],
    parts: Mapping[str, type[BaseModel]],
) -> list[FeedMisdeclared]:
    """An error for each fault; a key that is missing because it is misspelt is one fault, of the misspelt key."""
    every = faults.errors()
    misspelt = {
        (*place[:-1], close)
        for place in (one["loc"] for one in every if one["type"] == "extra_forbidden")
        for close in get_close_matches(
            str(place[-1]), list(_part(place, feed, parts).model_fields), n=1
        )
    }
    return [
        _fault_in_shape(file, one, feed, parts)
        for one in every
        if one["type"] != "missing" or one["loc"] not in misspelt
    ]


def _fault_in_shape(
    file: str,
    details: ErrorDetails,
    feed: type[BaseModel],
    parts: Mapping[str, type[BaseModel]],
) -> FeedMisdeclared:
    place = details["loc"]
    known = list(_part(place, feed, parts).model_fields)
    if details["type"] == "extra_forbidden":
        fault = f"is not a known key{nearest(str(place[-1]), known)}"
        return FeedMisdeclared(file, _path(place), fault.rstrip("?"), known)
    return FeedMisdeclared(file, _path(place), _fault(details))


def _part(
    place: Sequence[int | str], feed: type[BaseModel], parts: Mapping[str, type[BaseModel]]
) -> type[BaseModel]:
    """The model that the last key of a path is a key of: a part by name or number under a key, or the key's value."""
    return parts.get(".".join(str(step) for step in place[:-1:2]), feed)


def _path(place: Sequence[int | str]) -> str:
    return ".".join(str(part) for part in place)


def _fault(details: ErrorDetails) -> str:
    kind, found = details["type"], details["input"]
    if kind == "missing":
        return "is missing"
    if kind in ("too_short", "string_too_short") or found is None:
        return "has no value; within braces a text that holds a comma needs quotes"
    if kind == "literal_error":
        return f"must be {details['ctx']['expected']}, found {found!r}"
    return f"{_WANTED.get(kind, details['msg'])}, found {found!r}"
