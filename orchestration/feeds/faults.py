"""How what is wrong in a feed file is told: with file and key, and in words for the person who wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from transforms.errors import FeedMisdeclared
from transforms.feed.paths import matches
from transforms.silver.schema_drift import did_you_mean, nearest

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails


class Misdeclared(Protocol):
    """Makes the error that names the file, the key, what is wrong there, and what is known instead."""

    def __call__(self, key: str, fault: str, known: Collection[str] = ()) -> FeedMisdeclared:
        """The error, to be raised."""
        ...


class FeedFaults(FeedMisdeclared):
    """Several faults of one feed file, ``faults``: all that can be found at once; the rest is the first one's."""

    def __init__(self, faults: Sequence[FeedMisdeclared]) -> None:
        first = faults[0]
        super().__init__(first.file, first.key, first.fault, first.known)
        self.faults = tuple(faults)
        lines = [f"  {str(fault).removeprefix(f'{first.file}: ')}" for fault in faults]
        self.args = (f"{first.file}: {len(faults)} faults:", *lines)


def faults_of(checks: Iterable[Callable[[], object]]) -> list[FeedMisdeclared]:
    """What is wrong by these checks, of which each ends with its first fault."""
    found = []
    for check in checks:
        try:
            check()
        except FeedMisdeclared as fault:
            found.append(fault)
    return found


def refuse(faults: Sequence[FeedMisdeclared]) -> None:
    """Raise the faults, if there are any.

    Raises:
        FeedMisdeclared: there is one, or ``FeedFaults``: there are several.
    """
    if faults:
        raise faults[0] if len(faults) == 1 else FeedFaults(faults)


class Unfit(ValueError):
    """A part of a feed file is not valid: which key, and why, as the end of a sentence."""

    def __init__(self, key: str, fault: str) -> None:
        self.key, self.fault = key, fault
        super().__init__(f"{key} {fault}")


def check_glob(misdeclared: Misdeclared, place: str, glob: str | None) -> None:
    """Refuse a text that is no glob over object names.

    Raises:
        FeedMisdeclared: it is none.
    """
    try:
        matches("", glob or "")
    except re.error as fault:
        raise misdeclared(place, f"{glob!r} is no glob: {fault}") from None


# What pydantic finds wrong with a feed file, in words for the person who wrote the file.


_WANTED = {
    "string_type": "must be a text",
    "list_type": "must be a list, such as [a, b]",
    "dict_type": "must be a mapping, such as {a: int}",
    "bool_type": "must be true or false",
    "model_type": "must be a mapping, with keys of its own",
}


def faults_in_shape(
    file: str,
    faults: ValidationError,
    feed: type[BaseModel],
    parts: Mapping[str, type[BaseModel]],
) -> list[FeedMisdeclared]:
    """An error for each fault; a key that is missing because it is misspelt is one fault, of the misspelt key."""
    every = faults.errors()
    misspelt = {
        (*place[:-1], nearest(str(place[-1]), _part(place, feed, parts).model_fields))
        for place in (one["loc"] for one in every if one["type"] == "extra_forbidden")
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
        fault = f"is not a known key{did_you_mean(str(place[-1]), known)}"
        return FeedMisdeclared(file, _path(place), fault, known)
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
