"""Values as TigerGraph writes them in JSON, as the texts that the declared types read.

A DATETIME is a text, or, in containers always, a number of seconds; a BOOL may be 0 or 1. Texts of a type that they
do not fit stay as they are, for silver to quarantine.

Vendor: TigerGraph documentation, "CDC Message Examples"; "Attribute Data Types".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from json.encoder import encode_basestring
from typing import Any, TypeAlias

from transforms.column_types.column_type import ColumnType, Judge
from transforms.column_types.nested import Array, Map, Struct
from transforms.column_types.numbers import DecimalNumber, FloatingNumber, WholeNumber
from transforms.column_types.registry import column_type
from transforms.column_types.texts import Boolean, String
from transforms.column_types.times import Date, Timestamp
from transforms.event import Value
from transforms.json_values import Number, as_text

_WHOLE_FRACTION = re.compile(r"(-?[0-9]+)\.0+")
_SECONDS = re.compile(r"-?[0-9]{1,18}")
_EPOCH = datetime(1970, 1, 1)
_YEARS_1_TO_9999 = range(
    (datetime.min - _EPOCH) // timedelta(seconds=1),
    (datetime.max - _EPOCH) // timedelta(seconds=1) + 1,
)
_TRUTHS = {"1": "true", "0": "false"}


def whole_text(value: Any) -> str | None:
    """The text of a number that is to be a whole one: 2.0 is one, whoever writes it so."""
    if type(value) is int:
        return str(value)
    if type(value) is Number and (read := _WHOLE_FRACTION.fullmatch(value)):
        return read[1]
    return as_text(value)


@cache
def text_reader(kind: ColumnType) -> Callable[[str | None], str | None]:
    """What makes a simple value's text one that the declared types read."""
    match kind:
        case Boolean():
            return lambda text: None if text is None else _TRUTHS.get(text, text)
        case Date():
            return _day
        case Timestamp():
            return _moment
    return lambda text: text


def _moment(text: str | None) -> str | None:
    """A number of seconds since 1970 as the moment that it is; beyond the years 1 to 9999 it is none."""
    if text is None or not _SECONDS.fullmatch(text) or int(text) not in _YEARS_1_TO_9999:
        return text
    return (_EPOCH + timedelta(seconds=int(text))).isoformat(" ")


def _day(text: str | None) -> str | None:
    """The same for a column of days: a moment within a day stays whole, as a text of one does."""
    moment = _moment(text)
    return moment if moment is text or moment is None else moment.removesuffix(" 00:00:00")


# Maps and tuples as two lists, ``keylist`` and ``valuelist``: so newer versions of TigerGraph write them (4.1.1 and
# later). Vendor: TigerGraph documentation, "CDC Message Examples".


def entries_of(value: Any) -> Collection[tuple[Any, Any]] | None:
    """The entries of a map in either form; None for what is none."""
    if type(value) is not dict:
        return None
    if is_two_lists(value):
        return list(zip(value["keylist"], value["valuelist"], strict=True))
    return value.items()


def is_two_lists(value: Any) -> bool:
    """True for an object that is nothing but two lists of one length."""
    if type(value) is not dict or len(value) != 2:
        return False
    keys, values = value.get("keylist"), value.get("valuelist")
    return type(keys) is list and type(values) is list and len(keys) == len(values)


# A map is an object, or (4.1.1 and later) two lists; a tuple is one text (``i: 2, s: m2``), or (announced for 4.2)
# two lists as well. What has not the form of its type stays as it is, for silver to quarantine.


Spell: TypeAlias = Callable[[Any], "str | None"]
"""From a value as JSON has it to its text; None for null."""

_NUMBERS = (WholeNumber, DecimalNumber, FloatingNumber)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@cache
def speller(type_name: str) -> Spell:
    """What spells values of a declared type."""
    kind = column_type(type_name)
    if isinstance(kind, Array):
        return _list_speller(kind)
    return _map_speller(kind) if isinstance(kind, Map) else _one_speller(kind)


@cache
def minus_speller(type_name: str) -> Spell:
    """The same of what is taken away: of a map the keys may stand alone, in a list or as ``keylist``."""
    usual = speller(type_name)
    kind = column_type(type_name)
    if not isinstance(kind, Map):
        return usual
    key = _one_speller(kind.key)

    def spell(value: Any) -> str | None:
        keys = value
        if type(value) is dict and len(value) == 1:
            keys = value.get("keylist")
        if type(keys) is not list:
            return usual(value)
        return f"{{{','.join([f'{_quoted(key(one))}:null' for one in keys])}}}"

    return spell


def _one_speller(kind: ColumnType) -> Spell:
    """For a simple type, or a tuple whose fields are named."""
    match kind:
        case Struct():
            return _tuple_speller(kind)
        case WholeNumber():
            return whole_text
        case String():
            return _text_or_tuple
        case Boolean() | Date() | Timestamp():
            read = text_reader(kind)
            return lambda value: read(whole_text(value))
    return as_text


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


def _list_speller(kind: Array) -> Spell:
    item = _item_speller(kind.element)

    def spell(value: Any) -> str | None:
        if type(value) is not list:
            return as_text(value)
        items = [item(one) for one in value]
        # A set has no order: another delivery may have another one.
        return f"[{','.join(sorted(items) if kind.is_set else items)}]"

    return spell


def _map_speller(kind: Map) -> Spell:
    key, item = _one_speller(kind.key), _item_speller(kind.item)

    def spell(value: Any) -> str | None:
        entries = entries_of(value)
        if entries is None:
            return as_text(value)
        # A null key makes the text invalid JSON on purpose: no map can have one, and silver then quarantines it.
        parts = [f"{_quoted(key(name))}:{item(one)}" for name, one in entries]
        # A map has no order either: sorted entries give one text for one map.
        return f"{{{','.join(sorted(parts))}}}"

    return spell


def _tuple_speller(tuple_type: Struct) -> Spell:
    """For a tuple whose fields are declared: a JSON object of them; what has not exactly these is no tuple."""
    fields = tuple_type.fields
    marks = [
        re.compile(rf"{before}{re.escape(name)}\s*: ?", re.ASCII)
        for name, before in zip(fields, (r"\s*", *[r",\s*"] * (len(fields) - 1)), strict=True)
    ]
    spelled = [
        (f"{_quoted(name)}:", isinstance(kind, String), _item_speller(kind))
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


def _item_speller(kind: ColumnType) -> Callable[[Any], str]:
    """What spells a simple value or a tuple as JSON has it within an array or an object."""
    spell, write = _one_speller(kind), _in_json(kind)
    if isinstance(kind, _NUMBERS):
        return lambda value: str(value) if type(value) is int else write(spell(value))
    if isinstance(kind, String):
        return lambda value: _quoted(value if type(value) is str else spell(value))
    return lambda value: write(spell(value))


def _in_json(kind: ColumnType) -> Callable[[str | None], str]:
    """What writes a simple value's text as JSON: numbers, truths and tuples bare, everything else in quotes."""
    if isinstance(kind, _NUMBERS):
        return lambda text: text if text and _NUMBER.fullmatch(text) else _quoted(text)
    if isinstance(kind, Boolean):
        return lambda text: text if text == "true" or text == "false" else _quoted(text)
    if isinstance(kind, Struct):
        return lambda text: text if text and text.startswith("{") else _quoted(text)
    return _quoted


def _quoted(text: str | None) -> str:
    return "null" if text is None else encode_basestring(text)


# Joined texts: the uid of a composite key (values in the schema's order, commas between them), and the discriminator of
# an edge (colons). Where a value has that sign in it, nothing says which part is whose.
# Vendor: TigerGraph documentation, "CDC Message Examples", uid and discriminator.


_TIME_OF_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
_ITS_COLONS = (13, 16)

Part: TypeAlias = "tuple[str, Callable[[str | None], str | None], Judge] | None"
"""One attribute in a joined text: its name, how its text is read, and the judge of its type; None without a column."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A text that is made of several values; ``parts`` are their attributes."""

    parts: tuple[Part, ...]
    mark: str

    def values(self, text: str | None) -> dict[str, Value]:
        """What the text says of the attributes that it is made of; nothing without a text.

        Null stands for a value of which nothing says where it ends, or that its type cannot hold.
        """
        if text is None or not self.parts:
            return {}
        # One value is the whole text, whatever is in it.
        given = [text] if len(self.parts) == 1 else cut_text(text, self.mark)
        found: dict[str, Value] = {part[0]: None for part in self.parts if part is not None}
        if len(given) == len(self.parts):
            for part, one in zip(self.parts, given, strict=True):
                if part is not None:
                    name, read, judge = part
                    own = read(one)
                    found[name] = own if own is not None and judge(own) is not None else None
        return found


def cut_text(text: str, mark: str) -> list[str]:
    """The parts of a joined text; the colons of a time of day are its own."""
    if mark != ":" or not (times := list(_TIME_OF_DAY.finditer(text))):
        return text.split(mark)
    kept = {time.start() + colon for time in times for colon in _ITS_COLONS}
    ends = [at for at, sign in enumerate(text) if sign == mark and at not in kept]
    begins = [0, *[end + 1 for end in ends]]
    return [text[begin:end] for begin, end in zip(begins, [*ends, len(text)], strict=True)]


NOTHING_JOINED = Joined((), ",")
"""For texts of which no part has a column."""


def joined_text(names: Sequence[str], attributes: Mapping[str, str], mark: str) -> Joined:
    """What a text of these values says of the declared attributes, which have these types."""
    if not any(name in attributes for name in names):
        return NOTHING_JOINED
    return Joined(tuple(_part(name, attributes.get(name)) for name in names), mark)


def _part(name: str, type_name: str | None) -> Part:
    if type_name is None:
        return None
    kind = column_type(type_name)
    return name, text_reader(kind), kind.judge
