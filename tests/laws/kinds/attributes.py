"""Values of every type with the operations that fit them: near the limits, and order-sensitive.

Floats are such that the order of additions matters, yet no sum is NaN, infinite or -0.0; decimals
stay far from overflow however many of them a history adds up.
"""

from __future__ import annotations

import json
from random import Random

from tests.laws.drawn.histories import VALUES
from tests.laws.oracle.oracle import Image, Table
from tests.laws.oracle.values import FITS, class_of, parts_of

SCALARS = {
    "tinyint": ["0", "1", "-1", "100", "-100", "127", "-128"],
    "smallint": ["0", "1", "-1", "20000", "-20000", "32767", "-32768"],
    "int": ["0", "1", "-65535", "1500000000", "-1500000000", "2147483647", "-2147483648"],
    "bigint": [
        "0", "1", "-1", "9007199254740993", "5611686018427387904", "9223372036854775807",
        "-9223372036854775807", "-9223372036854775808",
    ],
    "float": ["0.0", "1.0", "0.1", "0.3", "-2.5", "16777216.0", "1.0E8", "-1.0E8"],
    "double": ["0.0", "1.0", "0.1", "0.2", "0.7", "-0.1", "1.0E16", "-1.0E16"],
    "decimal(12,2)": ["0.00", "0.01", "-0.01", "0.10", "12.30", "99999999.99", "-99999999.99"],
    "boolean": ["true", "false"],
    # U+FF21 comes before U+1F600, though not where texts are compared in halves of 16 bits.
    "string": ["", "a", "b", "ab", "B", " ", "é", "日本", "\uff21", "😀", 'say "hi"', "\\", "a\nb"],
    "date": ["1969-12-31", "1999-12-31", "2024-02-29", "2038-01-19"],
    "timestamp": VALUES["c4"],
}  # fmt: skip
_ELEMENTS = SCALARS | {"string": ["a", "b", "", "a,b", "é", '"', "]"]}
_MAP_KEYS = {"string": ["x", "y", "z", "", "é", "x.y"], "bigint": ["0", "1", "2", "-1"]}
_BARE = {"integer", "floating", "boolean"}  # in JSON they stand without quotes


def value(rng: Random, type_name: str) -> str:
    """A text of the type; those of arrays, sets and maps are JSON."""
    outer, *inner = parts_of(type_name)
    if not inner:
        return rng.choice(SCALARS[outer])
    if outer == "map":
        keys = rng.sample(_MAP_KEYS[inner[0]], rng.randint(0, 3))
        parts = [f"{json.dumps(key)}:{_element(rng, inner[1])}" for key in keys]
        return "{" + ",".join(parts) + "}"
    parts = [_element(rng, inner[0]) for _ in range(rng.randint(0, 4))]
    return "[" + rng.choice([",", ", "]).join(parts) + "]"


def _element(rng: Random, type_name: str) -> str:
    text = rng.choice(_ELEMENTS[type_name])
    if class_of(type_name) in _BARE:
        return text
    return json.dumps(text, ensure_ascii=rng.random() < 0.5)


def operations(type_name: str) -> list[str]:
    """The attribute operations that fit the type."""
    fitting = [operation for operation in FITS if class_of(type_name) in FITS[operation]]
    return [*fitting, "IgnoreIfExisted"]


def changed(rng: Random, table: Table, columns: list[str]) -> tuple[Image, dict[str, str]]:
    """New values for the columns, and the operations of those that are not overwritten."""
    after: Image = {
        name: None if rng.random() < 0.05 else value(rng, table.columns[name]) for name in columns
    }
    ops: dict[str, str] = {}
    for name in columns:
        fitting = operations(table.columns[name])
        # Sums are what goes wrong most easily, so they are drawn most often.
        sums = [operation for operation in fitting if operation in ("Add", "Minus")]
        if rng.random() < 0.7:
            ops[name] = rng.choice(fitting + 2 * sums)
    return after, ops
