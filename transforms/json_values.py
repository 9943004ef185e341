"""JSON as values that lose nothing: every digit of a number, and names that stand twice are told of.

A number with a fraction or an exponent is a ``Number``, its text as it was written; a whole one is an int of any size.
Put here what reading JSON means for every format. Not here: cutting a text into documents (``splitting``), and what a
document means (``formats``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NoReturn

import msgspec

LONGEST_NUMBER = 4_000
"""A number of more digits is no number of any source; Python would take a long time to read it."""


class Number(str):
    """A number that is no whole one, as it was written: ``1.50`` and ``15e-1`` keep their digits."""

    __slots__ = ()


class MalformedJson(ValueError):
    """A text is no JSON document that can be trusted: the message says why, as the end of a sentence."""


_FAST = msgspec.json.Decoder(float_hook=Number)
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
    # Each name of an object is followed by a quote and a colon. Where there are more of these than names, one may have
    # stood twice, or a text has them; a backslash before a quote belongs to a text, unless it is escaped itself.
    if b"\\\\" in raw or raw.count(b'":') - raw.count(b'\\":') != _names(document):
        return _slowly(raw)
    return document


def _names(value: object) -> int:
    """How many names there are in all objects of a document."""
    if type(value) is dict:
        found = len(value)
        for part in value.values():
            if type(part) is dict or type(part) is list:
                found += _names(part)
        return found
    if type(value) is list:
        return sum(_names(part) for part in value)
    return 0


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
        raise MalformedJson("it is nested too deeply") from None
    except ValueError as fault:
        raise MalformedJson(f"not JSON: {fault}") from None
    try:
        _sound(document)
    except UnicodeEncodeError:
        raise MalformedJson("a text holds half of a surrogate pair") from None
    return document


def _sound(document: object) -> None:
    """Raise where a text holds half of a surrogate pair: it may have been written as an escape."""
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            value.encode("utf-8")
        elif isinstance(value, dict):
            waiting += value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise MalformedJson(f"the name {name!r} stands twice in one object")
        found[name] = value
    return found


def _whole(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise MalformedJson(f"a number has {len(text):,} digits")
    return int(text)


def _fraction(text: str) -> Number:
    if len(text) > LONGEST_NUMBER:
        raise MalformedJson(f"a number has {len(text):,} digits")
    return Number(text)


def _constant(text: str) -> NoReturn:
    raise MalformedJson(f"{text} is no number in JSON")


_SLOW = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole, parse_float=_fraction, parse_constant=_constant
)
