"""Schema drift in the accounts of windows: what counts, what is new, and what is to be pasted."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from transforms.feed.feed import Feed, Table
from transforms.silver.schema_drift import (
    Drift,
    Seen,
    drift_of,
    guessed_type,
    lines_to_paste,
    seen_in,
)

PETS = Table("pets", ("id",), {"id": "int"}, ("id",))
FEED = Feed("zoo", "arcion_s3_json", "/drops", tables={"pets": PETS})
FIRST, SECOND = "2025-11-20T00", "2025-11-20T01"


def account(window: str, **others: Any) -> dict[str, Any]:
    empty = {"source_table": "main.zoo.pets", "declared": "pets", "changes": 1}
    return {"window": window, **empty, "undeclared_columns": [], "stream_schemas": [], **others}


def described(window: str, **columns: str) -> dict[str, Any]:
    schema = {"key": ["id"], "columns": [{"name": n, "type": t} for n, t in columns.items()]}
    return account(window, source_table="a.vets", declared="a.vets", stream_schemas=[schema])


def test_undeclared_columns_and_tables_are_seen_with_their_first_window() -> None:
    found = seen_in(
        FEED,
        [
            account(SECOND, undeclared_columns=["age", "chip"]),
            account(FIRST, undeclared_columns=["age"]),
            account(SECOND, source_table="main.zoo.vets", declared=None),
        ],
    )
    assert found == {
        Seen("pets", "age", ""): FIRST,
        Seen("pets", "chip", ""): SECOND,
        Seen("main.zoo.vets", "", ""): SECOND,
    }
    assert drift_of(found, {Seen("pets", "age", "")}) == [
        Drift("column", "pets", SECOND, {"chip": ""}),
        Drift("table", "main.zoo.vets", SECOND),
    ]
    assert drift_of(found, [*found]) == []
    assert drift_of(found, [])[0].says == "new column age of pets, first in window 2025-11-20T00"
    as_declared = [account(FIRST), account(SECOND, declared=None, changes=0)]
    assert seen_in(FEED, as_declared) == {}


def test_a_described_table_is_new_with_its_columns_and_then_only_what_is_added() -> None:
    first = seen_in(FEED, [described(FIRST, id="int", name="string")])
    assert drift_of(first, []) == [
        Drift("table", "a.vets", FIRST, {"id": "int", "name": "string"}, is_described=True)
    ]
    second = seen_in(FEED, [described(SECOND, id="bigint", name="string", age="int")])
    assert drift_of(second, [*first]) == [
        Drift("type", "a.vets", SECOND, {"id": "bigint"}, is_described=True),
        Drift("column", "a.vets", SECOND, {"age": "int"}, is_described=True),
    ]
    assert drift_of(second, [*first, *second]) == []


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], "string"),
        ([None], "string"),
        (["1", "-20", None, "0"], "bigint"),
        (["1", "01"], "string"),
        (["1", "1.5"], "string"),
        (["1.5", "-0.125"], "decimal(18,3)"),
        (["2025-11-20"], "date"),
        (["2025-11-20 03:04:05", "2025-11-20T03:04:05Z"], "timestamp"),
        (["2025-11-20", "soon"], "string"),
        (["99999999999999999999"], "string"),
    ],
)
def test_a_type_is_guessed_only_where_all_values_fit_it(
    values: list[str | None], kind: str
) -> None:
    assert guessed_type(values) == kind


def test_what_is_to_be_pasted_is_yaml_that_says_it() -> None:
    column = Drift("column", "pets", FIRST, {"unit price": "decimal(18,2)", "no": ""})
    assert yaml.safe_load("\n".join(lines_to_paste(column))) == {
        "tables": {"pets": {"columns": {"unit price": "decimal(18,2)", "no": "string"}}}
    }
    table = Drift("table", "a.vets", FIRST, {"id": "int"}, ("id",), is_described=True)
    assert yaml.safe_load("\n".join(lines_to_paste(table))) == {
        "tables": {"a.vets": {"key": ["id"], "columns": {"id": "int"}}}
    }
    unknown = Drift("table", "vets", FIRST, {"id": "bigint"}, is_described=True)
    assert "key: [<its key>]" in "\n".join(lines_to_paste(unknown))
