"""Single values as Kafka Connect's JSON converter writes them, from the bytes of Avro and of Protobuf alike."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable
from typing import Any, TypeAlias

from transforms.column_types.numbers import TooLong, decimal_text
from transforms.json_values import Number

Convert: TypeAlias = Callable[[Any], Any]
"""From a library's value, never null, to JSON's."""


class Unusable(ValueError):
    """A schema that nothing can be read by: the message says why, as the end of a sentence."""


def base64_text(value: bytes) -> str:
    """Bytes."""
    return base64.b64encode(value).decode()


def decimal_number(unscaled: bytes, scale: int) -> str:
    """As with ``decimal.format=NUMERIC``: a number, which nobody can take for base64; base64 where it is none."""
    try:
        text = decimal_text(unscaled, scale) if unscaled else None
    except TooLong:
        text = None
    return base64_text(unscaled) if text is None else Number(text)


def float64(value: float) -> str:
    """A number of 64 bits."""
    return Number(repr(value)) if math.isfinite(value) else _not_finite(value)


def float32(value: float) -> str:
    """The shortest digits that are this number among those of 32 bits, as Java writes it."""
    if not math.isfinite(value):
        return _not_finite(value)
    packed = struct.pack("<f", value)
    for digits in (6, 7, 8):
        text = f"{value:.{digits}g}"
        try:
            if struct.pack("<f", float(text)) == packed:
                return Number(repr(float(text)))
        except OverflowError:  # rounded up, it is more than 32 bits hold
            continue
    return Number(repr(float(f"{value:.9g}")))


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
