"""Texts by which rows were compared (``row_texts``), as values that gold's types take."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from typing import Final

from transforms.event import Value
from transforms.reconcile.row_texts import ELEMENT, NULL, Compared, Form

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?", re.ASCII)


def value_of(text: str | None, column: Compared) -> Value:
    """The value that a column's text stands for: bytes are bytes, an array is JSON, all else is a text."""
    if text is None:
        return None
    match column.form.name:
        case "bytes":
            return bytes.fromhex(text)
        case "float32":
            return _floating(struct.unpack(">f", bytes.fromhex(text))[0])
        case "float64":
            return _floating(struct.unpack(">d", bytes.fromhex(text))[0])
        case "array":
            element = Form(column.form.element or "")
            return f"[{','.join(_in_json(one, element) for one in elements_of(text, element))}]"
    return text


def _floating(number: float) -> str:
    return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(repr(number), repr(number))


def elements_of(text: str, element: Form) -> Iterator[str | None]:
    """The elements of an array's text, each in its own form."""
    rest = text[1:-1]
    while rest:
        if rest == NULL or rest.startswith(NULL + ELEMENT):
            end, one = len(NULL), None
        elif element.needs_length:
            size, _, behind = rest.partition(":")
            one = behind[: int(size)]
            end = len(size) + 1 + len(one)
        else:
            one = rest.partition(ELEMENT)[0]
            end = len(one)
        yield one
        rest = rest[end + len(ELEMENT) :]


def _in_json(text: str | None, element: Form) -> str:
    if text is None:
        return "null"
    is_plain = element.name == "truth" or (element.name == "number" and _NUMBER.fullmatch(text))
    return text if is_plain else json.dumps(text, ensure_ascii=False)
