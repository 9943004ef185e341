"""Where a source is and who asks it: the file, the environment, and what neither may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from assets.source.database import address_of
from orchestration.feeds.load import load_feed
from transforms.errors import FeedMisdeclared, SettingMisdeclared, UnreadableSource
from transforms.feed.feed import Feed, Running

FEED = Feed("shop", "debezium", "/drops", running=Running(source="mariadb://db:3307/shop"))


def test_the_environment_says_who_asks_and_may_name_another_place() -> None:
    told = {
        "WEIR_SOURCE_USERNAME": "all",
        "WEIR_SOURCE_PASSWORD": "hush",
        "WEIR_SOURCE_SHOP_USERNAME": "own",
    }
    found = address_of(FEED, told)
    assert (found.kind, found.host, found.port, found.database) == ("mysql", "db", 3307, "shop")
    assert (found.user, found.password) == ("own", "hush")
    assert str(found) == "mysql://db:3307/shop"
    assert "hush" not in repr(found)
    other = address_of(FEED, {"WEIR_SOURCE_SHOP": "postgres://replica/shop"})
    assert (str(other), other.port, other.user, other.password) == (
        "postgresql://replica/shop",
        None,
        None,
        None,
    )


def test_nothing_or_nonsense_is_an_error_that_quotes_no_secret() -> None:
    with pytest.raises(UnreadableSource, match=r"nothing says where it is\. Write `source: "):
        address_of(Feed("shop", "debezium", "/drops"), {})
    with pytest.raises(SettingMisdeclared) as fault:
        address_of(FEED, {"WEIR_SOURCE_SHOP": "postgresql://ann:hush@db/shop"})
    assert "hush" not in str(fault.value)


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (
            "postgresql://ann:hush@db/shop",
            "source: has credentials in it, and secrets never stand in a feed file",
        ),
        (
            "oracle://db/shop",
            "source: 'oracle://db/shop' is not postgresql://host:port/database, mysql://host:port/database"
            " or mariadb://host:port/database",
        ),
    ],
)
def test_a_feed_file_says_an_address_and_no_more(tmp_path: Path, written: str, fault: str) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(f"format: debezium\nlanding: drops\nsource: {written}\n")
    with pytest.raises(FeedMisdeclared) as refused:
        load_feed(file)
    assert fault in str(refused.value)
    assert "hush" not in str(refused.value)
