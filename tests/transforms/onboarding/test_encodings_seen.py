"""Columns that may be counts of time or decimals in base64: which are taken for them, and which stay what they are."""

from __future__ import annotations

import base64

import pytest

from transforms.onboarding.evidence import inferred_type, refined_type

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
