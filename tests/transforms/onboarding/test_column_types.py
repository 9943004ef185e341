"""The type that a column seems to have: each kind of value, and the one beside it that makes it a text."""

from __future__ import annotations

import pytest

from transforms.column_types.registry import column_type
from transforms.event import Value
from transforms.onboarding.evidence import inferred_type


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "20", "-3"], "int"),
        (["1", "2000000"], "bigint"),
        (["1", "99999999999"], "bigint"),
        (["1", "99999999999999999999"], "decimal(38,0)"),
        (["007", "12"], "string"),
        (["1", "one"], "string"),
        (["1.50", "20.00"], "decimal(10,2)"),
        (["12345678.50"], "decimal(18,2)"),
        (["1.5", "20.25"], "double"),
        (["1", "2.5"], "double"),
        (["1e3", "2.5"], "double"),
        (["1.50", "01.5"], "string"),
        (["true", "false"], "boolean"),
        (["true", "maybe"], "string"),
        (["2026-11-20"], "date"),
        (["2026-02-30"], "string"),
        (["2026-11-20 03:04:05", "2026-11-20T03:04:05Z"], "timestamp"),
        (["2026-11-20 03:04:05", "soon"], "string"),
        ([b"\x00", None], "binary"),
        ([None], "string"),
        ([], "string"),
    ],
)
def test_a_type_is_one_that_all_values_fit(values: list[Value], kind: str) -> None:
    assert inferred_type(values).type == kind
    judge = column_type(kind).judge
    assert None not in [judge(value) for value in values if value is not None]


def test_the_numbers_of_keys_may_grow() -> None:
    assert inferred_type(["1", "2"], may_grow=True).type == "bigint"


def test_the_evidence_quotes_no_value() -> None:
    for secret in ("4711081500", "Ada Lindqvist", "2026-11-20", "815.25"):
        assert secret not in inferred_type([secret]).evidence
    assert inferred_type(["1.5", "2.5", "x"]).evidence.endswith("2 of 3 are numbers")
