"""JSON texts and the types that hold others: arrays, sets, maps and structs, and the simple values within them."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, TypeAlias

from transforms import json_values
from transforms.column_types import moments
from transforms.column_types.type_names import element, entries, fields, is_nested, is_set
from transforms.json_values import Number


def order_of(type_name: str) -> Callable[[Any], Any]:
    """By what the elements of a set are sorted, once their canonical text is read as JSON."""
    if (inner := element(type_name)) is not None:
        held = _or_null(order_of(inner))
        return lambda value: [held(one) for one in value]
    if (named := fields(type_name)) is not None:
        orders = [(name, _or_null(order_of(kind))) for name, kind in named.items()]
        return lambda value: [order(value[name]) for name, order in orders]
    if is_nested(type_name):
        raise ValueError(f"{type_name!r} has no order: it cannot be in a set")
    name = type_name.lower()
    if name in ("float", "double"):
        return lambda value: (value == "NaN", 0.0 if value == "NaN" else float(value))
    if name.startswith("decimal"):
        return lambda value: Decimal(str(value))
    if name == "binary":
        return b64decode
    # Of two moments within a second, one may have more digits.
    return (lambda value: value.rstrip("Z")) if name == "timestamp" else lambda value: value


def _or_null(order: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Within an element, null comes before every value."""
    return lambda value: (value is not None, None if value is None else order(value))


# Simple values within arrays, maps and structs, as Spark's ``to_json`` writes them.
# A value must be the JSON of its type: a number for a number, true or false for a boolean, a text for a day, a moment
# or bytes (in base64).


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


# JSON texts and the types that hold others: arrays, sets, maps and structs.
# The canonical text is what Spark's ``to_json`` writes of the value, with the null fields of a struct. Spark's
# ``from_json`` reads it as ``type_names.written``. What a type holds is judged as a value of that type is elsewhere,
# and must be the JSON of it: a number for a number, true or false for a boolean, a text for a day, a moment or bytes
# (in base64). So nothing is rounded, cut to milliseconds or wrapped around, as ``from_json`` does without a word.
# - A set is an array in its elements' order, nulls last, without repeats. - The keys of a map are texts; two that say
# the same value are a fault, and their order is kept. - In a set and as a key there is one floating zero, without a
# sign. - Fields that a struct does not declare are left out, and those that it has not are null. - In place of a text
# anything may stand, and is its JSON; numbers keep their digits.


_JudgeOf: TypeAlias = "Callable[[str], JudgeOfText]"


def judge(type_name: str, judge_of: _JudgeOf) -> JudgeOfText:
    """The judge of a type that holds others; ``judge_of`` gives those of what it holds.

    Raises:
        ValueError: What it holds is no type, or none that it can hold.
    """
    spelling = _spelling(type_name, judge_of)

    def judged(value: str | bytes) -> str | None:
        try:
            document = json_values.read(value)
            return None if document is None else spelling(document)
        except (json_values.MalformedJson, Unfit, RecursionError):
            return None

    return judged


def _spelling(type_name: str, judge_of: _JudgeOf) -> Spelling:
    if (inner := element(type_name)) is not None:
        spelled = _spelling(inner, judge_of)
        return _of_set(spelled, order_of(inner)) if is_set(type_name) else _of_array(spelled)
    if pair := entries(type_name):
        return _of_map(_key(pair[0].lower(), judge_of), _spelling(pair[1], judge_of))
    if (named := fields(type_name)) is not None:
        return _of_struct({name: _spelling(kind, judge_of) for name, kind in named.items()})
    if is_nested(type_name):
        raise ValueError(f"{type_name!r}: the keys of a map must be of a simple type")
    return of_simple(type_name.lower(), judge_of(type_name))


def _of_array(spelled: Spelling) -> Spelling:
    def spelling(value: Any) -> str:
        if type(value) is not list:
            raise Unfit
        return f"[{','.join(['null' if one is None else spelled(one) for one in value])}]"

    return spelling


def _of_set(spelled: Spelling, order: Callable[[Any], Any]) -> Spelling:
    def spelling(value: Any) -> str:
        if type(value) is not list:
            raise Unfit
        texts = {spelled(one) for one in value if one is not None}
        if "-0.0" in texts:
            texts = texts - {"-0.0"} | {"0.0"}
        ordered = sorted(texts, key=lambda text: order(json_values.read(text)))
        return f"[{','.join([*ordered, 'null'] if None in value else ordered)}]"

    return spelling


def _of_map(key: JudgeOfText, spelled: Spelling) -> Spelling:
    def spelling(value: Any) -> str:
        if type(value) is not dict:
            raise Unfit
        found: dict[str, str] = {}
        for name, one in value.items():
            text = key(name)
            if text is None or text in found:
                raise Unfit
            found[text] = "null" if one is None else spelled(one)
        written = [f"{quoted(name)}:{text}" for name, text in found.items()]
        return f"{{{','.join(written)}}}"

    return spelling


def _key(type_name: str, judge_of: _JudgeOf) -> JudgeOfText:
    judge = judge_of(type_name)
    if type_name == "binary":
        return of_base64(judge)
    if type_name in ("float", "double"):
        return lambda value: "0.0" if (text := judge(value)) == "-0.0" else text
    return judge


def _of_struct(spelled: dict[str, Spelling]) -> Spelling:
    every = [(name, f"{quoted(name)}:", one) for name, one in spelled.items()]

    def spelling(value: Any) -> str:
        if type(value) is not dict:
            raise Unfit
        found = [
            label + ("null" if (one := value.get(name)) is None else spelled(one))
            for name, label, spelled in every
        ]
        return f"{{{','.join(found)}}}"

    return spelling
