"""What pydantic finds wrong with a feed file, said to the person who wrote the file.

Not here: faults that only Weir can see, such as a key column that is no column (``feed_files.py``).
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
    "model_type": "must be a mapping, with keys of its own",
}


def nearest(name: str, known: Iterable[str]) -> str:
    """End a sentence with the known name that was probably meant, if there is one."""
    close = get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}" if close else ""


def first_fault(
    file: str,
    faults: ValidationError,
    feed: type[BaseModel],
    parts: Mapping[str, type[BaseModel]],
) -> FeedMisdeclared:
    """Tell the fault to mend first: a misspelt key before the missing one that it should have been."""
    found = faults.errors()
    details = min(found, key=lambda one: one["type"] != "extra_forbidden")
    place = details["loc"]
    # Under the keys of ``parts`` stand things with keys of their own, by name or number.
    inner = parts.get(str(place[0])) if len(place) == 3 else _own(feed, place)
    known = list((inner or feed).model_fields)
    if details["type"] == "extra_forbidden":
        fault = f"is not a known key{nearest(str(place[-1]), known)}"
        return FeedMisdeclared(file, _path(place), fault.rstrip("?"), known)
    return FeedMisdeclared(file, _path(place), _fault(details))


def _own(feed: type[BaseModel], place: Sequence[int | str]) -> type[BaseModel] | None:
    """The model of a key that is one mapping, where the fault is in it."""
    if len(place) != 2 or str(place[0]) not in feed.model_fields:
        return None
    kind = feed.model_fields[str(place[0])].annotation
    return kind if isinstance(kind, type) and hasattr(kind, "model_fields") else None


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
