r"""The fields of a CSV record: their texts without quotes, and which of them are null.

Null is the unquoted text NULL; a quoted "NULL" is that text. Blanks around unquoted values are no part of them. Put
here how one record is cut into fields. Not here: where a record ends (``transforms/records/csv_records.py``), and
which column a field belongs to (``layouts``).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from transforms.records.csv_fields import DOUBLING_FIELD, MIXED_FIELD

NULL = "NULL"

_DOUBLING = (re.compile(f",({DOUBLING_FIELD})"), re.compile('""'))
_MIXED = (re.compile(f",({MIXED_FIELD})"), re.compile(r'(?:\\(?=["\\])|"(?="))(["\\])'))
_WHOLE = {
    way: re.compile(rf"(?:{pattern})(?:,(?:{pattern}))*+")
    for way, pattern in ((_DOUBLING, DOUBLING_FIELD), (_MIXED, MIXED_FIELD))
}


class Field(NamedTuple):
    """One field of a row: its text without quotes, and whether it had any."""

    text: str
    is_quoted: bool

    @property
    def value(self) -> str | None:
        """The field's text, or None where it is the unquoted null marker."""
        return None if self.text == NULL and not self.is_quoted else self.text


def fields_of(text: str) -> list[Field] | None:
    """A record's fields with quotes taken off; None where they fit neither way of quoting."""
    if '"' not in text:
        return [Field(one.strip(" \t"), False) for one in text.split(",")]
    for way in (_DOUBLING, _MIXED):
        if _WHOLE[way].fullmatch(text):
            cut, escapes = way
            # A comma before every field: a match is then never empty, and none is skipped.
            return [_unquoted(raw, escapes) for raw in cut.findall(f",{text}")]
    return None


def _unquoted(raw: str, escapes: re.Pattern[str]) -> Field:
    trimmed = raw.strip(" \t")
    if not trimmed.startswith('"'):
        return Field(trimmed, False)
    return Field(escapes.sub(lambda found: found[0][-1], trimmed[1:-1]), True)


@lru_cache(maxsize=1024)
def header_of(header: str) -> tuple[str, ...] | None:
    """The names that a header line gives; None where it cannot be read."""
    fields = fields_of(header)
    return None if fields is None else tuple(one.text for one in fields)
