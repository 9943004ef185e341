"""JSON texts and the types that hold others: arrays, sets, maps and structs.

The canonical text is what Spark's ``to_json`` writes of the value, with the null fields of a struct. Spark's
``from_json`` reads it as ``type_names.written``. What a type holds is judged as a value of that type is elsewhere, and
must be the JSON of it: a number for a number, true or false for a boolean, a text for a day, a moment or bytes (in
base64). So nothing is rounded, cut to milliseconds or wrapped around, as ``from_json`` does without a word.

- A set is an array in its elements' order, nulls last, without repeats.
- The keys of a map are texts; two that say the same value are a fault, and their order is kept.
- Fields that a struct does not declare are left out, and those that it has not are null.
- In place of a text anything may stand, and is its JSON; numbers keep their digits.

Not here: reading JSON (``json_values``), and simple types (``number_types``, ``moment_types``).
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, TypeAlias

from transforms import json_values, moment_types
from transforms.json_values import Number
from transforms.type_names import element, entries, fields, is_nested, is_set

_Judge: TypeAlias = "Callable[[str | bytes], str | None]"
_Spelling: TypeAlias = "Callable[[Any], str]"
_JudgeOf: TypeAlias = "Callable[[str], _Judge]"

_ESCAPED: Final = re.compile(r'["\\\x00-\x1f]')
_ESCAPES: Final = {
    **{sign: f"\\u{sign:04X}" for sign in range(0x20)},
    **{ord(sign): f"\\{letter}" for sign, letter in zip('"\\\b\t\n\f\r', '"\\btnfr', strict=True)},
}
_INFINITIES: Final = {"+INF": "Infinity", "+Infinity": "Infinity", "-INF": "-Infinity"}
_NAMED: Final = {"NaN", "Infinity", "-Infinity"}


class _Unfit(Exception):
    """A part of a document is no value of its type."""


def judge(type_name: str, judge_of: _JudgeOf) -> _Judge:
    """The judge of a type that holds others; ``judge_of`` gives those of what it holds.

    Raises:
        ValueError: What it holds is no type, or none that it can hold.
    """
    spelling = _spelling(type_name, judge_of)

    def judged(value: str | bytes) -> str | None:
        try:
            document = json_values.read(value)
            return None if document is None else spelling(document)
        except (json_values.MalformedJson, _Unfit, RecursionError):
            return None

    return judged


def _spelling(type_name: str, judge_of: _JudgeOf) -> _Spelling:
    """How values of a type that are not null are written, once they are read as JSON."""
    if (inner := element(type_name)) is not None:
        spelled = _spelling(inner, judge_of)
        return _of_set(spelled, _order(inner)) if is_set(type_name) else _of_array(spelled)
    if pair := entries(type_name):
        key, spelled = judge_of(pair[0]), _spelling(pair[1], judge_of)
        return _of_map(_of_bytes(key) if pair[0].lower() == "binary" else key, spelled)
    if (named := fields(type_name)) is not None:
        return _of_struct({name: _spelling(kind, judge_of) for name, kind in named.items()})
    if is_nested(type_name):
        raise ValueError(f"{type_name!r}: the keys of a map must be of a simple type")
    return _of_simple(type_name, judge_of(type_name))


def _of_array(spelled: _Spelling) -> _Spelling:
    def spelling(value: Any) -> str:
        if type(value) is not list:
            raise _Unfit
        return f"[{','.join(['null' if one is None else spelled(one) for one in value])}]"

    return spelling


def _of_set(spelled: _Spelling, order: Callable[[Any], Any]) -> _Spelling:
    def spelling(value: Any) -> str:
        if type(value) is not list:
            raise _Unfit
        texts = {spelled(one) for one in value if one is not None}
        ordered = sorted(texts, key=lambda text: order(json_values.read(text)))
        return f"[{','.join([*ordered, 'null'] if None in value else ordered)}]"

    return spelling


def _of_map(key: _Judge, spelled: _Spelling) -> _Spelling:
    def spelling(value: Any) -> str:
        if type(value) is not dict:
            raise _Unfit
        found: dict[str, str] = {}
        for name, one in value.items():
            text = key(name)
            if text is None or text in found:
                raise _Unfit
            found[text] = "null" if one is None else spelled(one)
        return f"{{{','.join([f'{_quoted(name)}:{text}' for name, text in found.items()])}}}"

    return spelling


def _of_struct(spelled: dict[str, _Spelling]) -> _Spelling:
    every = [(name, f"{_quoted(name)}:", one) for name, one in spelled.items()]

    def spelling(value: Any) -> str:
        if type(value) is not dict:
            raise _Unfit
        found = value.get
        return f"{{{','.join([_field(found(name), label, one) for name, label, one in every])}}}"

    return spelling


def _field(value: Any, label: str, spelled: _Spelling) -> str:
    return label + ("null" if value is None else spelled(value))


def _of_simple(type_name: str, judge: _Judge) -> _Spelling:
    name = type_name.strip().lower()
    if name == "boolean":
        return _truth
    if name == "string":
        return _text
    if name in ("float", "double"):
        return _floating(judge)
    if name.startswith("decimal"):
        return _decimal(judge)
    if name.endswith("int"):
        return lambda value: _judged(str(value) if type(value) is int else None, judge)
    if name == "binary":
        of_bytes = _of_bytes(judge)
        return lambda value: f'"{_judged(_words(value), of_bytes)}"'
    if name == "date":
        return lambda value: f'"{_judged(_words(value), judge)}"'
    zone = "Z" if name == "timestamp" else ""
    return lambda value: f'"{moment_types.in_json(_judged(_words(value), judge))}{zone}"'


def _judged(value: str | bytes | None, judge: _Judge) -> str:
    text = None if value is None else judge(value)
    if text is None:
        raise _Unfit
    return text


def _words(value: Any) -> str | None:
    """A JSON text; None for everything else."""
    return value if type(value) is str else None


def _of_bytes(judge: _Judge) -> _Judge:
    """The judge of base64, which is how JSON has bytes."""

    def judged(value: str | bytes) -> str | None:
        try:
            return judge(b64decode(value, validate=True))
        except ValueError:
            return None

    return judged


def _truth(value: Any) -> str:
    if type(value) is not bool:
        raise _Unfit
    return "true" if value else "false"


def _text(value: Any) -> str:
    return _quoted(value if type(value) is str else _json(value))


def _floating(judge: _Judge) -> _Spelling:
    def spelling(value: Any) -> str:
        if type(value) is str:
            name = _INFINITIES.get(value, value)
            if name not in _NAMED:
                raise _Unfit
            return f'"{name}"'
        return _judged(_digits(value), judge)

    return spelling


def _decimal(judge: _Judge) -> _Spelling:
    def spelling(value: Any) -> str:
        text = value if type(value) is str and value.strip() == value else _digits(value)
        # Java writes small ones with an exponent: 1E-7.
        return str(Decimal(_judged(text, judge)))

    return spelling


def _digits(value: Any) -> str | None:
    """A JSON number as it was written; None for everything else."""
    return str(value) if type(value) in (int, Number) else None


def _json(value: Any) -> str:
    """Any document as JSON without blanks."""
    if value is None:
        return "null"
    if type(value) is str:
        return _quoted(value)
    if type(value) is bool:
        return _truth(value)
    if type(value) is list:
        return f"[{','.join(map(_json, value))}]"
    if type(value) is dict:
        return f"{{{','.join(f'{_quoted(name)}:{_json(one)}' for name, one in value.items())}}}"
    return str(value)


def _quoted(text: str) -> str:
    """A text as Jackson writes it in JSON."""
    return f'"{text.translate(_ESCAPES) if _ESCAPED.search(text) else text}"'


def _order(type_name: str) -> Callable[[Any], Any]:
    """By what the elements of a set are sorted, once their canonical text is read as JSON."""
    if (inner := element(type_name)) is not None:
        held = _order(inner)
        return lambda value: [(one is not None, one is not None and held(one)) for one in value]
    if (named := fields(type_name)) is not None:
        orders = [(name, _order(kind)) for name, kind in named.items()]
        return lambda value: [
            (value[name] is not None, value[name] is not None and order(value[name]))
            for name, order in orders
        ]
    name = type_name.strip().lower()
    if is_nested(name):
        raise ValueError(f"{type_name!r} has no order: it cannot be in a set")
    if name in ("float", "double"):
        return lambda value: (value == "NaN", 0.0 if value == "NaN" else float(value))
    if name.startswith("decimal"):
        return lambda value: Decimal(str(value))
    if name == "binary":
        return b64decode
    # Of two moments within a second, one has more digits.
    return (lambda value: value.rstrip("Z")) if name == "timestamp" else lambda value: value
