"""Columns and texts of any name come through DuckDB as themselves: what it answers is right, or Spark is asked."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from assets.columns.quoting import literal, quoted
from orchestration.cli.sql import in_process
from orchestration.cli.sql.statement import parsed
from tests.support.hostile_names import HOSTILE, names
from transforms.errors import QueryRefused

OTHER = "another text"


def is_text(name: str) -> bool:
    return bool(name) and name == name.encode("utf-8", "replace").decode()


def answered(name: str, text: str) -> pa.Table | None:
    """The rows with this text in the column of this name, of a table that has one such row."""
    rows = pa.table({name: [text, OTHER, None], "n of the row": [1, 2, 3]})
    column = quoted(name)
    told = f"SELECT {column}, `n of the row` FROM gold.shop.people WHERE {column} = {literal(text)}"
    try:
        statement = parsed(told)
    except QueryRefused:
        return None
    asked = in_process.of_one_table(statement)
    if asked is None:
        return None
    assert isinstance(statement, exp.Select)
    sql = in_process.for_duckdb(statement, asked, rows.schema)
    return None if sql is None else in_process._run(sql, rows)


@settings(max_examples=500, deadline=None)
@given(names.filter(is_text), st.one_of(names.filter(is_text), st.sampled_from(HOSTILE)))
def test_a_name_and_a_text_are_themselves_or_are_left_to_spark(name: str, text: str) -> None:
    if name.lower() == "n of the row" or text == OTHER:
        return
    found = answered(name, text)
    if found is not None:
        assert found.column_names == [name, "n of the row"]
        assert found.to_pylist() == [{name: text, "n of the row": 1}]


def test_most_of_them_are_answered_here() -> None:
    some = [name for name in HOSTILE if is_text(name)]
    assert sum(answered(name, name) is not None for name in some) > 0.8 * len(some)
