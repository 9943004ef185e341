"""The values of attributes: from TigerGraph's JSON to texts that the declared types read.

A map is an object, or (4.1.1 and later) two lists; a tuple is one text (``i: 2, s: m2``), or (announced for 4.2) two
lists as well. What has not the form of its type stays as it is, for silver to refuse. Put here how arrays, sets, maps
and tuples are spelled. Not here: values without parts (``simple_texts``), which attributes a message mentions
(``transforms/formats/tigergraph/contents.py``), and whether a value fits its type (``silver``).

Vendor: TigerGraph documentation, "CDC Message Examples"; "Attribute Data Types".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from json.encoder import encode_basestring
from typing import Any, TypeAlias

from transforms import types
from transforms.formats.tigergraph.texts.simple_texts import (
    NUMERIC,
    TIMES,
    WHOLE,
    text_reader,
    whole_text,
)
from transforms.formats.tigergraph.texts.two_lists import entries_of, is_two_lists
from transforms.json_values import as_text
from transforms.value_types.type_names import is_set

Spell: TypeAlias = Callable[[Any], "str | None"]
"""From a value as JSON has it to its text; None for null."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@cache
def speller(type_name: str) -> Spell:
    """What spells values of a declared type."""
    inner = types.element(type_name)
    if inner is not None:
        return _list_speller(inner, has_order=not is_set(type_name))
    pair = types.entries(type_name)
    if pair is not None:
        return _map_speller(*pair)
    return _one_speller(type_name)


@cache
def minus_speller(type_name: str) -> Spell:
    """The same of what is taken away: of a map the keys may stand alone, in a list or as ``keylist``."""
    usual = speller(type_name)
    pair = types.entries(type_name)
    if pair is None:
        return usual
    key = _one_speller(pair[0])

    def spell(value: Any) -> str | None:
        keys = value
        if type(value) is dict and len(value) == 1:
            keys = value.get("keylist")
        if type(keys) is not list:
            return usual(value)
        return f"{{{','.join([f'{_quoted(key(one))}:null' for one in keys])}}}"

    return spell


def _one_speller(type_name: str) -> Spell:
    """For a simple type, or a tuple whose fields are named."""
    fields = types.fields(type_name)
    if fields:
        return _tuple_speller(fields)
    if type_name in WHOLE:
        return whole_text
    if type_name == "boolean" or type_name in TIMES:
        read = text_reader(type_name)
        return lambda value: read(whole_text(value))
    return _text_or_tuple if type_name == "string" else as_text


def _text_or_tuple(value: Any) -> str | None:
    """A string as it is; a tuple in the form of two lists becomes the text in which older versions write tuples."""
    if type(value) is str:
        return value
    if is_two_lists(value):
        named = zip(value["keylist"], value["valuelist"], strict=True)
        return ", ".join([f"{_shown(name)}: {_shown(one)}" for name, one in named])
    return as_text(value)


def _shown(value: Any) -> str:
    return "null" if value is None else str(as_text(value))


def _list_speller(inner: str, *, has_order: bool) -> Spell:
    item = _item_speller(inner)

    def spell(value: Any) -> str | None:
        if type(value) is not list:
            return as_text(value)
        items = [item(one) for one in value]
        # A set has no order: another delivery may have another one.
        return f"[{','.join(items if has_order else sorted(items))}]"

    return spell


def _map_speller(key_type: str, value_type: str) -> Spell:
    key, item = _one_speller(key_type), _item_speller(value_type)

    def spell(value: Any) -> str | None:
        entries = entries_of(value)
        if entries is None:
            return as_text(value)
        # A null key makes the text invalid JSON on purpose: no map can have one, and silver then refuses the value.
        parts = [f"{_quoted(key(name))}:{item(one)}" for name, one in entries]
        # A map has no order either: sorted entries give one text for one map.
        return f"{{{','.join(sorted(parts))}}}"

    return spell


def _tuple_speller(fields: dict[str, str]) -> Spell:
    """For a tuple whose fields are declared: a JSON object of them; what has not exactly these is no tuple."""
    marks = [
        re.compile(rf"{before}{re.escape(name)}\s*: ?", re.ASCII)
        for name, before in zip(fields, (r"\s*", *[r",\s*"] * (len(fields) - 1)), strict=True)
    ]
    spelled = [
        (f"{_quoted(name)}:", kind == "string", _item_speller(kind))
        for name, kind in fields.items()
    ]

    def spell(value: Any) -> str | None:
        parts: list[Any] | None = None
        if type(value) is str:
            parts = _cut(value, marks)
        elif entries := entries_of(value):
            named = {as_text(name): one for name, one in entries}
            if len(entries) == len(fields) and named.keys() == fields.keys():
                parts = [named[name] for name in fields]
        if parts is None:
            text = as_text(value)
            return _quoted(text) if text is not None and text.startswith("{") else text
        found = []
        for part, (name, is_text, item) in zip(parts, spelled, strict=True):
            own = part.strip(" ") if type(part) is str and not is_text else part
            found.append(f"{name}{item(own)}")
        return f"{{{','.join(found)}}}"

    return spell


def _cut(text: str, marks: list[re.Pattern[str]]) -> list[str] | None:
    """The values of a tuple's fields: a text may hold commas, it ends where the next field's name stands."""
    found = marks[0].match(text)
    parts = []
    for mark in marks[1:]:
        if found is None:
            return None
        begins = found.end()
        found = mark.search(text, begins)
        if found is not None:
            parts.append(text[begins : found.start()])
    return None if found is None else [*parts, text[found.end() :]]


def _item_speller(type_name: str) -> Callable[[Any], str]:
    """What spells a simple value or a tuple as JSON has it within an array or an object."""
    spell, write = _one_speller(type_name), _in_json(type_name)
    if type_name.startswith(NUMERIC):
        return lambda value: str(value) if type(value) is int else write(spell(value))
    if type_name == "string":
        return lambda value: _quoted(value if type(value) is str else spell(value))
    return lambda value: write(spell(value))


def _in_json(type_name: str) -> Callable[[str | None], str]:
    """What writes a simple value's text as JSON: numbers, truths and tuples bare, everything else in quotes."""
    if type_name.startswith(NUMERIC):
        return lambda text: text if text and _NUMBER.fullmatch(text) else _quoted(text)
    if type_name == "boolean":
        return lambda text: text if text == "true" or text == "false" else _quoted(text)
    if types.fields(type_name):
        return lambda text: text if text and text.startswith("{") else _quoted(text)
    return _quoted


def _quoted(text: str | None) -> str:
    """A text as a JSON string."""
    return "null" if text is None else encode_basestring(text)
