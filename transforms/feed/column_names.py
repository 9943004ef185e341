"""How gold spells the columns of a table that only its stream describes, where a Delta table cannot have their names.

Ordinary databases have columns such as ``unit price``, ``a.b``, or ``id`` beside ``ID``. Silver keeps the source's
names as they are. Put here how a name is spelled. Not here: what a declared table may call its columns
(``orchestration``, for the feed file is asked there), and putting the spelling to use (``assets/columns/spelling.py``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

EMPTY: Final = "_xFFFF_"
"""The spelling of a name without any sign."""

# What Delta or Spark's own names cannot hold, control characters, and halves of surrogate pairs, which are no text.
_UNFIT: Final = re.compile("[ ,;{}()=.`*\\x00-\\x1f\\x7f\\ud800-\\udfff]")
# What would read as a spelling.
_LIKE_A_SPELLING: Final = re.compile("_(?=[xX][0-9A-Fa-f]{4})")
_RESERVED: Final = ("_weir_", "_change_type", "_commit_version", "_commit_timestamp")


def spelled(names: Iterable[str]) -> dict[str, str]:
    """The columns of one table that gold spells otherwise, each with gold's name of it.

    A sign that cannot stand is ``_x`` and its code in hexadecimal and ``_``, as SQL spells names in XML (ISO 9075-14):
    ``unit_x0020_price``. Of names that differ only in case each capital is spelled so, for SQL does not tell them
    apart. Two names never have one spelling, and which one a name has does not depend on what was seen first.
    """
    known = sorted(set(names))
    alike = Counter(name.lower() for name in known)
    found = {name: _spelled(name, capitals=alike[name.lower()] > 1) for name in known}
    return {name: text for name, text in found.items() if text != name}


def _spelled(name: str, *, capitals: bool) -> str:
    is_reserved = name.lower().startswith(_RESERVED)

    def stays(at: int, sign: str) -> bool:
        if sign == "_":
            return not (at == 0 and is_reserved) and not _LIKE_A_SPELLING.match(name, at)
        return not _UNFIT.match(sign) and not (capitals and sign != sign.lower())

    text = "".join(
        sign if stays(at, sign) else f"_x{ord(sign):04X}_" for at, sign in enumerate(name)
    )
    return text or EMPTY
