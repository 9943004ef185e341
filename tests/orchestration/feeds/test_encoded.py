"""What a feed file may say of how values are written (``encoded``), and what is refused, with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestration.feeds.load import load_feed
from transforms.errors import FeedMisdeclared
from transforms.feed.digest import feed_digest, table_digest
from transforms.feed.feed import Feed

WINDOW = "2026-11-20T04"
COLUMNS = '{id: int, amount: "decimal(10,2)", made_at: timestamp, day: date, ships: string}'


def load(folder: Path, encoded: str, more: str = "") -> Feed:
    text = "format: debezium\nlanding: s3://drops/shop/\ntables:\n  orders:\n    key: [id]\n"
    text += f"    columns: {COLUMNS}\n" + (f"    encoded: {encoded}\n" if encoded else "") + more
    file = folder / "shop.yaml"
    file.write_text(text, encoding="utf-8")
    return load_feed(file)


def test_it_is_read_in_one_spelling(tmp_path: Path) -> None:
    encoded = "{amount: Base64( 2 ), made_at: MICROS, day: days, ships: micros_of_day}"
    assert load(tmp_path, encoded).tables["orders"].encodings == {
        **{"amount": "base64(2)", "made_at": "micros", "day": "days", "ships": "micros_of_day"},
    }


@pytest.mark.parametrize(
    ("encoded", "key", "fault"),
    [
        ("{amont: base64}", "amont", "is no column of the table; did you mean amount"),
        ("{old: base64}", "old", "is an earlier name: say it of amount"),
        ("{id: micros}", "id", "is for columns of type decimal, date, timestamp"),
        ("{made_at: micro}", "made_at", "'micro' is no way in which a timestamp is written"),
        ("{made_at: days}", "made_at", "Known: seconds, millis, micros, nanos."),
        ("{day: millis}", "day", "'millis' is no way in which a date is written. Known: days."),
        ("{amount: base46}", "amount", "did you mean base64. Known: base64, base64(scale)."),
        (
            "{amount: base64(4)}",
            "amount",
            "base64(4) has more digits behind the point than decimal(10,2) keeps",
        ),
        ("{ships: base64}", "ships", "Known: millis_of_day, micros_of_day, nanos_of_day."),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(
    tmp_path: Path, encoded: str, key: str, fault: str
) -> None:
    with pytest.raises(FeedMisdeclared) as caught:
        load(tmp_path, encoded, "    renamed: {old: amount}\n")
    told = str(caught.value)
    assert f"line 7, column 15: tables.orders.encoded.{key}: " in told
    assert fault in told


def test_what_it_says_makes_windows_due_and_only_those_that_know_the_column(tmp_path: Path) -> None:
    since = f"    since: {{day: {WINDOW}}}\n"
    before, after = load(tmp_path, "", since), load(tmp_path, "{day: days}", since)
    assert feed_digest(before, WINDOW) != feed_digest(after, WINDOW)
    assert feed_digest(before, "2026-11-20T03") == feed_digest(after, "2026-11-20T03")
    one, other = (feed.tables["orders"] for feed in (before, after))
    assert table_digest(before, one) != table_digest(after, other)
