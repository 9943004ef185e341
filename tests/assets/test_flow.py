"""Drops on a real S3 server become tables: what is read, what is read again, and what stops a run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assets.bronze import from_objects
from assets.control import progress
from assets.gold import apply
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.runs import planning
from tests.services.seaweed import Store
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.errors import UnknownHeader, UnreadableLanding
from transforms.feed.feed import Feed


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
    assert sum(account["events"] for account in made.accounts) == 3
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
        row["id"] for row in lake.table(Layer.GOLD, "zoo", "pets__tombstones").read().collect()
    } == {2}
    assert made.violations["accounting_is_exact"] == 0
    assert made.violations["no_event_twice"] == 1
    bronze_rows = lake.table(Layer.BRONZE, "zoo").read()
    assert bronze_rows.where("line > 0").count() == 6
    assert (
        bronze_rows.where("object = '2025-11-20/04/b.json'").select("generation").distinct().count()
        == 2
    )


def test_a_little_that_is_new_is_found_and_brought_to_gold_without_spark(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lake, "spark", property(lambda _: pytest.fail("Spark was asked")))

    def due() -> list[str]:
        return planning.due(lake, feed).windows

    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    for hour in (3, 4):
        name = f"2025-11-20/{hour:02}/a.json"
        lay(folder, name, drop(change("I", hour, after={"id": f"{hour}", "name": "Ada"})))
        windows = [f"2025-11-20T{hour:02}"]
        assert due() == windows
        from_objects.land(lake, feed, windows)
        derive.derive(lake, feed, windows)
        done = apply.apply(lake, feed, PETS, windows)
        assert done.rows == hour - 2
        progress.finish(lake, feed, windows)
        assert due() == []
        # Nothing but the commit says what was read: the ledger is lost, and so is progress.
        if hour == 3:
            shutil.rmtree(lake.path(Layer.LEDGER, "zoo"))
            assert due() == []
            shutil.rmtree(lake.path(Layer.PROGRESS, "zoo"))
            assert due() == windows
            progress.finish(lake, feed, windows)


def test_a_warehouse_of_an_earlier_version_is_gone_on_with(lake: Lake, folder: Path) -> None:
    """Its small tables were made by Spark, and it has no ledger."""
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    for hour in (3, 4):
        name = f"2025-11-20/{hour:02}/a.json"
        lay(folder, name, drop(change("I", hour, after={"id": f"{hour}", "name": "Ada"})))
        bring(lake, feed)
    shutil.rmtree(lake.path(Layer.LEDGER, "zoo"))
    finished = lake.table(Layer.PROGRESS, "zoo").read().localCheckpoint()
    shutil.rmtree(lake.path(Layer.PROGRESS, "zoo"))
    lake.table(Layer.PROGRESS, "zoo").replace_where(finished, "true")

    assert planning.due(lake, feed).windows == []
    lay(folder, "2025-11-20/03/b.json", drop(change("U", 9, {"id": "3"}, {"name": "Ava"})))
    assert planning.due(lake, feed).windows == ["2025-11-20T03"]
    bring(lake, feed)
    assert planning.due(lake, feed).windows == []
    assert names(lake, feed) == {3: "Ava", 4: "Ada"}


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
    from_objects.land(lake, feed, ["2025-11-20T04"])
    derive.derive(lake, feed, ["2025-11-20T04"])
    done = apply.apply(lake, feed, PETS, ["2025-11-20T04"])

    assert names(lake, feed) == {20: "n2", 3: None, 4: "n4"}
    tombstones = lake.table(Layer.GOLD, "zoo", "pets__tombstones").read().collect()
    assert {row["id"] for row in tombstones} == {1, 2}
    assert (
        done.metrics.deliveries,
        done.metrics.repeats,
        done.metrics.keys,
        done.metrics.keys_with_late_events,
    ) == (
        4,
        1,
        4,
        0,
    )
    # The same window again is no news: not one row is written.
    again = apply.apply(lake, feed, PETS, ["2025-11-20T04"])
    # The last event of each key came again, and one that is older than it.
    assert (again.metrics.repeats, again.metrics.superseded, again.metrics.keys) == (4, 0, 0)
    assert (again.rows, again.tombstones) == (3, 2)


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
    assert not lake.table(Layer.BRONZE, "zoo").exists()
    assert [*Path(lake.warehouse).glob("*/*")] == [Path(lake.warehouse, "_locks", "bronze.zoo")]


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
    assert not lake.table(Layer.BRONZE, "zoo").exists()


def test_an_overwritten_object_is_reported_whatever_window_it_comes_into(
    lake: Lake, folder: Path
) -> None:
    """Without a date in its path, an object's window is the hour of its last change."""
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    for window, minute, name in (("03", 10, "Ada"), ("04", 70, "Ava")):
        lay(folder, "pets.json", drop(change("I", 1, after={"id": "1", "name": name})))
        at = datetime(2025, 11, 20, 3, tzinfo=UTC).timestamp() + 60 * minute
        os.utime(folder / "pets.json", (at, at))
        assert planning.due(lake, feed).windows == [f"2025-11-20T{window}"]
        arrived = from_objects.land(lake, feed, [f"2025-11-20T{window}"])
        assert len(arrived.new) == 1
        assert arrived.replaced == ([] if window == "03" else ["pets.json"])
        derive.derive(lake, feed, [f"2025-11-20T{window}"])
        progress.finish(lake, feed, [f"2025-11-20T{window}"])
    assert planning.due(lake, feed).windows == []
    assert from_objects.land(lake, feed, ["2025-11-20T04"]).new == []
