"""An epoch of one table: also of a table that the feed file does not declare and its stream describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assets.control import decisions
from assets.storage.lake import Lake, Layer
from orchestration.cli.epoch import open_epoch
from orchestration.cli.options import Place
from orchestration.feeds.load import load_feeds
from orchestration.feeds.policies import DeclaredEpoch
from orchestration.resources import lake_of
from tests.support.bringing import run
from transforms.errors import DecisionRefused
from transforms.feed.feed import Feed

FIELDS = [{"field": "id", "type": "int32"}, {"field": "name", "type": "string", "optional": True}]
SIDES = [{"field": side, "type": "struct", "fields": FIELDS} for side in ("before", "after")]
KEY = {"type": "struct", "fields": FIELDS[:1]}


def message(offset: int, table: str, log: int, name: str) -> dict[str, Any]:
    source = {
        **{"connector": "mariadb", "db": "shop", "table": table, "snapshot": "false"},
        **{"file": f"log.{log:06}", "pos": 9, "row": 0, "ts_ms": 1_763_600_000_000 + offset},
    }
    payload = {"op": "c", "before": None, "after": {"id": 1, "name": name}, "source": source}
    schema = {"type": "struct", "fields": SIDES}
    return {
        **{"topic": f"maria.shop.{table}", "partition": 0, "offset": offset},
        "key": {"schema": KEY, "payload": {"id": 1}},
        "value": {"schema": schema, "payload": payload},
    }


def lay(folder: Path, window: str, *messages: dict[str, Any]) -> None:
    (folder / window).mkdir(parents=True)
    (folder / window / "topics.jsonl").write_text(
        "".join(f"{json.dumps(one)}\n" for one in messages)
    )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "maria.yaml").write_text("format: debezium\nlanding: ../drops\n")
    return Place(tmp_path / "feeds", str(tmp_path / "warehouse"))


def test_a_table_that_its_stream_describes_has_an_epoch_of_its_own(
    place: Place, tmp_path: Path
) -> None:
    lake = lake_of(place.warehouse)
    (feed,) = load_feeds(place.feeds)
    before = [message(0, "item", 7, "old"), message(0, "other", 7, "old")]
    lay(tmp_path / "drops", "2025-11-20/03", *before)
    after = [message(1, "item", 1, "new"), message(1, "other", 1, "new")]
    lay(tmp_path / "drops", "2025-11-20/04", *after)
    run(lake, feed)
    assert names(lake, feed, "item") == names(lake, feed, "other") == ["old"]

    begins = DeclaredEpoch(window="2025-11-20T04", table="shop.item")
    open_epoch(place, "maria", begins, None, lambda: True)
    run(lake, decisions.with_recorded(lake, feed))
    assert names(lake, feed, "item") == ["new"]
    assert names(lake, feed, "other") == ["old"]

    unknown = DeclaredEpoch(window="2025-11-20T04", table="shop.itme")
    with pytest.raises(DecisionRefused, match=r"'shop\.itme' is not among .*shop\.item"):
        open_epoch(place, "maria", unknown, None, lambda: True)


def names(lake: Lake, feed: Feed, table: str) -> list[str]:
    stored = lake.in_process_table(Layer.GOLD, feed.name, table)
    return [row["name"] for row in stored.rows(["name"])]
