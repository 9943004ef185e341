"""Which columns of a table Great Expectations is given: no more than its expectations are about."""

from __future__ import annotations

import pyarrow as pa
import pytest

from assets.quality.declared_checks import wanted_columns
from transforms.feed.feed import DeclaredExpectation

STORED = pa.schema(
    [
        *[("id", pa.int64()), ("name", pa.string()), ("city", pa.string())],
        *[("tags", pa.list_(pa.string())), ("_weir_event_at", pa.int64())],
    ]
)


def expectation(kind: str, column: str | None = None, **arguments: object) -> DeclaredExpectation:
    return DeclaredExpectation(kind, kind, column, arguments, "warn", "expectations")


COUNT = expectation("expect_table_row_count_to_be_between", min_value=1)
NAMED = expectation("expect_column_values_to_not_be_null", "name")
IF_IN = expectation("expect_column_values_to_be_unique", "id", row_condition='col("city") == "x"')
OWN = expectation("expect_column_values_to_not_be_null", "_weir_event_at")
SET = expectation("expect_table_columns_to_match_set", column_set=["id"])


@pytest.mark.parametrize(
    ("key", "asked", "columns"),
    [
        (["id"], [NAMED], ["id", "name"]),
        (["id"], [IF_IN, COUNT], ["id", "city"]),
        (["id"], [OWN], ["id", "_weir_event_at"]),
        # Only of rows with a column can anybody say how many they are.
        ([], [COUNT], ["id", "name", "city"]),
        (["id"], [COUNT], ["id"]),
        (["id"], [SET, OWN], ["id", "name", "city", "_weir_event_at"]),
    ],
)
def test_a_frame_has_the_key_and_what_expectations_name_or_all_where_they_ask_for_columns(
    key: list[str], asked: list[DeclaredExpectation], columns: list[str]
) -> None:
    assert wanted_columns(STORED, key, asked).names == columns
