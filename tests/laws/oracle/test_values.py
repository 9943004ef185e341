"""Types and attribute operations, each with an outcome worked out by hand."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.laws.oracle.values import operated, typed


@pytest.mark.parametrize(
    ("type_name", "text", "value"),
    [
        ("bigint", "-9223372036854775808", -(2**63)),
        ("decimal(12,2)", "1.5", Decimal("1.50")),
        ("decimal(38,2)", "123456789012345678901234567890123456.78",
         Decimal("123456789012345678901234567890123456.78")),
        ("double", "0.1", 0.1),
        ("float", "0.1", 13421773 / 134217728),
        ("boolean", "false", False),
        ("string", "", ""),
        ("date", "2024-02-29", "2024-02-29"),
        ("timestamp", "2024-02-29 12:30:00", "2024-02-29 12:30:00"),
        ("array<string>", '["b", "a", "b", null]', ["b", "a", "b", None]),
        ("array<boolean>", "[true,false]", [True, False]),
        ("array<bigint>", "[9007199254740993]", [9007199254740993]),
        ("array<float>", "[0.1]", [13421773 / 134217728]),
        ("set<bigint>", "[10, 9, 10]", [9, 10]),
        ("set<string>", '["10","9","😀","\uff21"]', ["10", "9", "\uff21", "😀"]),
        ("map<string,bigint>", '{"a": 1, "": -1}', {"a": 1, "": -1}),
        ("map<bigint,double>", '{"7": 1e2}', {7: 100.0}),
        ("map<string,decimal(12,2)>", '{"a": 0.1}', {"a": Decimal("0.10")}),
    ],
)  # fmt: skip
def test_a_text_has_one_value(type_name: str, text: str, value: object) -> None:
    assert typed(text, type_name) == value
    assert type(typed(text, type_name)) is type(value)
    assert typed(None, type_name) is None


# Operation, type, the column's value, the new value, and what comes out.
TABLE = """
Add          | tinyint             | 127                  | 1                    | -128
Add          | tinyint             | -128                 | -128                 | 0
Add          | smallint            | 32767                | 2                    | -32767
Add          | int                 | 2147483647           | 1                    | -2147483648
Add          | bigint              | 9223372036854775807  | 1                    | -9223372036854775808
Add          | bigint              | 9007199254740992     | 1                    | 9007199254740993
Minus        | tinyint             | -128                 | 1                    | 127
Minus        | bigint              | -9223372036854775808 | 1                    | 9223372036854775807
Minus        | int                 | 5                    | 7                    | -2
Max          | int                 | 9                    | 10                   | 10
Min          | int                 | 9                    | 10                   | 9
And          | int                 | 6                    | 3                    | 2
Or           | bigint              | 6                    | 3                    | 7
And          | tinyint             | -1                   | 100                  | 100
Add          | decimal(12,2)       | 0.10                 | 0.20                 | 0.30
Minus        | decimal(12,2)       | 0.10                 | 0.20                 | -0.10
Max          | decimal(12,2)       | 9.00                 | 10.00                | 10.00
Add          | float               | 100000000.0          | 1.0                  | 100000000.0
Add          | float               | 16777216.0           | 1.0                  | 16777216.0
Add          | double              | 100000000.0          | 1.0                  | 100000001.0
Add          | double              | 0.1                  | 0.2                  | 0.30000000000000004
Minus        | double              | 0.3                  | 0.1                  | 0.19999999999999998
Min          | float               | -2.5                 | 1.0                  | -2.5
And          | boolean             | true                 | false                | false
Or           | boolean             | true                 | false                | true
Add          | string              | ab                   | a                    | aba
Max          | string              | 9                    | 10                   | 9
Min          | string              | a                    | B                    | B
Max          | string              | Ａ                   | 😀                   | 😀
Max          | timestamp           | 1999-12-31 23:59:59  | 2024-02-29 12:30:00  | 2024-02-29 12:30:00
Min          | date                | 1999-12-31           | 2024-02-29           | 1999-12-31
Add          | array<bigint>       | [2,1]                | [1,3]                | [2,1,1,3]
Minus        | array<string>       | ["a","b","a"]        | ["a","c"]            | ["b"]
Add          | set<bigint>         | [10,9]               | [9,1]                | [1,9,10]
Minus        | set<string>         | ["b","a"]            | ["b","x"]            | ["a"]
Add          | map<string,bigint>  | {"a":1,"b":2}        | {"b":3,"c":4}        | {"a":1,"b":5,"c":4}
Add          | map<string,tinyint> | {"a":127}            | {"a":1}              | {"a":-128}
Add          | map<string,string>  | {"a":"x"}            | {"a":"y","b":"z"}    | {"a":"xy","b":"z"}
Add          | map<string,boolean> | {"a":true}           | {"a":false}          | {"a":false}
Add          | map<string,date>    | {"a":"2024-01-01"}   | {"a":"2023-01-01"}   | {"a":"2023-01-01"}
Minus        | map<string,bigint>  | {"a":1,"b":2}        | {"a":7,"c":7}        | {"b":2}
ReplaceOrAdd | map<string,bigint>  | {"a":1,"b":2}        | {"b":3,"c":4}        | {"a":1,"b":3,"c":4}
"""
CASES = [[cell.strip() for cell in line.split("|")] for line in TABLE.strip().splitlines()]


@pytest.mark.parametrize(("operation", "type_name", "old", "new", "outcome"), CASES)
def test_an_operation_gives_what_its_type_makes_of_it(
    operation: str, type_name: str, old: str, new: str, outcome: str
) -> None:
    value = operated(operation, typed(old, type_name), typed(new, type_name), type_name)
    assert value == typed(outcome, type_name)


def test_floats_are_rounded_after_every_step() -> None:
    total = typed("0.0", "float")
    for _ in range(10):
        total = operated("Add", total, typed("0.1", "float"), "float")
    # Ten tenths in 24 bits are one and its next neighbour; rounded once, at the end, just one.
    assert total == 1.0 + 2.0**-23
    total = operated("Add", typed("1.0E8", "float"), typed("1.0", "float"), "float")
    assert operated("Minus", total, typed("1.0E8", "float"), "float") == 0.0


@pytest.mark.parametrize("operation", ["Add", "Max", "Min", "And", "Or"])
def test_nulls_give_way_to_values(operation: str) -> None:
    assert operated(operation, None, 7, "int") == 7
    assert operated(operation, 7, None, "int") == 7
    assert operated(operation, None, None, "int") is None


def test_minus_leaves_null_and_maps_follow_the_same_rule() -> None:
    assert operated("Minus", None, 7, "int") is None
    assert operated("Minus", 7, None, "int") == 7
    assert operated("ReplaceOrAdd", None, {"a": 1}, "map<string,bigint>") == {"a": 1}
    assert operated("ReplaceOrAdd", {"a": 1}, None, "map<string,bigint>") == {"a": 1}


def test_ignore_if_existed_fits_every_type() -> None:
    assert operated("IgnoreIfExisted", 1, 7, "int") == 1
    assert operated("IgnoreIfExisted", [1], [7], "array<bigint>") == [1]
    # What counts is that the row was there, not what stood in the column.
    assert operated("IgnoreIfExisted", None, "2024-01-01", "date") is None


@pytest.mark.parametrize(
    "misfit",
    [
        "Add boolean", "Add date", "Add timestamp", "Minus boolean", "Minus string",
        "Minus timestamp", "Max boolean", "Min array<int>", "Max set<int>", "Max map<string,int>",
        "And decimal(12,2)", "Or double", "And string", "Or date", "And array<int>",
        "ReplaceOrAdd int", "ReplaceOrAdd set<int>", "ReplaceOrAdd array<int>",
    ],
)  # fmt: skip
def test_what_the_document_leaves_empty_does_not_fit(misfit: str) -> None:
    operation, _, type_name = misfit.partition(" ")
    with pytest.raises(ValueError, match=f"{operation} does not fit"):
        operated(operation, None, None, type_name)
