"""JSON read without losing anything: numbers keep every digit, and a name that stands twice in an object is an error.

A number with a fraction or an exponent, and -0, is a ``Number``, its text as it was written; a whole one is an int of
any size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, NoReturn

import msgspec

LONGEST_NUMBER = 1_000
"""A number of more digits is no number of any source; Python would take a long time to read it."""

DEEPEST = 200
"""No source nests objects and lists so deeply; Python's own reader gives up somewhere beyond."""


class Number(str):
    """A number that is no whole one, as it was written: ``1.50`` and ``15e-1`` keep their digits."""

    __slots__ = ()


class MalformedJson(ValueError):
    """A text is no JSON document that can be trusted: the message says why, as the end of a sentence."""


_TOO_DEEP = f"it is nested too deeply: more than {DEEPEST} objects and lists within each other"
_ALIKE = bytes.maketrans(b"123456789", b"000000000")
_ENDLESS = b"0" * (LONGEST_NUMBER + 1)
"""A number that is too long, where all digits are alike."""
_MINUS_ZERO = re.compile(rb"-0(?![0-9.eE])(?<![^:,\[\s]-0)")
_WORDS = {None: "null", True: "true", False: "false"}
_quoted = json.encoder.encode_basestring


def fraction(text: str) -> Number:
    """What a fast reader has to make of a number with a fraction or an exponent.

    Raises:
        MalformedJson: It has thousands of digits.
    """
    if len(text) > LONGEST_NUMBER:
        raise MalformedJson(f"not JSON that can be trusted: a number has {len(text):,} digits")
    return Number(text)


_FAST = msgspec.json.Decoder(float_hook=fraction)
_SLOW: json.JSONDecoder


def read(data: bytes | str) -> Any:
    """The document: dict, list, str, int, ``Number``, bool or None.

    Raises:
        MalformedJson: It is not one JSON document; a name stands twice in an object; a text holds half of a surrogate
            pair, which no UTF-8 can; a number has thousands of digits; it is nested without end.
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        document = _FAST.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _slowly(raw)
    return document if is_as_read(raw, names_in(document)) else _slowly(raw)


def is_as_read(raw: bytes, names: int) -> bool:
    """Whether it shows at once that a fast reader, which found so many names, has lost nothing of a document.

    It keeps the last of two values that have one name, makes 0 of -0, which are two floats, and reads numbers of any
    length. A sign is looked for alone first: that costs next to nothing.
    """
    return (
        marks(raw) == names
        and not has_minus_zero(raw)
        and not (len(raw) > LONGEST_NUMBER and _ENDLESS in raw.translate(_ALIKE))
    )


def as_text(value: object) -> str | None:
    """A value as the text of a column: a text is itself, null is None, objects and lists are compact JSON."""
    if type(value) is str or value is None:
        return value
    if isinstance(value, bool):
        return _WORDS[value]
    return str(value) if isinstance(value, int | Number) else written(value)


def part(value: object, name: str) -> Any:
    """What an object has under a name; None where it is no object, or has nothing there."""
    return value.get(name) if type(value) is dict else None


def written(value: object) -> str:
    """A value as compact JSON, numbers as they were written; a document may be nested as deeply as one that is read."""
    parts: list[str] = []
    # What is still to be written, the next at the end: values, and signs as texts in a tuple.
    waiting: list[object] = [value]
    while waiting:
        one = waiting.pop()
        if type(one) is tuple:
            parts.append(one[0])
        elif type(one) is dict:
            parts.append("{")
            waiting.append(("}",))
            for at, (name, part) in enumerate(reversed(one.items())):
                comma = "" if at == len(one) - 1 else ","
                waiting += (part, (f"{comma}{_quoted(name)}:",))
        elif type(one) is list:
            parts.append("[")
            waiting.append(("]",))
            for at, part in enumerate(reversed(one)):
                waiting += (part, ("" if at == len(one) - 1 else ",",))
        else:
            parts.append(_scalar(one))
    return "".join(parts)


def _scalar(value: object) -> str:
    if type(value) is str:
        return _quoted(value)
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, Number | int):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no value of JSON")


def marks(raw: bytes) -> int:
    """How many quotes with a colon after them end a name or begin a text; -1 where that cannot be counted so simply.

    Where there are more of these than names in the objects, a name may have stood twice.
    """
    compact = raw.translate(None, b" \t\r\n")
    found = compact.count(b'":')
    if b"\\" not in compact:
        return found
    # A quote within a text stands behind a backslash, and so does one that ends a text with a backslash at its end.
    return -1 if b'\\\\":' in compact else found - compact.count(b'\\":')


def has_texts(raw: bytes, texts: int) -> bool:
    """Whether it shows at once that a document has so many texts, its names among them.

    Where a name stands twice in an object, a reader that keeps the last of them has fewer texts than there are.
    """
    quotes = raw.count(b'"')
    if b"\\" in raw:
        quotes = -1 if b"\\\\" in raw else quotes - raw.count(b'\\"')
    return quotes == 2 * texts


def has_minus_zero(raw: bytes) -> bool:
    """Whether there is a -0, of which a fast reader makes 0."""
    return b"-0" in raw and _MINUS_ZERO.search(raw) is not None


def names_in(document: object) -> int:
    """How many names there are in all objects of a document."""
    found = 0
    level = [document]
    for _ in range(DEEPEST):
        below: list[object] = []
        for value in level:
            parts: Iterable[object] = ()
            if type(value) is dict:
                found += len(value)
                parts = value.values()
            elif type(value) is list:
                parts = value
            for part in parts:
                kind = type(part)
                if kind is dict or kind is list:
                    below.append(part)
        if not below:
            return found
        level = below
    raise MalformedJson(_TOO_DEEP)


def _slowly(raw: bytes) -> Any:
    """The document by Python's own reader, which says what is wrong."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise MalformedJson(f"byte {fault.start} is no UTF-8") from None
    try:
        document = _SLOW.decode(text)
    except MalformedJson:
        raise
    except RecursionError:
        raise MalformedJson(_TOO_DEEP) from None
    except json.JSONDecodeError as fault:
        # A record has lines of its own; that it is not the file's that are counted has to be said.
        location = f"line {fault.lineno} column {fault.colno} of the document"
        raise MalformedJson(f"not JSON: {fault.msg.removesuffix(' at')} at {location}") from None
    try:
        _sound(document)
    except UnicodeEncodeError:
        raise MalformedJson("a text holds half of a surrogate pair") from None
    return document


def _sound(document: object) -> None:
    """Raise where a text holds half of a surrogate pair (it may have been written as an escape), or it is too deep."""
    level, depth = [document], 0
    while level:
        depth += 1
        below: list[object] = []
        for value in level:
            if isinstance(value, str):
                value.encode("utf-8")
            elif isinstance(value, dict | list):
                if depth > DEEPEST:
                    raise MalformedJson(_TOO_DEEP)
                below += value
                if isinstance(value, dict):
                    below += value.values()
        level = below


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise MalformedJson(f"a name stands twice in one object: {name}")
        found[name] = value
    return found


def _whole(text: str) -> int | Number:
    if len(text) > LONGEST_NUMBER:
        raise MalformedJson(f"not JSON that can be trusted: a number has {len(text):,} digits")
    return Number(text) if text == "-0" else int(text)


def _constant(text: str) -> NoReturn:
    raise MalformedJson(f"{text} is no number in JSON")


_SLOW = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole, parse_float=fraction, parse_constant=_constant
)
