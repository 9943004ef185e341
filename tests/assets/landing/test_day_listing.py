"""Some days of a landing are listed without the others, and nothing is lost that a whole listing has of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from assets.bronze import from_objects
from assets.landing import landings
from assets.landing.landings import Landing, open_landing
from tests.services.seaweed import Store
from transforms.feed.feed import Feed
from transforms.feed.windows import day_of

DAYS = ("2025-11-19", "2025-11-20", "2025-11-21")
DAY = "2025-11-20"
WRITTEN = datetime(2025, 11, 20, 7, 30, tzinfo=UTC).timestamp()

LAYOUTS = (
    "{day}/{hour:02}/{name}.json",
    "{table}/{day}/{name}.json",
    "{table}/dt={day}/hour={hour}/{name}.json",
    "{slashed}/{hour:02}/{name}.json",
    "{table}/{slashed}/{name}.json",
    "{table}/{name}_{day}.json",
    "{day}T{hour:02}_{name}.json",
    "{table}/{name}.json",
    "{name}.json",
    "{table}/v1/{day}/{other}/{name}.json",
    "2025/{name}.json",
    "2025/11/x/{day}/{name}.json",
    "_temporary/{day}/{name}.json",
)


def drawn(rng: Random) -> set[str]:
    """Names of objects of a few days, laid out in every way at once."""
    names = set()
    for layout in LAYOUTS:
        for _ in range(rng.randrange(1, 5)):
            day = rng.choice(DAYS)
            names.add(
                layout.format(
                    day=day,
                    other=rng.choice(DAYS),
                    slashed=day.replace("-", "/"),
                    hour=rng.randrange(24),
                    table=rng.choice(["orders", "items"]),
                    name=f"part{rng.randrange(10**6)}",
                )
            )
    return names


Lay = Callable[[set[str]], Feed]


@pytest.fixture(params=["folder", pytest.param("store", marks=pytest.mark.services)])
def lay(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Lay]:
    """Puts objects into a landing, in a folder or in a real S3 server."""

    def in_folder(names: set[str]) -> Feed:
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("{}")
            os.utime(tmp_path / name, (WRITTEN, WRITTEN))
        return Feed("zoo", "arcion_s3_json", str(tmp_path))

    if request.param == "folder":
        yield in_folder
        return
    store: Store = request.getfixturevalue("store")
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)

    def in_store(names: set[str]) -> Feed:
        store.put("days", {f"{tmp_path.name}/{name}": b"{}" for name in names})
        return Feed("zoo", "arcion_s3_json", f"s3://days/{tmp_path.name}/")

    yield in_store


def of_day(landing: Landing, days: set[str] | None) -> list[str]:
    """The names of that day's objects, as the listing of these days gives them."""
    # In one order: not every store lists in that of the keys' bytes.
    return sorted(one.name for one in landing.list(days) if day_of(one.window) == DAY)


@pytest.mark.parametrize("seed", range(3))
def test_a_days_objects_are_those_that_a_whole_listing_has_of_it(lay: Lay, seed: int) -> None:
    feed = lay(drawn(Random(f"listing {seed}")))
    landing = open_landing(feed)
    # Objects without a date in their name are of the day on which they were written: in a folder that is DAY.
    whole = of_day(landing, None)
    assert whole
    assert of_day(landing, {DAY}) == whole
    assert of_day(landing, {DAY, "2025-11-21"}) == whole
    listed = [*landing.list({DAY})]
    undated = {one.name for one in landing.list() if "2025-11" not in one.name.replace("/", "-")}
    assert undated <= {one.name for one in listed}


def test_folders_of_other_days_are_not_looked_into(
    lay: Lay, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = lay(
        {
            f"{table}/2025-{month:02}-20/{part}.json"
            for table in ("orders", "items")
            for month in range(1, 13)
            for part in range(3)
        }
    )
    listed = {one.name for one in open_landing(feed).list({DAY})}
    assert listed == {
        f"{table}/{DAY}/{part}.json" for table in ("orders", "items") for part in range(3)
    }
    # A run of a window asks for its own day alone.
    found = from_objects.arrivals(feed, lambda _: [], [f"{DAY}T00"])
    assert {one.name for one in found.new} == listed
    assert from_objects.arrivals(feed, lambda _: [], [f"{DAY}T00"], look_elsewhere=True).waiting


def test_a_feed_that_says_where_the_date_stands_is_listed_by_days_alike(lay: Lay) -> None:
    """Other dates in the paths say nothing then, and objects without the date may lie anywhere."""
    names = {
        f"{table}/d={day[8:]}.{day[5:7]}.{day[:4]}/v-{other}/{part}.json"
        for table in ("orders", "items")
        for day in DAYS
        for other in DAYS
        for part in range(2)
    }
    feed = replace(lay({*names, f"{DAYS[0]}/undated.json"}), window_path="d={day}.{month}.{year}")
    landing = open_landing(feed)
    whole = of_day(landing, None)
    assert {one for one in whole if "/d=" in one} == {one for one in names if "/d=20.11" in one}
    assert of_day(landing, {DAY}) == whole
    assert {one.name for one in landing.list({DAY})} == {
        *(one for one in names if "/d=20.11" in one),
        f"{DAYS[0]}/undated.json",
    }


@pytest.mark.services
def test_too_many_folders_without_a_date_are_listed_as_a_whole(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
    names = [f"{table}/{day}/a.json" for table in range(30) for day in DAYS]
    store.put("wide", {name: b"{}" for name in names})
    landing = open_landing(Feed("zoo", "arcion_s3_json", "s3://wide/"))
    assert len([*landing.list({DAY})]) == 30
    # The bucket, 30 tables, 30 days.
    monkeypatch.setattr(landings, "LOOKS", 60)
    everything = [one.name for one in landing.list({DAY})]
    assert everything == sorted(names)
    assert of_day(landing, {DAY}) == [name for name in sorted(names) if DAY in name]
