"""A key's story as a person reads it, over every kind of event that makes a row hard to understand."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assets.audit import explain
from assets.control import decisions
from assets.executors.choice import IN_PROCESS, SPARK
from assets.storage.lake import Lake, Layer
from orchestration.cli.explain import key_parts, story_lines
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.laws.drawn import model_format
from tests.laws.drawn.model_histories import KINDS, TABLES, deliveries, history, to_record
from tests.laws.oracle.event import Event, Image, Transaction
from tests.support.commands_here import weir
from tests.support.pet_feed import PETS, bring, change, drop, lay
from transforms.errors import UnknownKey
from transforms.feed.decisions import Epoch
from transforms.feed.feed import Feed, Table

VISITS = Table(
    "visits",
    ("zoo", "pet"),
    {"zoo": "string", "pet": "int", "times": "bigint", "keeper": "string"},
    (),
    defaults={"times": "0"},
)
KEY: Image = {"zoo": "north", "pet": "7"}


def event(operation: str, at: int, effect: str, **columns: str | None) -> Event:
    after = {} if effect == "remove" else {**KEY, **columns}
    before: Image = {**KEY} if effect == "remove" else {}
    minute = 1_763_600_000_000 + 60_000 * at
    return Event("model", "visits", operation, (0, 1, at), minute, before, after, effect)


@pytest.fixture
def feed(lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Feed:
    """One pet: born, counted twice by one event, cleared by a scope, and back, with a late keeper and an open visit."""
    model_format.register(monkeypatch)
    added = event("upsert", 3, "update", times="5")
    added.attribute_ops["times"] = "Add"
    cleared = Event(
        "model", "visits", "clear", (0, 1, 6), None, {}, {}, "remove", scope={"zoo": "north"}
    )
    waits = replace(event("upsert", 9, "update", times="99"), transaction=Transaction("t-1"))
    windows = {
        "2025-11-20/03": [event("upsert", 1, "update", keeper="Ada"), added, added],
        "2025-11-20/04": [added, cleared, event("upsert", 8, "update", times="1"), waits],
        "2025-11-20/05": [event("upsert", 2, "update", keeper="Bo")],
    }
    for window, events in windows.items():
        lines = [json.dumps(to_record(one)) + "\n" for one in events]
        lay(folder, f"{window}/a.jsonl", "".join(lines).encode())
    feed = Feed("zoo", "model", str(folder), tables={"visits": VISITS})
    for hour in ("03", "04", "05"):
        bring(lake, feed, [f"2025-11-20T{hour}"])
    return feed


@pytest.mark.parametrize("executor", [IN_PROCESS, SPARK])
def test_a_late_event_a_repeated_sum_and_a_scope_read_as_one_story(
    lake: Lake, feed: Feed, monkeypatch: pytest.MonkeyPatch, executor: str
) -> None:
    if executor == IN_PROCESS:
        monkeypatch.setattr(Lake, "spark", property(lambda _: pytest.fail("Spark was asked")))
    lake = lake.by(executor)
    found = explain.explained(lake, feed, VISITS, "visits", ["north", "7"])
    assert story_lines("gold.zoo.visits", VISITS, found) == [
        "gold.zoo.visits, zoo = 'north', pet = '7'",
        "",
        "   1  upsert  2025-11-20 00:54:20  at position 0/1/1",
        "      a new row:",
        "      times: '0'",
        "      keeper: 'Ada'",
        "      2025-11-20/03/a.jsonl line 1, window 2025-11-20T03",
        "",
        "   2  upsert  2025-11-20 00:55:20  at position 0/1/2",
        "      keeper: 'Ada' -> 'Bo'",
        "      2025-11-20/05/a.jsonl line 1, window 2025-11-20T05",
        "      came late, after 3 events of earlier windows; it counts at its log position",
        "",
        "   3  upsert  2025-11-20 00:56:20  at position 0/1/3",
        "      times: '0' Add '5' = '5'",
        "      2025-11-20/03/a.jsonl line 2, window 2025-11-20T03",
        "      came again, and counts once: also 2025-11-20/04/a.jsonl line 1, window 2025-11-20T04",
        "",
        "   4  clear of everything with zoo = 'north'  at position 0/1/6",
        "      the row is gone",
        "      2025-11-20/04/a.jsonl line 2, window 2025-11-20T04",
        "",
        "   5  upsert  2025-11-20 01:01:20  at position 0/1/8",
        "      a new row:",
        "      times: '1'",
        "      2025-11-20/04/a.jsonl line 3, window 2025-11-20T04",
        "",
        "   …  upsert, waits for the commit of transaction t-1",
        "      2025-11-20/04/a.jsonl line 4, window 2025-11-20T04",
        "",
        "So gold has this row: times = '1', keeper = null",
    ]
    monkeypatch.undo()
    gold = lake.table(Layer.GOLD, "zoo", "visits").read().select("times", "keeper").collect()
    assert [tuple(row) for row in gold] == [(1, None)]


@pytest.mark.parametrize("kind", KINDS)
def test_spark_tells_of_every_key_what_this_process_tells(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    model_format.register(monkeypatch)
    arrived = deliveries(history(kind, 5, "one", 16), 5, windows=2)
    for window, events in arrived.items():
        lines = [json.dumps(to_record(one)) + "\n" for one in events]
        lay(folder, f"2025-11-20/0{window}/a.jsonl", "".join(lines).encode())
    shapes = {name: TABLES[name] for name in KINDS[kind]}
    tables = {
        name: Table(name, one.key, one.columns, tuple(one.columns), defaults=one.defaults)
        for name, one in shapes.items()
    }
    feed = Feed("zoo", "model", str(folder), tables=tables)
    bring(lake, feed)
    steps = 0
    for name, table in feed.tables.items():
        changes = (
            lake.table(Layer.SILVER, "zoo").read().where(f"table = '{name}' AND key IS NOT NULL")
        )
        keys = [row["key"] for row in changes.select("key").distinct().orderBy("key").collect()]
        for key in keys[:2]:
            here, by_spark = (
                explain.explained(lake.by(one), feed, table, table.name, key)
                for one in (IN_PROCESS, SPARK)
            )
            assert here == by_spark
            steps += len(here.steps)
    assert steps > 1


def test_a_snapshot_that_is_complete_is_a_step_of_every_key(lake: Lake, folder: Path) -> None:
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 10, after={"id": "1", "name": "Ada"})))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed)
    decided = datetime(2025, 11, 21, tzinfo=UTC)
    decisions.open_epoch(lake, feed, Epoch(window="2025-11-20T04", complete=True), decided, "moved")
    lines = story_lines("gold.zoo.pets", PETS, explain.explained(lake, feed, PETS, "pets", ["1"]))
    assert lines[7:11] == [
        "   2  complete snapshot of everything in the table  at position 1",
        "      the row is gone",
        "      a recorded decision, window 2025-11-20T04",
        "",
    ]


def test_a_feed_of_which_nothing_was_read_tells_nothing(lake: Lake, folder: Path) -> None:
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    found = explain.explained(lake, feed, PETS, "pets", ["1"])
    assert story_lines("gold.zoo.pets", PETS, found)[-1] == "  No event of this key is known."


def test_a_key_is_written_with_commas_or_as_json() -> None:
    assert key_parts("north,7", VISITS) == ["north", "7"]
    assert key_parts('["a,b", 7]', VISITS) == ["a,b", "7"]
    with pytest.raises(UnknownKey, match=r"2 parts \(zoo, pet\), and 'north' gives 1"):
        key_parts("north", VISITS)


def test_the_story_says_that_gold_was_made_by_another_declaration(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the new word the row is gone; gold has it, marked, until the next run."""
    lay(
        folder,
        "2025-11-20/03/a.json",
        drop(change("I", 1, after={"id": "1", "name": "Ada"}), change("D", 9, {"id": "1"})),
    )
    file = tmp_path / "feeds/zoo.yaml"
    file.parent.mkdir()
    place = ("--feeds", str(file.parent), "--warehouse", str(tmp_path / "warehouse"))
    lake = lake_of(place[-1]).by(IN_PROCESS)
    for word in ("mark", "remove"):
        file.write_text(
            f"format: arcion_s3_json\nlanding: {folder}\ndeletes: {word}\n"
            "tables: {pets: {key: [id], columns: {id: int, name: string}}}\n"
        )
        if word == "mark":
            bring(lake, load_feed(file))
        assert weir("explain", "zoo", "pets", "1", *place) == 0
        said = capsys.readouterr().out
        assert ("was made under another declaration" in said) == (word == "remove")
    bring(lake, load_feed(file))
    assert weir("explain", "zoo", "pets", "1", *place) == 0
    assert capsys.readouterr().out.endswith("So gold has no row.\n")
