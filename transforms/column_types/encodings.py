"""How a column's values are written where neither the record nor the type says it: counts of time, decimals in base64.

A feed file says it by column (``encoded``): ``seconds``, ``millis``, ``micros`` or ``nanos`` since 1970 for a
timestamp, ``days`` since 1970 for a date, ``millis_of_day`` and its kin since midnight for a time of day, which is a
string. ``base64`` is a decimal's unscaled number in big-endian two's complement; ``base64(2)`` also says the source's
scale, which is the column's own elsewhere. Of bytes that come as texts it is how the texts stand for them: ``base64``,
``base64-url-safe`` or ``hex``, as Debezium's ``binary.handling.mode`` calls it. A value that is already written as its
type has it is taken as it is, so that a source may have changed its ways. Nothing is rounded.

Vendor: Kafka Connect, org.apache.kafka.connect.data.Decimal and JsonConverter; Debezium's documentation, "Data type
mappings" (``decimal.handling.mode=precise``, ``time.precision.mode=adaptive``), https://debezium.io/documentation/
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from transforms import json_values
from transforms.column_types.column_type import Judge
from transforms.column_types.numbers import BASE64, DecimalNumber, TooLong, decimal_text
from transforms.column_types.registry import column_type
from transforms.column_types.texts import OF_BYTES
from transforms.column_types.times import (
    DAYS,
    OF_DAY,
    SINCE_1970,
    clock_text,
    day_text,
    moment_text,
)

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,40}")
_BASE64: Final = re.compile(r"base64(?:\(([0-9]{1,2})\))?")
_EARLIEST, _RECENT, _LATEST = -1_577_923_200, 631_152_000, 4_102_444_800
"""The beginnings of 1920, 1990 and 2100, in seconds since 1970."""
_DAY: Final = 86_400


def spoken(unit: str) -> str:
    """A unit of time as a sentence has it."""
    return f"{unit.removesuffix('s')}seconds" if unit in SINCE_1970 and unit != "seconds" else unit


class UnfitEncoding(ValueError):
    """Values of a type cannot be written so; the message says why, as the end of a sentence, ``known`` how they can."""

    def __init__(self, fault: str, known: tuple[str, ...] = ()) -> None:
        self.known = known
        super().__init__(fault)


def fitting(type_name: str) -> tuple[str, ...]:
    """The ways in which values of a type may be written, by their names; empty where its texts say all."""
    return column_type(type_name).encodings


def check(type_name: str, encoding: str) -> None:
    """Refuse an encoding that values of the type cannot have.

    Raises:
        UnfitEncoding: there is no such encoding, or not for this type; or a scale is larger than the type's.
    """
    known = fitting(type_name)
    if not known:
        raise UnfitEncoding(
            "is for columns of type decimal, date, timestamp, timestamp_ntz, string or binary, and this one is a"
            f" {type_name}"
        )
    if known == OF_BYTES:
        if encoding not in known:
            raise UnfitEncoding(f"{encoding!r} is no way in which a {type_name} is written", known)
        return
    in_base64 = _BASE64.fullmatch(encoding) if BASE64 in known else None
    if in_base64 is None and (encoding not in known or BASE64 in known):
        raise UnfitEncoding(f"{encoding!r} is no way in which a {type_name} is written", known)
    if in_base64 is not None and int(in_base64[1] or 0) > (scale := _scale_of(type_name)):
        raise UnfitEncoding(
            f"{encoding} has more digits behind the point than {type_name} keeps, which are {scale}:"
            " declare a decimal with as many as the source has"
        )


def is_base64(encoding: str | None) -> bool:
    """Whether values are written as decimals in base64."""
    return encoding is not None and encoding.startswith(BASE64)


@lru_cache(maxsize=4096)
def judge_of_encoded(type_name: str, encoding: str) -> Judge:
    """The judge of a type whose values are written so; the pair has passed ``check``."""
    judge = column_type(type_name).judge
    if type_name == "binary":
        return _of_bytes(judge, encoding)
    if in_base64 := _BASE64.fullmatch(encoding):
        return _of_base64(judge, int(in_base64[1] or _scale_of(type_name)))
    return _of_counts(judge, _meaning(encoding))


def _meaning(encoding: str) -> Callable[[int], str | None]:
    if encoding == DAYS:
        return day_text
    if encoding in OF_DAY:
        return lambda number: clock_text(number, OF_DAY[encoding])
    return lambda number: moment_text(number, SINCE_1970[encoding])


def _of_counts(judge: Judge, meaning: Callable[[int], str | None]) -> Judge:
    def judged(value: str | bytes) -> str | None:
        text = value if isinstance(value, str) else value.decode("utf-8", "replace")
        if _WHOLE.fullmatch(text) is None:
            return judge(value)
        said = meaning(int(text))
        return None if said is None else judge(said)

    return judged


def _of_base64(judge: Judge, scale: int) -> Judge:
    def judged(value: str | bytes) -> str | None:
        if isinstance(value, str) and "." in value:
            # Base64 has none: the number itself. Without a point its digits could be base64.
            return judge(value)
        text = _number(value, scale)
        return None if text is None else judge(text)

    return judged


def _of_bytes(judge: Judge, encoding: str) -> Judge:
    def judged(value: str | bytes) -> str | None:
        if isinstance(value, bytes):
            return judge(value)
        try:
            if encoding == "hex":
                return judge(bytes.fromhex(value)) if value.isalnum() or not value else None
            standard = value.translate(_OF_URLS) if encoding == "base64-url-safe" else value
            return judge(b64decode(standard + "=" * (-len(standard) % 4), validate=True))
        except ValueError:
            return None

    return judged


_OF_URLS: Final = str.maketrans({"-": "+", "_": "/", "+": "-", "/": "_"})


def _number(value: str | bytes, scale: int) -> str | None:
    """The number that stands in base64, as text; None where the value is none."""
    raw, places = unscaled(value), scale
    if raw is None and isinstance(value, str):
        raw, places = variable(value) or (None, scale)
    try:
        return decimal_text(raw, places) if raw else None
    except TooLong:
        return None


def too_long(type_name: str, encoding: str, value: str | bytes) -> str | None:
    """The number in base64 that has more digits than its column keeps; None for any other value or encoding."""
    in_base64 = None if type_name == "binary" else _BASE64.fullmatch(encoding)
    if in_base64 is None or (isinstance(value, str) and "." in value):
        return None
    number = _number(value, int(in_base64[1] or _scale_of(type_name)))
    return number if number is not None and column_type(type_name).judge(number) is None else None


def unscaled(value: str | bytes) -> bytes | None:
    """The bytes of a decimal's unscaled number; None where the text is no base64 as Connect writes it."""
    if isinstance(value, bytes):
        return value
    try:
        return b64decode(value, validate=True)
    except ValueError:
        return None


def variable(text: str) -> tuple[bytes, int] | None:
    """Bytes and scale of Debezium's VariableScaleDecimal, an object that brings its scale with each value."""
    if not text.startswith("{"):
        return None
    try:
        found = json_values.read(text)
    except json_values.MalformedJson:
        return None
    written, scale = found.get("value"), found.get("scale")
    raw = unscaled(written) if type(written) is str else None
    return (raw, scale) if raw and type(scale) is int else None


def _scale_of(type_name: str) -> int:
    kind = column_type(type_name)
    return kind.scale if isinstance(kind, DecimalNumber) else 0


def suggested(type_name: str, value: object) -> str | None:
    """How a value that does not fit its type seems to be written; None where nothing suggests it."""
    if not isinstance(value, str):
        return None
    ways = fitting(type_name)
    if ways == OF_BYTES:
        return None
    if BASE64 in ways:
        is_one = is_unscaled(value) and not is_word(value)
        return BASE64 if is_one or variable(value) else None
    if not ways or _WHOLE.fullmatch(value) is None:
        return None
    number = int(value)
    if ways == (DAYS,):
        return DAYS if is_recent(number, number, DAYS) else None
    return unit_of(number, number) if "micros" in ways else None


def is_unscaled(text: str) -> bool:
    """Whether a text reads as base64 of a decimal: at most 16 bytes, and as few as the number needs, as Java writes it.

    Words of four or eight letters do, too.
    """
    raw = unscaled(text)
    if not raw or len(raw) > 16:
        return False
    return len(raw) == 1 or not (
        (raw[0] == 0 and raw[1] < 0x80) or (raw[0] == 0xFF and raw[1] >= 0x80)
    )


def is_word(text: str) -> bool:
    """Whether a text of base64 is as likely a word, or a number of digits."""
    return text.isdigit() or (text.isalpha() and (text[1:].islower() or text.isupper()))


def unit_of(least: int, most: int) -> str | None:
    """What whole numbers count since 1970, if the latest is of 1990 to 2100 and none is from before 1920."""
    return next((unit for unit in SINCE_1970 if is_recent(least, most, unit)), None)


def is_recent(least: int, most: int, unit: str) -> bool:
    """Whether whole numbers count this unit since 1970, from 1920 at the earliest, with some from 1990 to 2100."""
    per, of = (1, _DAY) if unit == DAYS else (SINCE_1970[unit], 1)
    return _EARLIEST * per <= least * of and _RECENT * per <= most * of < _LATEST * per
