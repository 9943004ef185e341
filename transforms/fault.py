"""Why something in a record cannot be taken: a word for the kind of fault, and a sentence with what was found."""

from __future__ import annotations

from typing import NamedTuple

_LONGEST = 300
_SPARE = 20


class Fault(NamedTuple):
    """``reason`` is one word for the kind (``unknown_operation``), ``detail`` a sentence with what was found."""

    reason: str
    detail: str


def shown(value: object) -> str:
    """A value for a sentence, cut short where it is long: bronze has the whole of it."""
    if value is None:
        return "null"
    text = str(value)
    if len(text) <= _LONGEST + _SPARE:
        return text
    return f"{text[:_LONGEST]} ... ({len(text)} characters)"


def quoted(value: object) -> str:
    """A value for a sentence, in quotes, so that an empty text differs from null."""
    return "null" if value is None else f"'{shown(value)}'"
