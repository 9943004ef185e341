"""Simple values within arrays, maps and structs, as Spark's ``to_json`` writes them.

A value must be the JSON of its type: a number for a number, true or false for a boolean, a text for a day, a moment or
bytes (in base64). Put here how one value is judged and written. Not here: what holds the values (``nested``), and the
judges of simple types themselves (``numbers``, ``floats``, ``moments``).
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, TypeAlias

from transforms import json_values
from transforms.json_values import Number
from transforms.value_types import moments

JudgeOfText: TypeAlias = "Callable[[str | bytes], str | None]"

Spelling: TypeAlias = "Callable[[Any], str]"
"""How a value that is not null is written, once JSON is read."""

_ESCAPED: Final = re.compile(r'["\\\x00-\x1f]')
_ESCAPES: Final = {
    **{sign: f"\\u{sign:04X}" for sign in range(0x20)},
    **{ord(sign): f"\\{letter}" for sign, letter in zip('"\\\b\t\n\f\r', '"\\btnfr', strict=True)},
}
_TRUTHS: Final = {True: "true", False: "false"}
_NAMED: Final = {
    **{name: name for name in ("NaN", "Infinity", "-Infinity")},
    **{"+INF": "Infinity", "+Infinity": "Infinity", "-INF": "-Infinity"},
}


class Unfit(Exception):
    """A part of a document is no value of its type."""


def of_simple(name: str, judge: JudgeOfText) -> Spelling:
    """How values of a simple type are written; ``judge`` is the judge of that type."""
    if name == "boolean":
        return lambda value: _judged(_TRUTHS[value] if type(value) is bool else None, judge)
    if name == "string":
        return _text
    if name in ("float", "double"):
        return _floating(judge)
    if name.startswith("decimal"):
        return _decimal(judge)
    if name.endswith("int"):
        # To keep its sign for a floating number, -0 is read as it is written.
        return lambda value: _judged(
            _digits(value) if type(value) is int or value == "-0" else None, judge
        )
    if name == "date":
        return lambda value: f'"{_judged(_words(value), judge)}"'
    if name == "binary":
        of_bytes = of_base64(judge)
        return lambda value: f'"{_judged(_words(value), of_bytes)}"'
    zone = "Z" if name == "timestamp" else ""
    return lambda value: f'"{moments.in_json(_judged(_words(value), judge))}{zone}"'


def _judged(value: str | bytes | None, judge: JudgeOfText) -> str:
    text = None if value is None else judge(value)
    if text is None:
        raise Unfit
    return text


def _words(value: Any) -> str | None:
    """A JSON text; None for everything else."""
    return value if type(value) is str else None


def _digits(value: Any) -> str | None:
    """A JSON number as it was written; None for everything else."""
    return str(value) if type(value) in (int, Number) else None


def of_base64(judge: JudgeOfText) -> JudgeOfText:
    """The judge of bytes as JSON has them."""

    def judged(value: str | bytes) -> str | None:
        try:
            return judge(b64decode(value, validate=True))
        except ValueError:
            return None

    return judged


def _text(value: Any) -> str:
    return quoted(value if type(value) is str else json_values.written(value))


def quoted(text: str) -> str:
    """A text in JSON as Jackson writes it."""
    return f'"{text.translate(_ESCAPES) if _ESCAPED.search(text) else text}"'


def _floating(judge: JudgeOfText) -> Spelling:
    def spelling(value: Any) -> str:
        if type(value) is not str:
            return _judged(_digits(value), judge)
        if value not in _NAMED:
            raise Unfit
        return f'"{_NAMED[value]}"'

    return spelling


def _decimal(judge: JudgeOfText) -> Spelling:
    def spelling(value: Any) -> str:
        text = value if type(value) is str and value.strip() == value else _digits(value)
        # Java writes small ones with an exponent: 1E-7.
        return str(Decimal(_judged(text, judge)))

    return spelling
