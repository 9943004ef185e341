"""Texts by which rows were compared, as values that gold's types take."""

from __future__ import annotations

import pytest

from transforms.column_types.registry import column_type
from transforms.reconcile.row_texts import Compared, Form, SourceColumn
from transforms.reconcile.source_values import value_of

CASES = [
    ("number", "decimal(20,2)", "-1.5", "-1.50"),
    ("number", "bigint", "9223372036854775807", "9223372036854775807"),
    ("exact", "string", "1.50", "1.50"),
    ("text", "string", "é|~:7", "é|~:7"),
    ("text", "string", "", ""),
    ("truth", "boolean", "true", "true"),
    ("day", "date", "0001-01-01", "0001-01-01"),
    ("moment", "timestamp", "2026-11-20 10:00:00.000001", "2026-11-20 10:00:00.000001"),
    ("clock", "timestamp_ntz", "2026-11-20 10:00:00.5", "2026-11-20 10:00:00.5"),
    ("bytes", "binary", "00ff61", "AP9h"),
    ("bytes", "binary", "", ""),
    ("float32", "float", "3dcccccd", "0.1"),
    ("float64", "double", "3fb999999999999a", "0.1"),
    ("float64", "double", "7ff8000000000000", "NaN"),
    ("float32", "float", "ff800000", "-Infinity"),
    ("array of number", "array<int>", "[1,~,-3]", "[1,null,-3]"),
    ("array of number", "array<decimal(10,2)>", "[1.5,2]", "[1.50,2.00]"),
    ("array of text", "array<string>", '[5:a,b~",~,0:]', '["a,b~\\"",null,""]'),
    ("array of text", "array<string>", "[]", "[]"),
    ("array of text", "array<string>", "[0:]", '[""]'),
    ("array of text", "array<string>", "[~]", "[null]"),
    ("array of truth", "array<boolean>", "[true,~]", "[true,null]"),
    ("array of day", "array<date>", "[2026-11-20]", '["2026-11-20"]'),
]


@pytest.mark.parametrize(("form", "kind", "text", "canonical"), CASES)
def test_each_form_is_read_as_the_type_has_it(
    form: str, kind: str, text: str, canonical: str
) -> None:
    name, _, element = form.partition(" of ")
    column = Compared("c", SourceColumn("c", "any"), kind, Form(name, element or None))
    value = value_of(text, column)
    assert value is not None
    assert column_type(kind).judge(value) == canonical
    assert value_of(None, column) is None
