"""JSON texts and the types that hold others: arrays, sets, maps and structs.

The canonical text is what Spark's ``to_json`` writes of the value, with the null fields of a struct. Spark's
``from_json`` reads it as ``type_names.written``. What a type holds is judged as a value of that type is elsewhere, and
must be the JSON of it: a number for a number, true or false for a boolean, a text for a day, a moment or bytes (in
base64). So nothing is rounded, cut to milliseconds or wrapped around, as ``from_json`` does without a word.

- A set is an array in its elements' order, nulls last, without repeats.
- The keys of a map are texts; two that say the same value are a fault, and their order is kept.
- In a set and as a key there is one floating zero, without a sign.
- Fields that a struct does not declare are left out, and those that it has not are null.
- In place of a text anything may stand, and is its JSON; numbers keep their digits.

Put here what is true of a container, whatever it holds. Not here: reading JSON (``json_values``), and simple values
within containers (``json_scalars``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from transforms import json_values
from transforms.value_types.json_scalars import (
    JudgeOfText,
    Spelling,
    Unfit,
    of_base64,
    of_simple,
    quoted,
)
from transforms.value_types.set_order import order_of
from transforms.value_types.type_names import element, entries, fields, is_nested, is_set

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
