"""Attribute operations of decimals and unsigned numbers at the edge of what they hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from transforms.column_types.operations import applied

WIDE = "decimal(38,10)"
NEARLY_ALL = "9999999999999999999999999999.9999999999"


@pytest.mark.parametrize(
    ("operation", "old", "new", "expected"),
    [
        ("Add", "0.0000000001", "0.0000000002", "0.0000000003"),
        ("Minus", NEARLY_ALL, "0.0000000009", "9999999999999999999999999999.9999999990"),
        ("Add", NEARLY_ALL, "0.0000000001", None),
        ("Minus", "-" + NEARLY_ALL, "1", None),
    ],
)
def test_a_sum_of_wide_decimals_keeps_its_last_digit_and_is_null_where_it_does_not_fit(
    operation: str, old: str, new: str, expected: str | None
) -> None:
    assert applied(WIDE, operation, old, new) == expected


def test_an_unsigned_number_keeps_all_its_64_bits_and_wraps_around() -> None:
    most, high = 2**64 - 1, 2**63
    numbers = [0, 1, 2**32 - 1, 2**32, 2**32 + 1, high - 1, high, high + 5, most - 1, most]
    meant: dict[str, Callable[[int, int], int]] = {
        "Add": lambda one, other: (one + other) % 2**64,
        "Minus": lambda one, other: (one - other) % 2**64,
        "And": lambda one, other: one & other,
        "Or": lambda one, other: one | other,
        "Max": max,
        "Min": min,
    }
    for name, meaning in meant.items():
        for one in numbers:
            for other in numbers:
                made = applied("decimal(20,0)", name, str(one), str(other))
                assert made == str(meaning(one, other)), (name, one, other)
