"""Epochs that are opened, and deletes that are held: by the commands that checks name, and without Spark."""

from __future__ import annotations

import json
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assets.columns import layers
from assets.control import accounting, decisions
from assets.picked_ids import Listed, PickedIds
from assets.storage.lake import Lake, Layer
from orchestration.cli import release
from orchestration.cli.epoch import open_epoch
from orchestration.cli.options import Place
from orchestration.feeds.keys import DeclaredEpoch
from orchestration.feeds.load import load_feeds
from orchestration.resources import lake_of
from tests.support.bringing import run
from tests.support.commands_here import weir
from tests.support.pet_feed import lay
from transforms.errors import DecisionRefused
from transforms.feed.feed import Feed

# Dagster's own, about what a run's context is asked.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

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


def drops(folder: Path, window: str, *messages: dict[str, Any]) -> None:
    lay(folder, f"{window}/a.jsonl", "".join(f"{json.dumps(one)}\n" for one in messages).encode())


def test_a_table_that_its_stream_describes_has_an_epoch_of_its_own(tmp_path: Path) -> None:
    lay(tmp_path, "feeds/maria.yaml", b"format: debezium\nlanding: ../drops\n")
    place = Place(tmp_path / "feeds", str(tmp_path / "warehouse"))
    lake = lake_of(place.warehouse)
    (feed,) = load_feeds(place.feeds)
    before = [message(0, "item", 7, "old"), message(0, "other", 7, "old")]
    drops(tmp_path / "drops", "2025-11-20/03", *before)
    after = [message(1, "item", 1, "new"), message(1, "other", 1, "new")]
    drops(tmp_path / "drops", "2025-11-20/04", *after)
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


GRAPH = """\
format: dgraph
landing: ../drops
predicates: {name: {type: string}}
"""
THREE_O_CLOCK = 1_795_143_600_000


def sets(cluster: str, first: int, minute: int) -> bytes:
    """Five commits that set the names of nodes 1 to 5, as in a dump of the topic."""
    lines = []
    for number in range(5):
        mutation = {"operation": "set", "uid": number + 1, "attr": "name", "value": cluster}
        event = {"meta": {"commit_ts": first + number}, "type": "mutation"}
        event["event"] = {**mutation, "value_type": "string"}
        sent = THREE_O_CLOCK + (minute + number) * 60_000
        where = {"partition": 0, "offset": minute + number, "timestamp": sent}
        lines.append(json.dumps({**where, "key": "0", "value": event}))
    return ("\n".join(lines) + "\n").encode()


def test_a_new_cluster_of_dgraph_goes_on_once_its_epoch_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    lay(tmp_path, "feeds/graph.yaml", GRAPH.encode())
    monkeypatch.setenv("WEIR_FEEDS", str(tmp_path / "feeds"))
    monkeypatch.setenv("WEIR_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.setenv("DAGSTER_HOME", "")

    def values() -> set[str]:
        gold = lake_of(str(tmp_path / "warehouse")).in_process_table(Layer.GOLD, "graph", "triples")
        return {row["value"] for row in gold.rows(["value"])}

    lay(tmp_path, "drops/2026-11-20/03/a.json", sets("old", 500, 0))
    assert weir("run") == 0
    lay(tmp_path, "drops/2026-11-20/04/b.json", sets("new", 5, 60))
    assert weir("run") != 0
    assert values() == {"old"}
    said = capfd.readouterr()
    (line,) = set(re.findall(r"`weir (epoch open graph --table [^`]*)`", said.out + said.err))
    assert line == (
        "epoch open graph --table triples --window 2026-11-20T04 --time 2026-11-20T04:00:00"
    )
    assert weir(*shlex.split(line), "--yes") == 0
    assert weir("run") == 0
    assert values() == {"new"}


FEED = Feed("zoo", "dgraph", "/drops")
MADE_AT = datetime(2025, 11, 20, 3, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path), {})


def held_change(window: str, table: str, **others: object) -> dict[str, object]:
    row: dict[str, object] = {
        "window": window,
        "table": table,
        "operation": "drop_all",
        "effect": "hold",
        "scope": [],
        "event_id": "e1",
        "event_at": MADE_AT,
        "object": "a.jsonl",
        "generation": "1",
        "line": 2,
        "byte_offset": 0,
    }
    return row | others


def store(lake: Lake, changes: list[dict[str, object]], held: dict[str, int]) -> None:
    """Silver with these changes, and an account for each window; a window of -1 is only announced."""
    columns = pa.schema([one for one in layers.Silver.schema if one.name in changes[0]])
    silver = lake.in_process_table(Layer.SILVER, FEED.name)
    silver.append(pa.Table.from_pylist(changes, schema=columns), ["window"])
    empty: dict[str, object] = {
        one.name: 0 if pa.types.is_integer(one.type) else None for one in layers.Accounting.schema
    } | {"warnings": []}
    lake.in_process_table(Layer.ACCOUNTING, FEED.name).append(
        [
            empty
            | {
                "window": window,
                "held": max(number, 0),
                "declaration": accounting.ANNOUNCED if number < 0 else "d",
            }
            for window, number in held.items()
        ]
    )


def test_one_event_of_several_tables_is_listed_for_each(lake: Lake) -> None:
    store(
        lake,
        [
            held_change("w1", "triples"),
            held_change("w1", "nodes"),
            held_change("w2", "nodes", line=1, event_at=None),
            held_change("w1", "nodes", event_id="e2", scope=[("id", "1")]),
            held_change("w1", "nodes", event_id="e3", effect="remove"),
            held_change("w1", "nodes", event_id="e4", scope=None),
        ],
        {"w1": 4, "w2": 1},
    )
    found = [
        (one.event_id, one.table, one.windows, one.source_location)
        for one in release.held(lake, FEED)
    ]
    assert found == [
        ("e1", "triples", ("w1",), "a.jsonl line 2"),
        ("e1", "nodes", ("w1", "w2"), "a.jsonl line 1"),
    ]
    assert {one.event_at for one in release.held(lake, FEED)} == {MADE_AT}


def test_windows_without_any_are_not_read_and_those_not_counted_yet_are(lake: Lake) -> None:
    changes = [held_change(f"w{n}", "nodes", event_id=f"e{n}") for n in range(4)]
    # w0's account says that it has none, w1's that it has one; w2 is announced, and w3 has no account.
    store(lake, changes, {"w0": 0, "w1": 1, "w2": -1})
    assert [one.event_id for one in release.held(lake, FEED)] == ["e1", "e2", "e3"]


def test_a_feed_that_was_never_read_holds_nothing(lake: Lake) -> None:
    assert release.held(lake, FEED) == []


def test_what_is_listed_is_picked_by_the_beginnings_of_ids_or_all_at_once() -> None:
    listed = Listed(FEED, "release", "held delete")
    entries = [("abc1", "first"), ("abd2", "second")]
    assert listed.picked(PickedIds(["abd", "abc1"]), entries) == ["second", "first"]
    assert listed.picked(PickedIds(everything=True), entries) == ["first", "second"]
    for text, fault in (
        ("zz", "no held delete has an id"),
        ("ab", "more than one held delete has"),
    ):
        told = f"{fault}.* that begins with '{text}'; `weir release zoo`"
        with pytest.raises(DecisionRefused, match=told):
            listed.picked(PickedIds([text]), entries)
