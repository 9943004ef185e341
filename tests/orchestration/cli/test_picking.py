"""A person names what a command has listed by the beginning of its id."""

from __future__ import annotations

import re

import pytest

from orchestration.cli.picking import picked
from transforms.errors import DecisionRefused
from transforms.feed.feed import Feed

FEED = Feed("shop", "debezium", "/drops", tables={})
FOUND = {"abc1": "first", "abd2": "second"}


def test_the_beginning_of_an_id_will_do() -> None:
    assert picked(FEED, FOUND, "abd", "held delete", "release") == "second"
    assert picked(FEED, FOUND, "abc1", "held delete", "release") == "first"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("zz", "no held delete has an id that begins with 'zz'; `weir release shop` lists them"),
        ("ab", "more than one held delete has an id that begins with 'ab'; `weir release shop`"),
    ],
)
def test_what_names_none_or_several_is_refused(text: str, told: str) -> None:
    with pytest.raises(DecisionRefused, match=re.escape(told)):
        picked(FEED, FOUND, text, "held delete", "release")
