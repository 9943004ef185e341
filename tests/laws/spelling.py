"""One JSON document in all the ways in which a source may print it.

What differs is what no reader of JSON may care about: the order of members, the blanks between them, and whether what is
not ASCII stands as it is or as an escape. Not here: what a format spells in several ways by itself (``rendering``).
"""

from __future__ import annotations

import json
import re
from random import Random

BETWEEN = [(",", ":"), (",", ":"), (", ", ": "), (" ,", "\t:  "), (",\n  ", ": "), (" \r\n,\t", ":\n ")]
"""What stands between members, and between a name and its value."""

_RAW = re.compile('"@([^"@]*)@"')


def raw(digits: str) -> str:
    """What ``printed`` writes as these very digits, and not as a text."""
    return f"@{digits}@"


def printed(document: object, rng: Random) -> str:
    """The document, printed in a drawn way; elements of lists keep their order."""
    separators, escaped = rng.choice(BETWEEN), rng.random() < 0.5
    text = json.dumps(shuffled(document, rng), separators=separators, ensure_ascii=escaped)
    return _RAW.sub(r"\1", text) if "@" in text else text


def shuffled(document: object, rng: Random) -> object:
    """The document with the members of each object in a drawn order."""
    if isinstance(document, list):
        return [shuffled(one, rng) for one in document]
    if not isinstance(document, dict):
        return document
    members = [*document.items()]
    rng.shuffle(members)
    return {name: shuffled(one, rng) for name, one in members}
