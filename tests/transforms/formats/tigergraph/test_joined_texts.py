"""A uid and a discriminator are cut into the attributes that they are made of, where that can be known."""

from __future__ import annotations

import pytest

from transforms.formats.tigergraph.texts import NOTHING_JOINED, cut_text, joined_text

KINDS = {"country": "string", "number": "bigint", "day": "timestamp", "on": "boolean"}


@pytest.mark.parametrize(
    ("names", "text", "values"),
    [
        (["country", "number"], "DE,7", {"country": "DE", "number": "7"}),
        (["country", "area", "number"], "DE,x,7", {"country": "DE", "number": "7"}),
        (["country", "number"], ",7", {"country": "", "number": "7"}),
        # Nothing says where a value ends.
        (["country", "number"], "DE", {"country": None, "number": None}),
        (["country", "number"], "D,E,7", {"country": None, "number": None}),
        # A value that its type cannot hold.
        (["country", "number"], "DE,x", {"country": "DE", "number": None}),
        (["number"], "9223372036854775808", {"number": None}),
        # One value is the whole text.
        *[(["country"], "D,E", {"country": "D,E"}), (["country"], "", {"country": ""})],
        (["on", "day"], "1,0", {"on": "true", "day": "1970-01-01 00:00:00"}),
        *[(["number"], None, {}), (["area"], "x", {}), ([], "x", {})],
    ],
)
def test_a_uid_is_joined_by_commas(
    names: list[str], text: str | None, values: dict[str, str | None]
) -> None:
    assert joined_text(names, KINDS, ",").values(text) == values


def test_a_text_without_declared_parts_says_nothing() -> None:
    assert joined_text(["area", "part"], KINDS, ",") is NOTHING_JOINED


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a:1", ["a", "1"]),
        ("2001-01-01 08:00:00:1", ["2001-01-01 08:00:00", "1"]),
        (
            "a:2001-01-01 08:00:00:2001-01-02 09:30:15",
            ["a", "2001-01-01 08:00:00", "2001-01-02 09:30:15"],
        ),
        ("2001-01-01 08:00:00", ["2001-01-01 08:00:00"]),
        ("08:00:00", ["08", "00", "00"]),
        *[(":", ["", ""]), ("", [""])],
    ],
)
def test_the_colons_of_a_time_of_day_are_its_own(text: str, parts: list[str]) -> None:
    assert cut_text(text, ":") == parts
