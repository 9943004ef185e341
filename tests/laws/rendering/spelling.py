"""One JSON document in all the ways in which a source may print it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random

BETWEEN = [
    (",", ":"),
    (",", ":"),
    (", ", ": "),
    (" ,", "\t:  "),
    (",\n  ", ": "),
    (" \r\n,\t", ":\n "),
]
"""What stands between members, and between a name and its value."""

_RAW = re.compile('"@([^"@]*)@"')


def raw(digits: str) -> str:
    """What ``printed`` writes as these very digits, and not as a text."""
    return f"@{digits}@"


def printed(document: object, rng: Random) -> str:
    """The document, printed in a drawn way; elements of lists keep their order."""
    separators, escaped = rng.choice(BETWEEN), rng.random() < 0.5
    ordered = _reordered(document, rng.choice(_ORDERS))
    text = json.dumps(ordered, separators=separators, ensure_ascii=escaped)
    return _RAW.sub(r"\1", text) if "@" in text else text


Members = list[tuple[str, object]]


def _as_is(members: Members) -> Members:
    return members


def _backwards(members: Members) -> Members:
    return members[::-1]


def _from_the_middle(members: Members) -> Members:
    middle = len(members) // 2
    return members[middle:] + members[:middle]


# Drawing every object's order costs more than everything else.
_ORDERS = (_as_is, _backwards, _from_the_middle, sorted)


def _reordered(document: object, order: Callable[[Members], Members]) -> object:
    if isinstance(document, dict):
        if order is not _as_is:
            document = dict(order([*document.items()]))
        return {
            name: _reordered(one, order) if isinstance(one, dict | list) else one
            for name, one in document.items()
        }
    if isinstance(document, list):
        return [_reordered(one, order) for one in document]
    return document
