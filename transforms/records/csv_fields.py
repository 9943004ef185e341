r"""The fields of a CSV record: their syntax, the names in a header, and why a record cannot be cut into fields.

A quote inside quotes is doubled (``""``) or escaped (``\"``). Put here what is true within one record. Not here: where
a record ends (``csv_records``), what a header's names mean (``csv_headers``), and the values of fields (``formats``).
"""

from __future__ import annotations

import re

# Every repetition is possessive: a field is read once, forwards, however many quotes it holds.
_UNQUOTED = r'[^",\r\n]*+(?:\r(?=[^\n])[^",\r\n]*+)*+'

DOUBLING_FIELD = rf'(?:[ \t]*+"[^"]*+(?:""[^"]*+)*+"[ \t]*+|{_UNQUOTED})'
r"""One field, its quotes and the blanks around them included, where only ``""`` stands for a quote.

Valid in Python's ``re`` and in Java; it has no groups. So is ``MIXED_FIELD``.
"""

MIXED_FIELD = rf'(?:[ \t]*+"[^"\\]*+(?:(?:\\[\s\S]|"")[^"\\]*+)*+"[ \t]*+|{_UNQUOTED})'
r"""One field where, inside quotes, ``\`` takes the next character as it is and ``""`` is a quote, too."""

_READABLE = re.compile(rf"{MIXED_FIELD}(?:,{MIXED_FIELD})*+".encode())


def quote_fault(data: bytes, start: int, end: int) -> str:
    """Why the text from ``start`` to ``end`` is no record: where a quote is wrong, and how."""
    readable = _READABLE.match(data, start)
    stop = readable.end() if readable else start
    if stop > end:
        return "text follows a closing quote, or a quote is never closed, on a later line of this record"
    column = len(text_of(data[start:stop])) + 1
    if data[stop : stop + 1] != b'"':
        return f"text follows a closing quote at column {column}"
    field = max(data.rfind(b",", start, stop) + 1, start)
    if not data[field:stop].strip(b" \t"):
        return f"the quote at column {column} is never closed"
    if b'"' in data[field:stop]:
        return f"text follows a closing quote at column {column}"
    return f"a quote stands inside an unquoted field at column {column}"


def names_of(field: re.Pattern[bytes], record: bytes) -> list[str]:
    """The fields of a record, without quotes and the blanks around them."""
    names: list[str] = []
    position = 0
    while found := field.match(record, position):
        names.append(_unquoted(text_of(found[0]).strip(" \t")))
        if found.end() >= len(record):
            break
        position = found.end() + 1
    return names


def _unquoted(field: str) -> str:
    return field[1:-1].replace('""', '"') if field.startswith('"') else field


def text_of(raw: bytes) -> str:
    """Bytes as text; those that are no UTF-8 become replacement characters."""
    return raw.decode("utf-8", "replace")
