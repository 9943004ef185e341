"""Tables that no feed file declares get gold where their stream carries the key and the types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from assets.audit import explain
from assets.audit.status import status_of
from assets.control import discovered_tables
from assets.gold import apply, tables
from assets.gold.plan import plan_of
from assets.maintenance import compaction
from assets.maintenance.plan import CompactionPlan
from assets.storage.lake import Lake, Layer
from orchestration.cli import status, verify
from orchestration.definitions import build
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.laws.drawn import model_format
from tests.support.bringing import run
from tests.support.pet_feed import bring, drop, lay
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed, Table

PETS = {"id": "int", "name": "string"}


@pytest.fixture
def feed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Feed:
    model_format.register(monkeypatch)
    return Feed("zoo", "telling", str(folder))


def put(
    at: int,
    after: Mapping[str, str | None],
    columns: Mapping[str, str] = PETS,
    key: tuple[str, ...] = ("id",),
    table: str = "pets",
    effect: str = "replace",
) -> str:
    """An event that describes its table."""
    before = after if effect == "remove" else {}
    return json.dumps(
        {
            "table": table,
            "operation": {"replace": "insert", "update": "update", "remove": "delete"}[effect],
            "effect": effect,
            "before": before,
            "after": {} if effect == "remove" else after,
            "log_position": [0, 1, at],
            "identity": [str(at)],
            "dedup_prefix": 3,
            "told": {
                "key": list(key),
                "columns": [{"name": name, "type": kind} for name, kind in columns.items()],
            },
        }
    )


def gold(lake: Lake, table: str = "pets") -> list[dict[str, object]]:
    rows = [row.asDict() for row in lake.table(Layer.GOLD, "zoo", table).read().collect()]
    plain = [{name: row[name] for name in row if not name.startswith("_weir_")} for row in rows]
    return sorted(plain, key=str)


def test_key_and_types_come_from_the_stream_and_follow_it(
    lake: Lake, feed: Feed, folder: Path, tmp_path: Path
) -> None:
    lay(
        folder,
        "2025-11-20/03/a.jsonl",
        drop(put(1, {"id": "1", "name": "Ada"}), put(2, {"id": "2", "name": "Bo"})),
    )
    run(lake, feed)
    assert gold(lake) == [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]
    # The key outgrows its type, and a column comes.
    wider = {"id": "bigint", "name": "string", "age": "int"}
    lay(
        folder,
        "2025-11-20/04/b.jsonl",
        drop(
            put(3, {"id": "3000000000", "name": "Cleo", "age": "4"}, wider),
            put(4, {"id": "1", "age": "7"}, wider, effect="update"),
            put(5, {"id": "2"}, PETS, effect="remove"),
        ),
    )
    run(lake, feed)
    assert gold(lake) == [
        {"id": 1, "name": "Ada", "age": 7},
        {"id": 3_000_000_000, "name": "Cleo", "age": 4},
    ]
    assert dict(lake.table(Layer.GOLD, "zoo", "pets").read().dtypes)["id"] == "bigint"
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=3) == 0


def test_a_table_without_a_key_is_a_multiset(lake: Lake, feed: Feed, folder: Path) -> None:
    rows = [put(at, {"id": "1", "name": "Ada"}, key=()) for at in (1, 2)]
    gone = put(3, {"id": "1", "name": "Ada"}, key=(), effect="remove")
    lay(folder, "2025-11-20/03/a.jsonl", drop(*rows, rows[0], gone))
    run(lake, feed)
    assert gold(lake) == [{"id": 1, "name": "Ada"}]


def test_a_declaration_takes_the_place_of_the_description(
    lake: Lake, feed: Feed, folder: Path
) -> None:
    lay(folder, "2025-11-20/03/a.jsonl", drop(put(1, {"id": "1", "name": "Ada"})))
    run(lake, feed)
    declared = Table("pets", ("id",), {"id": "string", "name": "string"}, ("id", "name"))
    feed = replace(feed, tables={"pets": declared})
    run(lake, feed)
    assert gold(lake) == [{"id": "1", "name": "Ada"}]
    assert discovered_tables.made_and_stopped(lake, feed).discovered == {}


def test_a_table_with_contradictions_stops_alone_and_is_reported_by_name(
    lake: Lake, feed: Feed, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two keys of one table, two tables under one name: the others go on, and so do all commands."""
    two_keys = [
        put(n, {"id": "1", "name": "Ada"}, key=key)
        for n, key in ((1, ("id",)), (2, ("id", "name")))
    ]
    two_tables = [put(n, {"id": "1", "name": "Bo"}, table=f"toys@{n}") for n in (3, 4)]
    fine = put(5, {"id": "1", "name": "Cleo"}, table="a.b")
    lay(folder, "2025-11-20/03/a.jsonl", drop(two_keys[0], two_tables[0], fine))
    run(lake, feed)
    before = gold(lake), gold(lake, "toys"), gold(lake, "a.b")
    lay(folder, "2025-11-20/04/b.jsonl", drop(two_keys[1], two_tables[1]))
    lay(folder, "2025-11-20/05/c.jsonl", drop(put(6, {"id": "2", "name": "Di"}, table="a.b")))
    run(lake, feed)
    assert (gold(lake), gold(lake, "toys")) == before[:2]
    assert gold(lake, "a.b") == [*before[2], {"id": 2, "name": "Di"}]
    assert planning.due(lake, feed).windows == []
    # A name with a dot in it makes no gold table of its last part.
    assert not lake.table(Layer.GOLD, "zoo", "b").exists()
    faults = {
        name: str(one.fault)
        for name, one in discovered_tables.made_and_stopped(lake, feed).stopped.items()
    }
    assert sorted(faults) == ["pets", "toys"]
    assert "its stream also says the key [id, name]" in faults["pets"]
    assert "would mix 3.toys and 4.toys" in faults["toys"]
    assert (
        sum(
            "gold is unchanged for" in line
            for line in status.status_lines(feed, status_of(lake, feed))
        )
        == 2
    )
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=3) == 2
    (compacted,) = compaction.compact_feed(lake, feed, tables.mirrors(lake, feed), dry_run=True)
    assert compacted.table == "a.b"
    said = capsys.readouterr().out
    assert "proved   gold.zoo.a.b" in said
    assert "not proved, because gold cannot be made: pets: feed zoo: table pets: its key" in said


def test_the_file_says_whose_a_gold_name_is_and_the_others_events_stand_in_quarantine(
    lake: Lake, feed: Feed, folder: Path
) -> None:
    owner = Table("zoo.pets", ("id",), PETS, tuple(PETS))
    feed = replace(feed, tables={"zoo.pets": owner})
    lay(folder, "2025-11-20/03/a.jsonl", drop(put(1, {"id": "1", "name": "Bo"}, table="pets@farm")))
    lay(folder, "2025-11-20/04/b.jsonl", drop(put(2, {"id": "1", "name": "Ada"}, table="pets@zoo")))
    run(lake, feed)
    assert gold(lake) == [{"id": 1, "name": "Ada"}]
    refused = (
        lake.table(Layer.QUARANTINE, "zoo").read().select("table", "reason", "detail").collect()
    )
    assert [(row["table"], row["reason"]) for row in refused] == [("pets", "table_name_taken")]
    assert "farm.pets is another one" in refused[0]["detail"]
    assert discovered_tables.made_and_stopped(lake, feed).stopped == {}


def test_the_catch_all_is_one_asset_and_progress_waits_for_it(lake: Lake, feed: Feed) -> None:
    graph = build([feed], lake).resolve_asset_graph()
    assert graph.has(dg.AssetKey(["discovered", "zoo", "zoo_discovered"]))
    progress = graph.get(dg.AssetKey(["progress", "zoo", "zoo_progress"]))
    assert dg.AssetKey(["discovered", "zoo", "zoo_discovered"]) in progress.parent_keys


def test_a_change_that_tells_no_schema_counts_where_other_records_describe_its_table(
    lake: Lake, folder: Path, feed: Feed
) -> None:
    """A Debezium delete may come so, before the description or after it, in its window or in another."""

    def without_schema(at: int, row: Mapping[str, str | None], effect: str = "remove") -> str:
        return json.dumps(json.loads(put(at, row, effect=effect)) | {"told": None})

    lay(folder, "2025-11-20/03/a.jsonl", drop(without_schema(5, {"id": "01"})))
    lay(
        folder,
        "2025-11-20/04/b.jsonl",
        drop(*(put(n, {"id": str(n), "name": f"pet {n}"}) for n in (1, 2, 3))),
    )
    lay(
        folder,
        "2025-11-20/05/c.jsonl",
        drop(
            without_schema(6, {"id": "2"}),
            without_schema(7, {"id": "3", "name": "Kim"}, "update"),
            # What does not fit goes on waiting.
            without_schema(8, {"id": "no number"}),
        ),
    )
    for window in ("2025-11-20T03", "2025-11-20T04", "2025-11-20T05"):
        bring(lake, feed, [window])
        for table in discovered_tables.made_and_stopped(lake, feed).discovered.values():
            apply.apply(lake, feed, table, [window])
    assert gold(lake) == [{"id": 3, "name": "Kim"}]
    waiting = lake.table(Layer.SILVER, "zoo").read().where("declared IS NULL").count()
    assert waiting == 4


def test_columns_that_a_delta_table_cannot_have_stand_in_gold_under_a_spelling(
    lake: Lake, feed: Feed, folder: Path, tmp_path: Path
) -> None:
    """Through silver, gold, a base, explain and verify; and while a column comes that differs in case from another."""
    odd = {"Id": "int", "unit price": "int", "a.b": "string"}
    more = {**odd, "ID": "string", "*": "string"}
    key = ("Id", "unit price")

    def row(number: int, price: str, text: str, **others: str) -> dict[str, str | None]:
        return {"Id": str(number), "unit price": price, "a.b": text, **others}

    without_schema = json.loads(put(6, row(2, "9", "no schema"), odd, key, effect="update")) | {
        "told": None
    }
    lay(
        folder,
        "2025-11-20/03/a.jsonl",
        drop(*(put(n, row(n, "9", "x"), odd, key) for n in (1, 2, 3)), json.dumps(without_schema)),
    )
    run(lake, feed)
    assert gold(lake) == [
        {"Id": n, "unit_x0020_price": 9, "a_x002E_b": text}
        for n, text in ((1, "x"), (2, "no schema"), (3, "x"))
    ]
    (table,) = discovered_tables.made_and_stopped(lake, feed).discovered.values()
    plan = CompactionPlan(None, CompactionWatermark((0, 1, 3)), ())
    done = compaction.with_history(
        lake, plan_of(lake, feed, table, "pets", []), plan, dry_run=False
    )
    assert (done.folded, done.base) == (3, 3)

    gone = put(7, row(3, "9", "x"), more, key, effect="remove")
    late = put(8, {"Id": "1", "unit price": "9", "ID": "y", "*": "z"}, more, key, effect="update")
    lay(folder, "2025-11-20/04/b.jsonl", drop(gone, late))
    run(lake, feed)
    capitals = {"_x0049_d": 1, "unit_x0020_price": 9, "_x0049__x0044_": "y", "_x002A_": "z"}
    assert gold(lake) == [
        {**capitals, "a_x002E_b": "x"},
        {**dict.fromkeys(capitals), "_x0049_d": 2, "unit_x0020_price": 9, "a_x002E_b": "no schema"},
    ]
    images = lake.table(Layer.SILVER, "zoo").read().select("after").collect()
    assert {name for one in images for name in one["after"]} == more.keys()

    (table,) = discovered_tables.made_and_stopped(lake, feed).discovered.values()
    explained = explain.explained(lake, feed, table, "pets", ["1", "9"])
    assert explained.base is not None
    assert explained.base.row == {"_x0049_d": "1", "unit_x0020_price": "9", "a_x002E_b": "x"}
    assert explained.steps[-1].row == {**{k: str(v) for k, v in capitals.items()}, "a_x002E_b": "x"}
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=3) == 0


def test_gold_makes_no_more_new_tables_than_the_setting_says_and_existing_ones_go_on(
    lake: Lake, feed: Feed, folder: Path
) -> None:
    bounded = replace(lake, most_tables=2)
    lay(folder, "2025-11-20/03/a.jsonl", drop(put(1, {"id": "1", "name": "Ada"}, table="z")))
    run(bounded, feed)
    many = [put(at, {"id": "2", "name": "Bo"}, table=name) for at, name in enumerate("zcba", 2)]
    lay(folder, "2025-11-20/04/b.jsonl", drop(*many))
    run(bounded, feed)
    assert [row["id"] for row in gold(lake, "z")] == [1, 2]
    assert list(tables.mirrors(bounded, feed)) == ["a", "z"]
    assert not lake.table(Layer.GOLD, "zoo", "b").exists()
    (line,) = [
        one
        for one in status.status_lines(feed, status_of(bounded, feed))
        if "gold is unchanged" in one
    ]
    assert "for b, c: WEIR_MOST_TABLES=2: the stream of feed zoo describes 4 tables" in line
    # With another setting they come with the next window, whole.
    lay(folder, "2025-11-20/05/c.jsonl", drop(put(9, {"id": "3", "name": "Cleo"}, table="b")))
    run(lake, feed)
    assert [row["id"] for row in gold(lake, "b")] == [2, 3]
    assert [row["id"] for row in gold(lake, "c")] == [2]
