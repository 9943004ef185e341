"""The declared types: whether a value fits its type, and the one text in which it is then written.

A **judge** of a type takes a value as a source wrote it, and gives its canonical text: one text for all ways to write
a value (``010`` and ``10`` are one int, ``1.5`` and ``1.50`` one decimal), or None where the type would lose
something of it. Images in silver hold canonical texts, keys are compared by them, and gold's columns are cast from
them alone:

- Simple types: what Spark's cast of the value to ``string`` writes, and what its ANSI cast reads. Of very large and
very small floating numbers Java's spelling depends on its release: ``value_types.floats.double`` says where. -
``binary``: base64, which ``unbase64`` reads. A text stands for its UTF-8 bytes, so that a judge of ``binary`` must
not see its own canonical text; every other judge gives that back as it is. - Arrays, sets, maps and structs: JSON,
see ``nested``.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias

from transforms.column_types import moments, nested, numbers
from transforms.column_types.type_names import (
    element,
    entries,
    fields,
    is_nested,
    parts,
    stored,
    written,
)

__all__ = [
    "Judge",
    "element",
    "entries",
    "fields",
    "is_nested",
    "judge_of",
    "parts",
    "stored",
    "written",
]

Judge: TypeAlias = Callable[[str | bytes], str | None]
"""The canonical text of a value, or None where the value does not fit the type without losing anything."""

_DECIMAL: Final = re.compile(r"decimal\(([0-9]{1,2}),([0-9]{1,2})\)")
_TRUTHS: Final = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), "true"),
    **dict.fromkeys(("false", "f", "no", "n", "0"), "false"),
}
_BLANKS: Final = "".join(map(chr, range(0x21))) + "\x7f"
"""The blank and all control signs of ASCII, which Spark trims around a boolean."""


@lru_cache(maxsize=4096)
def judge_of(type_name: str) -> Judge:
    """The judge of a type, by its name in the spelling of feed files (lower case, no blanks).

    Raises:
        ValueError: There is no such type.
    """
    if is_nested(type_name):
        return nested.judge(type_name, judge_of)
    name = "".join(type_name.lower().split())
    if name in _SIMPLE:
        return _SIMPLE[name]
    if decimal := _DECIMAL.fullmatch(name):
        precision, scale = int(decimal[1]), int(decimal[2])
        if scale <= precision and 1 <= precision <= 38:
            return numbers.decimal(precision, scale)
    raise ValueError(f"{type_name!r} is no type of a column")


def _string(value: str | bytes) -> str | None:
    """Every text is a string, if UTF-8 can write it: half of a surrogate pair it cannot."""
    try:
        if isinstance(value, bytes):
            return value.decode("utf-8")
        if not value.isascii():
            value.encode("utf-8")
    except UnicodeError:
        return None
    return value


def _binary(value: str | bytes) -> str | None:
    try:
        raw = value.encode("utf-8") if isinstance(value, str) else value
    except UnicodeEncodeError:
        return None
    return b2a_base64(raw, newline=False).decode("ascii")


def _boolean(value: str | bytes) -> str | None:
    text = value if isinstance(value, str) else value.decode("utf-8", "replace")
    return _TRUTHS.get(text) or _TRUTHS.get(text.strip(_BLANKS).lower())


_SIMPLE: Final[dict[str, Judge]] = {
    "tinyint": numbers.integer(2**7 - 1),
    "smallint": numbers.integer(2**15 - 1),
    "int": numbers.integer(2**31 - 1),
    "bigint": numbers.integer(2**63 - 1),
    "float": numbers.single,
    "double": numbers.double,
    "string": _string,
    "binary": _binary,
    "boolean": _boolean,
    "date": moments.day,
    "timestamp": moments.moment,
    "timestamp_ntz": moments.clock,
}
