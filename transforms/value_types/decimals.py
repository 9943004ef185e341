"""Decimals as Kafka Connect writes them: the unscaled number in big-endian two's complement, and a scale.

Vendor: Kafka Connect, org.apache.kafka.connect.data.Decimal; Debezium's VariableScaleDecimal. Put here how the bytes of
a decimal become its text. Not here: which column is a decimal.
"""

from __future__ import annotations

from typing import Final

LONGEST: Final = 415
"""Bytes of the longest number that is read: it has 1,000 digits, as the longest in JSON may have."""

_SCALES: Final = range(-1_000, 1_001)


class TooLong(ValueError):
    """A number has more digits than any source's.

    The message says what the value is ("a number of ... bytes"): the caller puts the column's name before it.
    """


def decimal_text(unscaled: bytes, scale: int) -> str | None:
    """The number's exact text, with so many digits after the point; None for a scale beyond reason.

    Raises:
        TooLong: It has thousands of digits.
    """
    if scale not in _SCALES:
        return None
    if len(unscaled) > LONGEST:
        raise TooLong(
            f"a number of {len(unscaled):,} bytes; the longest that is read has {LONGEST:,}"
        )
    number = int.from_bytes(unscaled, "big", signed=True)
    digits = str(abs(number))
    sign = "-" if number < 0 else ""
    if scale > 0:
        digits = digits.zfill(scale + 1)
        return f"{sign}{digits[:-scale]}.{digits[-scale:]}"
    return f"{sign}{digits}{'' if number == 0 else '0' * -scale}"
