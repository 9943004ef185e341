"""What the values and changes of a sample say of its columns: types, encodings, and the key."""

from __future__ import annotations

import base64

import pytest

from transforms.column_types.registry import column_type
from transforms.event import Image, Value
from transforms.onboarding.types_and_keys import (
    SampledChange,
    SampledKey,
    inferred_type,
    refined_type,
    sampled_key,
)


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


MICROS = ["1795076220123456", "1795085401000000"]
MONEY = ["AMk=", "BfXg/w==", "nA==", "A9CQ"]


def seen(column: str, texts: list[str]) -> tuple[str, str]:
    found = refined_type(column, texts, inferred_type(texts))
    assert ("a guess" in found.evidence) == bool(found.encoding) or "scale and value" in (
        found.evidence
    )
    assert not any(text in found.evidence for text in texts)
    return found.type, found.encoding


@pytest.mark.parametrize(
    ("column", "texts", "kind", "encoding"),
    [
        ("created_at", MICROS, "timestamp", "micros"),
        ("createdAt", MICROS, "timestamp", "micros"),
        ("updated", ["1795076220123", "1000000000000"], "timestamp", "millis"),
        ("ts", ["1795076220"], "timestamp", "seconds"),
        ("seen_time", ["1795076220123456789"], "timestamp", "nanos"),
        ("ordered_on", ["20415", "20776"], "date", "days"),
        ("birth_date", ["-3650", "9000"], "date", "days"),
        ("ships_at", ["28800000000", "0"], "string", "micros_of_day"),
        ("amount", MONEY, "decimal(18,2)", "base64(2)"),
        ("unit_price", ["A9CQ", "D3Js"], "decimal(18,2)", "base64(2)"),
        # By their form alone, whatever they are called.
        ("x", MONEY, "decimal(18,2)", "base64(2)"),
        (
            "x",
            ['{"scale":2,"value":"AMk="}', '{"scale":3,"value":"nA=="}'],
            "decimal(10,3)",
            "base64",
        ),
    ],
)
def test_what_looks_like_it_in_name_and_values_is_taken_for_it(
    column: str, texts: list[str], kind: str, encoding: str
) -> None:
    assert seen(column, texts) == (kind, encoding)


@pytest.mark.parametrize(
    ("column", "texts", "kind"),
    [
        ("price_cents", ["1999", "20415"], "int"),
        ("price_cents", ["1795076220", "1795076221"], "bigint"),
        ("quantity", ["20415"], "int"),
        ("id", MICROS, "bigint"),
        ("customer_id", MICROS, "bigint"),
        ("customerId", ["1795076220123"], "bigint"),
        # One value that is no such time is enough.
        ("created_at", [*MICROS, "7", "-1795076220123456"], "bigint"),
        ("created_at", ["12", "700"], "int"),
        ("ordered_on", ["20415", "99999999"], "bigint"),
        ("lead_time", ["1200", "86000000"], "bigint"),
        ("note", ["gift", "note"], "string"),
        ("note", ["AMk=", "call me"], "string"),
        ("code", ["ABCD", "WXYZ12=="], "string"),
        ("amount", ["twelve", "nine"], "string"),
        ("amount", ["free", "call"], "string"),
        ("rate", ["ab12", "f00d"], "string"),
        # Bytes that are texts.
        ("x", ["aGVsbG8=", "eW91", "YQ=="], "string"),
        ("token", [base64.b64encode(bytes(range(1, 33))).decode()], "string"),
        ("x", ["AMk="], "string"),
    ],
)
def test_what_is_a_plain_number_or_text_stays_one(column: str, texts: list[str], kind: str) -> None:
    assert seen(column, texts) == (kind, "")


def test_a_number_that_may_be_a_time_is_said_to_be_one_and_stays_a_number() -> None:
    found = refined_type("version", MICROS, inferred_type(MICROS))
    assert (found.type, found.encoding) == ("bigint", "")
    assert found.evidence == (
        "whole numbers that may be microseconds since 1970, of 2026:"
        " if they are, declare timestamp, and micros under encoded"
    )


def insert(**row: str | None) -> SampledChange:
    return SampledChange("insert", {}, row)


def update(before: Image, after: Image) -> SampledChange:
    return SampledChange("update", before, after)


def delete(**row: str | None) -> SampledChange:
    return SampledChange("delete", row, {})


def key(columns: str, *changes: SampledChange) -> SampledKey:
    return sampled_key(columns.split(), changes)


def test_what_deletes_have_alone_is_the_key_and_no_guess() -> None:
    found = key("name id", insert(name="Ada", id="1"), insert(name="Ada", id="2"), delete(id="1"))
    assert found.columns == ("id",)
    assert found.is_said
    # Of a whole old row nothing follows.
    whole = key("name id", insert(name="Ada", id="1"), delete(id="1", name="Ada"))
    assert (whole.columns, whole.is_said) == (("id",), False)


def test_old_images_of_updates_may_say_it_too() -> None:
    change = update({"code": "a"}, {"code": "a", "name": "x"})
    found = key("name code", insert(name="z", code="a"), change)
    assert (found.columns, found.is_said) == (("code",), True)


def test_no_two_rows_have_the_same_key() -> None:
    rows = [insert(a="1", b="1", c="x"), insert(a="1", b="2", c="x")]
    assert key("a b c", *rows).columns == ("b",)
    assert key("a b c", *rows, insert(a="2", b="1", c="x")).columns == ("a", "b")
    assert key("a c", insert(a="1", c="x"), insert(a="1", c="x")).columns == ()


def test_the_name_decides_among_columns_that_tell_rows_apart() -> None:
    rows = [insert(name="Ada", email="a@x", id="1"), insert(name="Bo", email="b@x", id="2")]
    assert key("name email id", *rows).columns == ("id",)
    assert not key("name email id", *rows).is_said


def test_a_key_is_always_given_and_hardly_ever_changes() -> None:
    nulls = [insert(id=None, name="a"), insert(id="2", name="b")]
    assert key("id name", *nulls).columns == ("name",)
    moving = [insert(id="1", name="a"), update({"id": "1", "name": "a"}, {"id": "2", "name": "a"})]
    assert key("id name", *moving).columns == ("name",)
    steady = [
        update({"id": "2", "name": f"{n}"}, {"id": "2", "name": f"{n + 1}"}) for n in range(4)
    ]
    assert key("id name", *moving, *steady).columns == ("id",)


def test_a_row_that_comes_again_after_it_went_is_no_second_one() -> None:
    again = [insert(id="1", n="a"), delete(id="1", n="a"), insert(id="1", n="b")]
    assert key("id n", *again).columns == ("id",)


def test_without_any_row_the_name_alone_speaks() -> None:
    found = key("name id", update({}, {"name": "a", "id": "1"}))
    assert found.columns == ("id",)
    assert "by its name" in found.evidence
    twice = [insert(id="1", x="a"), insert(id="1", x="a")]
    assert key("id x", *twice).columns == ("id",)
    assert "although several rows" in key("id x", *twice).evidence
