"""Drops on a real S3 server become tables: what is read, what is read again, and what stops a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from assets import bronze, current_state, ledger, silver
from assets.lake import Lake
from orchestration import planning
from orchestration.resources import lake_of
from tests.services.seaweed import Store
from transforms.errors import (
    DeclarationChanged,
    TableNameCollision,
    UnknownHeader,
    UnreadableLanding,
)
from transforms.feed import Feed, Table

PETS = Table("pets", ("id",), {"id": "int", "name": "string"}, ("id", "name"))
CURSOR = {"extractorId": 0, "logSeqNum": 1, "slaveServerId": 1, "v": 2}


def change(
    op: str,
    at: int,
    before: Mapping[str, str | None] | None = None,
    after: Mapping[str, str | None] | None = None,
    *,
    table: str = "pets",
    schema: str = "zoo",
    log: int = 7,
    minute: int | None = None,
) -> str:
    """One Arcion envelope on one line: ``at`` is the position in the log, a minute apart from the next."""
    before, after = before or {}, after or {}
    names = sorted({*before, *after})
    seconds = 1_763_600_000 + 60 * (at if minute is None else minute)
    cursor = {**CURSOR, "timestamp": seconds * 1000, "log": f"log-bin.{log:06}", "position": at}
    record = {
        "tableName": {"namespace": {"catalog": "main", "schema": schema}, "name": table},
        "opType": op,
        "cursor": json.dumps(cursor),
        "before": {name: before.get(name) or "null" for name in names},
        "after": {name: after.get(name) or "null" for name in names},
        "exists": {name: str((name in after) + 2 * (name in before)) for name in names},
        "operationcount": "{}",
    }
    return json.dumps(record)


def drop(*records: str) -> bytes:
    """An object with one record a line."""
    return "".join(record + "\n" for record in records).encode()


def bring(
    lake: Lake, feed: Feed, windows: Sequence[str] | None = None
) -> tuple[bronze.Arrivals, silver.Derived]:
    """What a run does, without Dagster around it: the windows that are due, or those asked for."""
    windows = planning.due(lake, feed).windows if windows is None else windows
    arrived = bronze.land(lake, feed, windows)
    made = silver.derive(lake, feed, windows)
    for table in feed.tables.values():
        current_state.apply(lake, feed, table, windows)
    ledger.finish(lake, feed, windows)
    return arrived, made


def names(lake: Lake, feed: Feed, table: str = "pets") -> dict[int, str | None]:
    """Gold's pets by id."""
    return {row["id"]: row["name"] for row in lake.table("gold", feed.name, table).read().collect()}


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Lake:
    """An empty warehouse, on the session that all tests share."""
    return lake_of(str(tmp_path / "warehouse"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty landing."""
    landing = tmp_path / "landing"
    landing.mkdir()
    return landing


def lay(folder: Path, name: str, data: bytes) -> None:
    """Put one object into a folder landing."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def test_an_object_generation_is_read_once_and_a_new_one_asks_for_its_window_again(
    lake: Lake, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
        # Tasks were born with the environment that the session began with.
        monkeypatch.setitem(lake.spark.sparkContext.environment, name, value)
    feed = Feed("zoo", "arcion_s3_json", "s3://flow/zoo/", tables={"pets": PETS})
    store.put(
        "flow",
        {
            "zoo/2025-11-20/03/a.json": drop(change("I", 10, after={"id": "1", "name": "Ada"})),
            "zoo/2025-11-20/04/b.json": drop(
                change("I", 30, after={"id": "2", "name": "Bo"}),
                change("U", 40, {"id": "1", "name": "Ada"}, {"id": "1", "name": "Ava"}),
            ),
            "zoo/2025-11-20/05/empty.json": b"",
        },
    )

    plan = planning.due(lake, feed)
    assert plan.windows == ["2025-11-20T03", "2025-11-20T04", "2025-11-20T05"]
    bring(lake, feed)
    assert names(lake, feed) == {1: "Ava", 2: "Bo"}
    assert planning.due(lake, feed).windows == []

    # Run again, asked for by name: nothing is read twice and nothing changes.
    arrived, made = bring(lake, feed, plan.windows)
    assert arrived.new == []
    assert sum(book["events"] for book in made.books) == 3
    assert names(lake, feed) == {1: "Ava", 2: "Bo"}

    # An old window gets a late event in a new object, and an object is replaced by one that repeats it and adds.
    store.put(
        "flow",
        {
            "zoo/2025-11-20/03/late.json": drop(
                change("U", 20, {"id": "1", "name": "Ada"}, {"id": "1", "name": "Abe"})
            ),
            "zoo/2025-11-20/04/b.json": drop(
                change("I", 30, after={"id": "2", "name": "Bo"}),
                change("D", 50, {"id": "2", "name": "Bo"}),
            ),
        },
    )
    assert planning.due(lake, feed).windows == ["2025-11-20T03", "2025-11-20T04"]
    arrived, made = bring(lake, feed)
    assert [one.name for one in arrived.new] == ["2025-11-20/03/late.json", "2025-11-20/04/b.json"]
    assert arrived.replaced == ["2025-11-20/04/b.json"]
    assert names(lake, feed) == {1: "Ava"}
    assert {
        row["id"] for row in lake.table("gold", "zoo", "pets__tombstones").read().collect()
    } == {2}
    assert made.violations["accounting_is_exact"] == 0
    assert made.violations["no_event_twice"] == 1
    bronze_rows = lake.table("bronze", "zoo").read()
    assert bronze_rows.where("line > 0").count() == 6
    assert (
        bronze_rows.where("object = '2025-11-20/04/b.json'").select("generation").distinct().count()
        == 2
    )


def test_a_window_that_is_all_news_deletes_moves_and_updates_what_is_there(
    lake: Lake, folder: Path
) -> None:
    born = [change("I", at, after={"id": str(at), "name": f"n{at}"}) for at in (1, 2, 3, 4)]
    lay(folder, "2025-11-20/03/a.json", drop(*born))
    gone = change("D", 11, {"id": "1", "name": "n1"})
    moved = change("U", 12, {"id": "2", "name": "n2"}, {"id": "20", "name": "n2"})
    cleared = change("U", 13, {"id": "3"}, {"name": None})
    lay(folder, "2025-11-20/04/b.json", drop(gone, moved, cleared, born[3]))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed, ["2025-11-20T03"])
    bronze.land(lake, feed, ["2025-11-20T04"])
    silver.derive(lake, feed, ["2025-11-20T04"])
    done = current_state.apply(lake, feed, PETS, ["2025-11-20T04"])

    assert names(lake, feed) == {20: "n2", 3: None, 4: "n4"}
    graves = lake.table("gold", "zoo", "pets__tombstones").read().collect()
    assert {row["id"] for row in graves} == {1, 2}
    assert (done.changes, done.repeats, done.keys, done.late_keys) == (4, 1, 4, 0)
    # The same window again is no news: not one row is written.
    again = current_state.apply(lake, feed, PETS, ["2025-11-20T04"])
    assert (again.repeats, again.keys, again.rows, again.tombstones) == (1, 0, 3, 2)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "AWS_SECRET_ACCESS_KEY"),
        ({}, "nowhere"),
    ],
    ids=["wrong secret", "no such bucket"],
)
def test_an_unreadable_landing_stops_with_what_to_set_and_writes_nothing(
    lake: Lake, store: Store, monkeypatch: pytest.MonkeyPatch, changed: Mapping[str, str], said: str
) -> None:
    for name, value in (store.environment() | dict(changed)).items():
        monkeypatch.setenv(name, value)
    store.put("flow", {"any.json": b"{}"})
    bucket = "flow" if changed else "nowhere"
    feed = Feed("zoo", "arcion_s3_json", f"s3://{bucket}/", tables={"pets": PETS})
    with pytest.raises(UnreadableLanding, match=said):
        bring(lake, feed, ["2025-11-20T03"])
    assert not Path(lake.warehouse).exists()


def test_an_unknown_header_stops_before_anything_is_written(lake: Lake, folder: Path) -> None:
    lay(folder, "2025-11-20/03/pets/a.csv", b"1,Ada\n")
    lay(
        folder,
        "2025-11-20/03/pets/b.csv",
        b"one,two,three,four,five,six,opType,cursor,operationcount\n",
    )
    feed = Feed("zoo", "arcion_s3_csv", str(folder), tables={"pets": PETS})
    with pytest.raises(UnknownHeader, match=r"b\.csv, line 1.*one,two.*id_NEW"):
        bring(lake, feed)
    assert not lake.table("bronze", "zoo").exists()


def test_two_source_tables_do_not_share_a_gold_table(lake: Lake, folder: Path) -> None:
    lay(
        folder,
        "2025-11-20/03/a.json",
        drop(change("I", 1, after={"id": "1", "name": "Ada"}, schema="zoo")),
    )
    lay(
        folder,
        "2025-11-20/04/b.json",
        drop(change("I", 2, after={"id": "1", "name": "Bo"}, schema="farm")),
    )
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed, ["2025-11-20T03"])
    with pytest.raises(
        TableNameCollision, match=r"main\.farm\.pets and main\.zoo\.pets.*table_names: schema"
    ):
        bring(lake, feed, ["2025-11-20T04"])

    apart = replace(feed, name="apart", table_names="schema")
    bring(lake, apart)
    assert names(lake, apart, "zoo__pets") == {1: "Ada"}
    assert names(lake, apart, "farm__pets") == {1: "Bo"}


def test_a_changed_declaration_makes_every_window_due_and_gold_anew(
    lake: Lake, folder: Path
) -> None:
    lay(
        folder,
        "2025-11-20/03/a.json",
        drop(change("I", 1, after={"id": "1", "name": "Ada", "age": "7"})),
    )
    lay(
        folder,
        "2025-11-20/05/b.json",
        drop(change("I", 2, after={"id": "2", "name": "Bo", "age": "9"})),
    )
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed)
    wider = replace(PETS, columns={**PETS.columns, "age": "int"}, cdc_columns=("age", "id", "name"))
    after = replace(feed, tables={"pets": wider})

    assert planning.due(lake, after).windows == ["2025-11-20T03", "2025-11-20T05"]
    with pytest.raises(DeclarationChanged, match=r"pets.*2025-11-20T05.*weir run"):
        bring(lake, after, ["2025-11-20T03"])
    bring(lake, after)
    rows = lake.table("gold", "zoo", "pets").read().collect()
    assert {(row["id"], row["name"], row["age"]) for row in rows} == {(1, "Ada", 7), (2, "Bo", 9)}
    assert planning.due(lake, after).windows == []


def test_changes_of_an_undeclared_table_wait_in_silver_and_are_named(
    lake: Lake, folder: Path
) -> None:
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 1, after={"id": "1"}, table="toys")))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    _, made = bring(lake, feed)
    assert made.violations["tables_are_declared"] == 1
    assert made.samples["tables_are_declared"] == "- main.zoo.toys"
    waiting = (
        lake.table("silver", "zoo").read().select("table", "declared", "key", "after").collect()
    )
    assert [tuple(row) for row in waiting] == [("toys", None, None, {"id": "1"})]
    assert names(lake, feed) == {}


def test_a_log_that_starts_again_while_time_goes_on_is_seen_across_windows(
    lake: Lake, folder: Path
) -> None:
    lay(
        folder,
        "2025-11-20/03/a.json",
        drop(change("I", 900, after={"id": "1", "name": "Ada"}, log=7, minute=1)),
    )
    lay(
        folder,
        "2025-11-20/04/b.json",
        drop(change("I", 4, after={"id": "2", "name": "Bo"}, log=1, minute=9)),
    )
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    assert (
        bring(lake, feed, ["2025-11-20T03"])[1].violations["position_rises_with_source_time"] == 0
    )
    assert (
        bring(lake, feed, ["2025-11-20T04"])[1].violations["position_rises_with_source_time"] == 1
    )


def test_a_foreign_second_row_of_a_key_is_counted(lake: Lake, folder: Path) -> None:
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 1, after={"id": "1", "name": "Ada"})))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    bring(lake, feed)
    gold = lake.table("gold", "zoo", "pets")
    gold.append(gold.read())
    lay(folder, "2025-11-20/04/b.json", drop(change("U", 2, {"id": "1"}, {"name": "Ava"})))
    bronze.land(lake, feed, ["2025-11-20T04"])
    silver.derive(lake, feed, ["2025-11-20T04"])
    assert current_state.apply(lake, feed, PETS, ["2025-11-20T04"]).foreign_copies == 1
