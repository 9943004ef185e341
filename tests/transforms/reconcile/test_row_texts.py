"""Which columns are compared and in which form; the texts themselves are compared with real servers."""

from __future__ import annotations

import pyarrow as pa
import pytest

from transforms.reconcile.row_texts import (
    Compared,
    Declared,
    Form,
    SourceColumn,
    columns_of,
    form_of,
)
from transforms.reconcile.source_sql import GoldSql, MySql, PostgresSql, in_plain_types, row_text


@pytest.mark.parametrize(
    ("source", "gold", "form"),
    [
        ("integer", "int", "number"),
        ("numeric", "decimal(10,2)", "number"),
        ("bigint", "decimal(20,0)", "number"),
        ("numeric", "string", "exact"),
        ("uuid", "string", "text"),
        ("character", "string", "padded"),
        ("timestamp with time zone", "timestamp", "moment"),
        ("timestamp without time zone", "timestamp", "clock"),
        ("datetime", "timestamp_ntz", "clock"),
        ("mediumblob", "binary", "bytes"),
        ("tinyint", "boolean", "truth"),
        ("double precision", "double", "float64"),
    ],
)
def test_two_types_share_a_form(source: str, gold: str, form: str) -> None:
    found = form_of(SourceColumn("a", source), gold, "quarantine")
    assert isinstance(found, Form)
    assert found.name == form


@pytest.mark.parametrize(
    ("source", "gold", "why"),
    [
        ("interval", "string", "interval and gold's string are not written alike"),
        ("real", "double", "real and gold's double are not written alike"),
        ("double", "double", "double and gold's double are not written alike"),
        ("timestamp with time zone", "timestamp_ntz", "are not written alike"),
        ("text", "array<string>", "text is no array, as gold's column is"),
        ("jsonb", "map<string,int>", "jsonb and gold's map<string,int> are not written alike"),
    ],
)
def test_what_has_no_form_is_said(source: str, gold: str, why: str) -> None:
    found = form_of(SourceColumn("a", source), gold, "quarantine")
    assert isinstance(found, str)
    assert why in found


def test_each_column_is_compared_or_named_with_the_reason() -> None:
    gold = {
        "id": Declared("int"),
        "mail": Declared("string", masked=True),
        "unit_price": Declared("decimal(9,2)"),
        "gone": Declared("string"),
    }
    source = {one.name: one for one in (
        SourceColumn("unit price", "numeric"), SourceColumn("id", "integer"), SourceColumn("mail", "text"),
        SourceColumn("new", "text"),
    )}  # fmt: skip
    found = columns_of(gold, ["id"], source, {"unit price": "unit_price"})
    assert [(one.name, one.source.name) for one in found.all] == [
        ("id", "id"),
        ("unit_price", "unit price"),
    ]
    assert found.left_out == {
        "mail": "it is masked",
        "gone": "the source has no such column",
        "new": "gold has no such column",
    }


def test_a_name_ends_no_quotes_and_is_no_place_for_a_value() -> None:
    column = Compared("n", SourceColumn('a"b%s', "integer"), "int", Form("number"))
    assert PostgresSql().text(column) == '"a""b%%s"::text'
    assert MySql().name(column) == '"a""b%%s"'
    assert GoldSql().text(column) == '"n"::VARCHAR'


def test_texts_have_their_length_so_that_no_two_rows_are_written_alike() -> None:
    columns = [Compared(name, SourceColumn(name, "text"), "string", Form("text")) for name in "ab"]
    assert row_text(GoldSql(), columns) == (
        """concat(coalesce(length("a"::VARCHAR) || ':' || "a"::VARCHAR, '~'), '|', """
        """coalesce(length("b"::VARCHAR) || ':' || "b"::VARCHAR, '~'))"""
    )


def test_floating_numbers_are_their_bits_with_one_zero() -> None:
    column = pa.chunked_array([[1.0, -0.0, None], [float("nan")]], pa.float64())
    found = in_plain_types(column, Form("float64"))
    assert found.to_pylist() == [0x3FF0 << 48, 0, None, 0x7FF8 << 48]
