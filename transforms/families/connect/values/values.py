"""Reads one value as Connect's JSON converter writes it, into the text that the column's type accepts, or into bytes.

What cannot be read stays as it is written, so that the column's type refuses it and says what stood there.

Facts: Kafka Connect's JsonConverter (bytes are base64, struct and array stay JSON); Debezium's documentation, "Data
type mappings" (what the logical names of ``io.debezium`` count, and from when). Put here how a column's values are
read, by its type. Not here: images (``families/connect/images``), and what counts and bytes stand for
(``value_types``).
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from transforms.event import Value
from transforms.families.connect import logical_types
from transforms.families.connect.logical_types import Column
from transforms.families.connect.values.placeholders import NONE, Placeholders
from transforms.families.whole_numbers import whole
from transforms.json_values import as_text
from transforms.value_types import decimals, times

Reader: TypeAlias = Callable[[Any], Value]
"""From a JSON value that is not null to the column's."""

_NUMERIC: Final = re.compile(r"(?:tinyint|smallint|int|bigint|float|double|decimal)\b")
_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)


IN_BASE64: Final = " in base64"
"""What stands behind a declared type where the feed file says that the values may be base64."""


class Unsent(Exception):
    """A value stands for one that was not sent."""


def reader_of(
    column: Column | None,
    declared: str | None,
    decimals_may_be_plain: bool,
    placeholders: Placeholders = NONE,
) -> Reader | None:
    """How a column's values are read; None where the JSON value's own text is the value.

    Args:
        column: What the schema says of it; None where no schema does.
        declared: The type that the feed gives it, or None. Where that is a number's, a count of days or seconds stays
            one; where there is no schema, it alone can say what a number or a text is.
        decimals_may_be_plain: Whether a decimal's text that reads as a number is one, and not bytes in base64.
        placeholders: What stands for values that were not sent.
    """
    if column is None:
        if declared is not None and declared.endswith(IN_BASE64):
            return _apart_from_base64
        return {"date": _day, "binary": _binary}.get(declared or "")
    name = column.kind.name
    if column.kind.type == "array" and column.items.name == logical_types.DECIMAL:
        read = _decimal(column.items.scale, decimals_may_be_plain)
        return _all_by(read, column.items.scale or 0, placeholders)
    if column.kind.type == "array" and column.items.name == logical_types.VARIABLE_DECIMAL:
        return _all_by(_variable_decimal, 0, placeholders)
    if name in logical_types.DATES or name in logical_types.CLOCKS or name in logical_types.MOMENTS:
        is_count = declared is not None and _NUMERIC.match(declared) is not None
        return None if is_count else _of_count(name)
    if name == logical_types.DECIMAL:
        return _decimal(column.kind.scale, decimals_may_be_plain)
    if name == logical_types.VARIABLE_DECIMAL:
        return _variable_decimal
    if name in logical_types.ISO:
        return _without_zone
    return _binary if column.kind.type == "bytes" and declared in (None, "binary") else None


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


def _of_count(name: str) -> Reader:
    if name in logical_types.DATES:
        return _day
    if name in logical_types.CLOCKS:
        return _counting(times.clock_text, logical_types.CLOCKS[name])
    return _counting(times.moment_text, logical_types.MOMENTS[name])


def _counting(meaning: Callable[[int, int], str | None], per_second: int) -> Reader:
    def read(value: Any) -> Value:
        number = whole(value)
        text = None if number is None else meaning(number, per_second)
        return as_text(value) if text is None else text

    return read


def _day(value: Any) -> Value:
    number = whole(value)
    text = None if number is None else times.day_text(number)
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


def _all_by(read: Reader, scale: int, placeholders: Placeholders) -> Reader:
    """A list of decimals as JSON: each as one by itself is read."""

    def read_all(value: Any) -> Value:
        if type(value) is not list:
            return as_text(value)
        texts = [None if one is None else as_text(read(one)) for one in value]
        if any(
            placeholders.has_numbers(some)
            for some in (_whole_parts(texts), _unscaled_by(scale, texts))
        ):
            # Each is the number of a byte of the placeholder, before the point or in all digits.
            raise Unsent
        return as_text(texts)

    return read_all


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
    return decimals.decimal_text(found, scale) if found else None
