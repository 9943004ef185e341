"""Reads one value as Connect's JSON converter writes it, into the text that the column's type accepts, or into bytes.

What cannot be read stays as it is written, so that the column's type refuses it and says what stood there.

Facts: Kafka Connect's JsonConverter (bytes are base64, struct and array stay JSON); Debezium's documentation, "Data
type mappings" (what the logical names of ``io.debezium`` count, and from when).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from transforms.column_types import times
from transforms.column_types.nested import Nested
from transforms.column_types.numbers import DecimalNumber, FloatingNumber, WholeNumber, decimal_text
from transforms.column_types.parts import ELEMENT, KEY, VALUE
from transforms.column_types.ranges import far_day, far_moment
from transforms.column_types.registry import column_type
from transforms.event import Value
from transforms.families.connect import schemas
from transforms.families.connect.schemas import Kind
from transforms.families.whole_numbers import whole
from transforms.json_values import MalformedJson, Number, as_text, read

PLACEHOLDER: Final = "__debezium_unavailable_value"
"""What Debezium sends unless it is told otherwise."""

_HEXADECIMAL: Final = "hex:"


class Placeholders:
    """The stand-ins of some tables, by what the connector's setting says or said.

    ``texts``: as they stand in a column of text, each with the forms of its bytes that come as a text. ``numbers``: the
    stand-ins as a number for each byte, as texts.
    """

    __slots__ = ("_in_lists", "_maps", "_octets", "_words", "numbers", "texts")

    def __init__(self, settings: Iterable[str] = (PLACEHOLDER,)) -> None:
        spelled = [one for setting in settings for one in _placeholder_bytes(setting)]
        words = {octets.decode("utf-8", "replace") for octets in spelled}
        as_bytes = {form for octets in spelled for form in _bytes_as_texts(octets)}
        self.texts = frozenset(words | as_bytes)
        self._words = tuple(words)
        self._octets = tuple(one.encode("utf-8", "replace") for one in self.texts)
        self._in_lists = self.texts | {_placeholder_uuid(octets) for octets in spelled}
        self._maps = tuple({word: word} for word in words)
        self.numbers = tuple(
            # Java's bytes have a sign.
            [str(one - 256 if one > 127 else one) for one in octets]
            for octets in spelled
        )

    def may_be_in(self, text: str) -> bool:
        """Whether a text may be a stand-in: quickly asked, for few are."""
        # Every text of every row is asked.
        for word in self._words:
            if word in text:
                return True
        return text in self.texts

    def may_be_written_in(self, raw: bytes) -> bool:
        """Whether a text of a JSON document that has no backslash may be a stand-in."""
        return any([one in raw for one in self._octets])

    def has(self, value: Any) -> bool:
        """Whether a JSON value is a stand-in, in the column's type.

        That is a text, bytes, a list of one of these or of a UUID, a list of the bytes' numbers, or an object; or the
        JSON of a list or an object in a text, as columns of hstore have it.
        """
        if type(value) is str:
            return value in self.texts or self._has_written(value)
        if type(value) is dict:
            return value in self._maps
        if type(value) is not list:
            return False
        if len(value) == 1 and type(value[0]) is str and value[0] in self._in_lists:
            return True
        return self.has_numbers([as_text(one) for one in value])

    def has_numbers(self, texts: Sequence[str | None]) -> bool:
        """Whether numbers are those of a stand-in's bytes; of floating point they have a fraction."""
        return bool(texts) and [(one or "").removesuffix(".0") for one in texts] in self.numbers

    def _has_written(self, text: str) -> bool:
        if text[:1] not in ("[", "{") or not self.may_be_in(text):
            return False
        try:
            value = read(text)
        except MalformedJson:
            return False
        return type(value) is not str and self.has(value)


def _placeholder_bytes(setting: str) -> list[bytes]:
    """The bytes that a setting stands for; where it spells them in hexadecimal, not every connector reads it so."""
    found = [setting.encode("utf-8", "surrogatepass")]
    if setting.startswith(_HEXADECIMAL):
        try:
            found.append(bytes.fromhex(setting.removeprefix(_HEXADECIMAL)))
        except ValueError:
            return found
    return [octets for octets in found if octets]


def _bytes_as_texts(octets: bytes) -> list[str]:
    """Bytes as JSON has them, and as ``binary.handling.mode`` writes them (for ``hex`` Postgres's writes the text)."""
    standard, of_urls = base64.b64encode(octets), base64.urlsafe_b64encode(octets)
    return [standard.decode(), of_urls.decode(), octets.hex()]


def _placeholder_uuid(octets: bytes) -> str:
    """What stands in an array of UUIDs: Java's ``UUID.nameUUIDFromBytes``."""
    digest = hashlib.md5(octets, usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest, version=3))


DEFAULT_PLACEHOLDERS: Final = Placeholders()
NO_PLACEHOLDERS: Final = Placeholders(())


Reader: TypeAlias = Callable[[Any], Value]
"""From a JSON value that is not null to the column's."""

_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)


IN_BASE64: Final = " in base64"
"""What stands behind a declared type where the feed file says that the values may be base64."""
IN_TEXT: Final = " in text"
"""What stands behind ``binary`` where the feed file says how a text stands for its bytes: such a text is not read."""


class Unsent(Exception):
    """A value stands for one that was not sent."""


@dataclass(frozen=True, slots=True)
class HowRead:
    """How the values of a table are read.

    ``declared``: the feed's types of columns, and of the simple types in them by path (``column_types/parts.py``).
    Where that is a number's, a count of days or seconds stays one; without a schema, it alone can say what a number or
    a text is. ``decimals_may_be_plain``: whether a decimal's text that reads as a number is one, and not bytes in
    base64.
    """

    declared: Mapping[str, str] = field(default_factory=dict)
    decimals_may_be_plain: bool = False
    placeholders: Placeholders = NO_PLACEHOLDERS


def reader_of(name: str, kind: Kind | None, how: HowRead) -> Reader | None:
    """How a column's values are read, or those at a path; None where the JSON value's own text is the value.

    ``kind``: what the schema says of it; None without one.
    """
    declared = how.declared.get(name)
    if kind is None:
        nested = None if declared is None else column_type(declared.partition(" in ")[0])
        if isinstance(nested, Nested):
            return _reader_of_parts(name, schemas.kind_of_declared(nested), how)
        if declared is not None and declared.endswith(IN_BASE64):
            return _apart_from_base64
        return {"date": _day, "binary": _binary}.get(declared or "")
    logical = kind.name
    if kind.parts:
        return _reader_of_parts(name, kind, how)
    if logical in schemas.DATES or logical in schemas.CLOCKS or logical in schemas.MOMENTS:
        if _is_number(declared):
            return None
        if logical in schemas.DATES:
            return _day
        if logical in schemas.CLOCKS:
            return _counting(times.clock_text, schemas.CLOCKS[logical])
        return _counting(_moment, schemas.MOMENTS[logical])
    if logical == schemas.DECIMAL:
        return _decimal(kind.scale, how.decimals_may_be_plain)
    if logical == schemas.VARIABLE_DECIMAL:
        return _variable_decimal
    if logical in schemas.ISO:
        return _without_zone
    is_binary = declared in (None, "binary", f"binary{IN_TEXT}")
    return _binary if kind.type == "bytes" and is_binary else None


# Values in arrays, maps and structs. They stay JSON, in which a decimal is a number and bytes are base64.


Part: TypeAlias = Callable[[Any], Any]
"""From a JSON value that is not null to the JSON of what it stands for."""


def _reader_of_parts(name: str, kind: Kind, how: HowRead) -> Reader | None:
    part = _part_of(name, kind, how)
    if part is None:
        return None
    element = dict(kind.parts).get(ELEMENT)
    if element is None or element.name not in (schemas.DECIMAL, schemas.VARIABLE_DECIMAL):
        return lambda value: as_text(part(value))

    def read_numbers(value: Any) -> Value:
        found = part(value)
        if type(found) is list:
            texts = [as_text(one) for one in found]
            forms = (_whole_parts(texts), _unscaled_by(element.scale or 0, texts))
            if any(how.placeholders.has_numbers(some) for some in forms):
                # Each is the number of a byte of the placeholder, before the point or in all digits.
                raise Unsent
        return as_text(found)

    return read_numbers


def _part_of(path: str, kind: Kind, how: HowRead) -> Part | None:
    """How what lies at a path is read; None where it stays as it is."""
    if not kind.parts:
        return _simple_part_of(path, kind, how)
    each = {name: _part_of(f"{path}.{name}", one, how) for name, one in kind.parts}
    readers = {name: one for name, one in each.items() if one is not None}
    if kind.type == "map":
        return _map_part(readers)
    if not readers:
        return None
    if kind.type == "array":
        element = readers[ELEMENT]
        return lambda value: (
            [None if one is None else element(one) for one in value]
            if type(value) is list
            else value
        )
    return lambda value: (
        {
            name: readers[name](one) if name in readers and one is not None else one
            for name, one in value.items()
        }
        if type(value) is dict
        else value
    )


def _map_part(readers: Mapping[str, Part]) -> Part:
    """An object, of which Connect makes a list of pairs where the keys are no texts."""
    key, item = readers.get(KEY, _as_it_is), readers.get(VALUE, _as_it_is)

    def read(value: Any) -> Any:
        pairs = value
        if type(value) is dict:
            pairs = [*value.items()]
        elif type(value) is not list or any(
            type(one) is not list or len(one) != 2 for one in value
        ):
            return value
        found = {
            as_text(None if name is None else key(name)): None if one is None else item(one)
            for name, one in pairs
        }
        # What has a key twice, or none, is no map.
        return value if None in found or len(found) < len(pairs) else found

    return read


def _as_it_is(value: Any) -> Any:
    return value


def _simple_part_of(path: str, kind: Kind, how: HowRead) -> Part | None:
    if kind.type == "string" and how.declared.get(path) == "binary":
        # Nothing says how the text stands for bytes: they are its own.
        return lambda value: _in_base64(value.encode()) if type(value) is str else value
    read = None if kind.type == "bytes" and kind.name is None else reader_of(path, kind, how)
    if read is None:
        return None
    is_decimal = kind.name in (schemas.DECIMAL, schemas.VARIABLE_DECIMAL)

    def read_part(value: Any) -> Any:
        found = read(value)
        if type(found) is bytes:
            return _in_base64(found)
        if is_decimal and type(found) is str and _NUMBER.fullmatch(found):
            return Number(found)
        # What is not read stays the number or the object that it is.
        return value if found == as_text(value) else found

    return read_part


def _in_base64(octets: bytes) -> str:
    return base64.b64encode(octets).decode()


def _is_number(declared: str | None) -> bool:
    kind = None if declared is None else column_type(declared.removesuffix(IN_BASE64))
    return isinstance(kind, WholeNumber | DecimalNumber | FloatingNumber)


def bytes_of(text: str) -> bytes | None:
    """What base64 stands for, with or without its padding and line breaks; None where it is none."""
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        bare = text.replace("\r", "").replace("\n", "")
    try:
        return binascii.a2b_base64(bare + "=" * (-len(bare) % 4), strict_mode=True)
    except ValueError:
        return None


def _counting(meaning: Callable[[int, int], str | None], per_second: int) -> Reader:
    def read(value: Any) -> Value:
        number = whole(value)
        text = None if number is None else meaning(number, per_second)
        return as_text(value) if text is None else text

    return read


def _moment(number: int, per_second: int) -> str | None:
    return times.moment_text(number, per_second) or far_moment(number, per_second)


def _day(value: Any) -> Value:
    number = whole(value)
    text = None if number is None else times.day_text(number) or far_day(number)
    return as_text(value) if text is None else text


def _apart_from_base64(value: Any) -> Value:
    """A number of JSON is itself, also where its digits alone could be base64: so it gets a point."""
    return f"{value}.0" if type(value) is int else as_text(value)


def _binary(value: Any) -> Value:
    found = bytes_of(value) if type(value) is str else None
    return as_text(value) if found is None else found


def _without_zone(value: Any) -> Value:
    """Debezium ends dates and times without a zone in a Z all the same."""
    text = as_text(value)
    return None if text is None else text.rstrip("Z")


def _decimal(scale: int | None, decimals_may_be_plain: bool) -> Reader:
    """A decimal as its exact text: a JSON number, a number in a text, or the unscaled number's bytes in base64."""

    def read(value: Any) -> Value:
        if type(value) is not str or scale is None:
            return as_text(value)
        # Base64 of bytes has neither signs nor a point, and a length that four divides.
        may_be_number = decimals_may_be_plain or "." in value or "-" in value or len(value) % 4 != 0
        if may_be_number and _NUMBER.fullmatch(value):
            return value
        return _unscaled(value, scale) or value

    return read


def _whole_parts(texts: Sequence[str | None]) -> list[str | None]:
    return [None if text is None else text.partition(".")[0] for text in texts]


def _unscaled_by(scale: int, texts: Sequence[str | None]) -> list[str | None]:
    """The numbers without their point, as far as they have so many digits behind it."""
    found: list[str | None] = []
    for text in texts:
        whole_part, _, fraction = (text or "").partition(".")
        sign = "-" if whole_part.startswith("-") else ""
        digits = f"{whole_part.lstrip('+-')}{fraction}".lstrip("0")
        found.append(f"{sign}{digits}" if len(fraction) == scale and digits else None)
    return found


def _variable_decimal(value: Any) -> Value:
    if type(value) is not dict or type(value.get("value")) is not str:
        return as_text(value)
    scale = whole(value.get("scale"))
    text = None if scale is None else _unscaled(value["value"], scale)
    return as_text(value) if text is None else text


def _unscaled(text: str, scale: int) -> str | None:
    found = bytes_of(text)
    # Zero bytes are no number: Java's BigInteger always writes at least one.
    return decimal_text(found, scale) if found else None
