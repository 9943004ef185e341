"""Entries that a command has listed are picked by the beginnings of their ids, or all at once."""

from __future__ import annotations

import re

import pytest

from assets.control.choice import Choice, Listed
from transforms.errors import DecisionRefused
from transforms.feed.feed import Feed

FEED = Feed("shop", "debezium", "/drops", tables={})
HELD = Listed(FEED, "release", "held delete")
ENTRIES = [("abc1", "first"), ("abd2", "second")]


def test_the_beginning_of_an_id_will_do() -> None:
    assert HELD.picked(Choice(["abd", "abc1"]), ENTRIES) == ["second", "first"]


def test_all_are_picked_in_the_order_of_the_list() -> None:
    assert HELD.picked(Choice(everything=True), ENTRIES) == ["first", "second"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("zz", "no held delete has an id that begins with 'zz'; `weir release shop` lists them"),
        ("ab", "more than one held delete has an id that begins with 'ab'; `weir release shop`"),
    ],
)
def test_what_names_none_or_several_is_refused(text: str, message: str) -> None:
    with pytest.raises(DecisionRefused, match=re.escape(message)):
        HELD.picked(Choice([text]), ENTRIES)
