"""Why something that a record says cannot be taken: a word for the kind, and a sentence with what was found.

Put here what every fault has in common. Not here: which faults there are, which is said where they are found
(``formats``, ``silver``).
"""

from __future__ import annotations

from typing import NamedTuple

_LONGEST = 300
_SPARE = 20


class Fault(NamedTuple):
    """``reason`` is one word for the kind (``unknown_operation``), ``detail`` a sentence with what was found."""

    reason: str
    detail: str


def shown(value: object) -> str:
    """A value as a sentence shows it, cut short where it is long: the whole of it stands in the record."""
    if value is None:
        return "null"
    text = str(value)
    if len(text) <= _LONGEST + _SPARE:
        return text
    return f"{text[:_LONGEST]} ... ({len(text)} characters)"


def quoted(value: object) -> str:
    """A value in quotes, so that an empty text can be told from none."""
    return "null" if value is None else f"'{shown(value)}'"
