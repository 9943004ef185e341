"""The sensor of a feed whose landing is a folder: a window with new drops is run."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import dagster as dg
import pytest

from assets.control import ledger
from assets.control.ledger import ReadObject
from assets.landing.landings import LandedObject, LeftOut, open_landing
from orchestration import definitions
from orchestration.automation import object_sensor, run_requests
from orchestration.observability.run_tags import RANGE, windows_of_run
from orchestration.resources import lake_of
from tests.support.made_bronze import append
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed


def feed_of(folder: Path) -> Feed:
    return Feed("shop", "arcion_s3_json", str(folder))


class Look:
    """The sensor over a folder, tick after tick."""

    def __init__(self, folder: Path, warehouse: str = "/nowhere") -> None:
        feed = feed_of(folder)
        self.repository = definitions.build([feed], lake_of(warehouse, {})).get_repository_def()
        self.sensor = self.repository.get_sensor_def(f"{feed.name}_drops")
        self.cursor: str | None = None
        self.run_keys: list[str | None] = []
        self.requests: Sequence[dg.RunRequest] = []
        self.skip_message: str | None = None

    def __call__(self, *runs: dg.DagsterRun) -> list[str]:
        """The windows that this tick asks for, after these runs."""
        with dg.DagsterInstance.ephemeral() as instance:
            for run in runs:
                instance.add_run(run)
            context = dg.build_sensor_context(
                instance=instance, cursor=self.cursor, repository_def=self.repository
            )
            tick = self.sensor.evaluate_tick(context)
        self.skip_message = tick.skip_message
        self.cursor = tick.cursor or self.cursor
        self.requests = tick.run_requests or []
        self.run_keys = [one.run_key for one in self.requests]
        assert all(one.tags.get("feed") == "shop" for one in self.requests)
        return [window for one in self.requests for window in windows_of(one)]


def asked(look: Look) -> dict[str, str]:
    """The windows that the cursor remembers, each with the state of its drops."""
    windows: dict[str, str] = json.loads(look.cursor or "")["asked"]
    return windows


def windows_of(request: dg.RunRequest) -> list[str]:
    """The windows of the run that is asked for: its partition, or the range that its tags name."""
    if request.partition_key is not None:
        return [request.partition_key]
    return windows_of_run(Feed("shop", "arcion_s3_json", ""), request.tags)


def lay(folder: Path, *names: str) -> Path:
    """Lay out objects; returns the last one."""
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}\n")
    return file


def test_new_windows_are_one_run_over_a_range_and_nothing_new_is_a_reason(tmp_path: Path) -> None:
    windows = [f"2025-11-20T{hour:02}" for hour in (3, 4, 6, 7, 8)]
    lay(tmp_path, *(f"{window.replace('T', '/')}/part_1.json" for window in windows))
    look = Look(tmp_path)
    look()
    (request,) = look.requests
    assert request.partition_key is None
    assert request.tags["dagster/asset_partition_range_start"] == windows[0]
    assert request.tags["dagster/asset_partition_range_end"] == windows[-1]
    assert str(request.run_key).startswith("2025-11-20T03..2025-11-20T08:")
    assert look() == []
    assert look.skip_message == (
        f"no new drops in {tmp_path}: 5 objects of 5 windows, 5 asked for and not read yet"
    )


def test_a_range_leaves_out_what_is_read_and_what_is_asked_for(tmp_path: Path) -> None:
    drops, warehouse = tmp_path / "drops", tmp_path / "warehouse"
    for hour in (3, 4, 5, 7):
        lay(drops, f"2025-11-20/{hour:02}/a.json")
    lake, feed = lake_of(str(warehouse), {}), feed_of(drops)
    read = [one for one in open_landing(feed).list() if one.window == "2025-11-20T04"]
    append(lake, feed, *((one.window, one.name, one.generation, 1) for one in read))
    ledger.catch_up(lake, feed)
    look = Look(drops, str(warehouse))
    look()
    assert [windows_of(one) for one in look.requests] == [
        ["2025-11-20T03"],
        # In 06 nothing landed.
        ["2025-11-20T05", "2025-11-20T06", "2025-11-20T07"],
    ]
    lay(drops, "2025-11-20/02/a.json")
    lay(drops, "2025-11-20/06/a.json")
    assert look() == ["2025-11-20T02", "2025-11-20T06"]


def test_a_link_out_of_the_landing_asks_for_nothing_and_is_named(tmp_path: Path) -> None:
    lay(tmp_path.parent / "outside", "2025-11-20/03/a.json")
    (tmp_path / "elsewhere").symlink_to(tmp_path.parent / "outside")
    look = Look(tmp_path)
    assert look() == []
    assert look.skip_message is not None
    assert (
        f"not read: elsewhere: it is a link that leads out of the landing, to {tmp_path.parent}/outside"
        in look.skip_message
    )


def test_a_window_whose_drops_have_changed_is_asked_for_again(tmp_path: Path) -> None:
    look = Look(tmp_path)
    assert look() == []
    assert look.skip_message == f"no new drops in {tmp_path}: 0 objects of 0 windows, all read"
    # What is no drop asks for nothing.
    lay(tmp_path, "2025-11-20/05/_SUCCESS", "2025-11-20/05/a.json.tmp", "2025-11-20/05/notes.txt")
    file = lay(tmp_path, "2025-11-20/04/part_1.json", "2025-11-20/03/part_1.json")
    assert look() == ["2025-11-20T03", "2025-11-20T04"]
    first = set(look.run_keys)
    lay(tmp_path, "2025-11-20/03/part_2.json")
    assert look() == ["2025-11-20T03"]
    # Dagster starts no second run for a key that it has seen.
    assert not first & set(look.run_keys)
    assert look() == []
    file.write_text("[]\n")
    os.utime(file, (1_763_700_000, 1_763_700_000))
    assert look() == ["2025-11-20T03"]
    file.unlink()
    (tmp_path / "2025-11-20/03/part_2.json").unlink()
    assert look() == []


FAILURE = dg.DagsterRunStatus.FAILURE


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let it be so many seconds after whatever happens now."""
    clock = SimpleNamespace(time=lambda: time.time() + seconds)
    monkeypatch.setattr(run_requests, "time", clock)


class After:
    """What is asked for again after a run of these windows, which all are still due unless others are named."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, due: Collection[str] | None = None) -> None:
        self.monkeypatch, self.due = monkeypatch, due

    def __call__(
        self, name: str, attempt: str, seconds: float, status: dg.DagsterRunStatus = FAILURE
    ) -> dict[str | None, list[str]]:
        """The windows of each request, by its run key."""
        later(self.monkeypatch, seconds)
        tags = {"feed": "shop", "dagster/run_key": f"{name}:abc{attempt}"}
        first, _, last = name.partition("..")
        for tag, window in zip(RANGE, (first, last or first), strict=True):
            tags[tag] = window
        with dg.DagsterInstance.ephemeral() as instance:
            instance.add_run(dg.DagsterRun(job_name="shop_to_gold", status=status, tags=tags))
            feed = Feed("shop", "arcion_s3_json", "")
            found = run_requests.requests_after_failure(
                instance, feed, lambda some: some if self.due is None else self.due
            )
        return {one.run_key: windows_of(one) for one in found}


def test_a_window_whose_run_failed_is_asked_for_again_after_a_while_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    after, window = After(monkeypatch), "2025-11-20T03"
    assert after(window, "", 301) == {f"{window}:abc:2": [window]}
    assert after(window, "", 240) == {}
    assert after(window, ":2", 540) == {}
    assert after(window, ":2", 601) == {f"{window}:abc:3": [window]}
    assert after(window, ":5", 1_000_000) == {}
    assert after(window, "", 301, dg.DagsterRunStatus.SUCCESS) == {}
    assert after(window, "", 301, dg.DagsterRunStatus.STARTED) == {}
    # Other drops were asked for since, or another run has finished it.
    assert After(monkeypatch, due=[])(window, "", 301) == {}


def test_a_range_whose_run_failed_is_asked_for_in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    windows = [f"2025-11-20T{hour:02}" for hour in range(3, 8)]
    name = f"{windows[0]}..{windows[-1]}"
    assert After(monkeypatch)(name, ":5", 1_000_000) == {
        "2025-11-20T03..2025-11-20T04:abc:6": windows[:2],
        "2025-11-20T05..2025-11-20T07:abc:6": windows[2:],
    }
    # One of them is finished meanwhile.
    assert After(monkeypatch, [windows[0], *windows[2:]])(name, "", 301) == {
        "2025-11-20T03:abc:2": windows[:1],
        "2025-11-20T05:abc:2": windows[2:3],
        "2025-11-20T06..2025-11-20T07:abc:2": windows[3:],
    }


def test_the_sensor_asks_again_for_what_is_still_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(tmp_path, "2025-11-20/03/part_1.json")
    look = Look(tmp_path)
    assert look() == ["2025-11-20T03"]
    later(monkeypatch, 301)
    tags = {
        "feed": "shop",
        "dagster/run_key": str(look.run_keys[0]),
        "dagster/partition": "2025-11-20T03",
    }
    run = dg.DagsterRun(job_name="shop_to_gold", status=FAILURE, tags=tags)
    assert look(run) == ["2025-11-20T03"]
    assert look.run_keys == [f"{tags['dagster/run_key']}:2"]
    # A new drop is asked for in its own state, and once.
    lay(tmp_path, "2025-11-20/03/part_2.json")
    assert look(run) == ["2025-11-20T03"]
    assert not str(look.run_keys[0]).endswith(":2")


def test_ranges_that_are_far_apart_are_a_few_runs_for_each_tick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = [f"2025-{month:02}-20T03" for month in range(1, 6)]
    lay(tmp_path, *(f"{window.replace('T', '/')}/part_1.json" for window in windows))
    monkeypatch.setattr(object_sensor, "RUNS_AT_ONCE", 2)
    look = Look(tmp_path)
    assert [look(), look(), look(), look()] == [windows[:2], windows[2:4], windows[4:], []]


def test_a_window_that_has_not_begun_waits_and_does_not_stop_the_others(tmp_path: Path) -> None:
    later = datetime.now(UTC) + timedelta(days=2)
    lay(tmp_path, f"{later:%Y-%m-%d/%H}/part_1.json")
    lay(tmp_path, "2019-12-31/23/part_1.json")
    lay(tmp_path, "2025-11-20/03/part_1.json")
    look = Look(tmp_path)
    assert look() == ["2025-11-20T03"]
    assert [*asked(look)] == ["2025-11-20T03"]
    assert look() == []


def many_objects(count: int) -> list[LandedObject]:
    """One object in each of the given number of hours."""
    first = datetime(2024, 1, 1, tzinfo=UTC)
    hours = [first + timedelta(hours=number) for number in range(count)]
    return [
        LandedObject(f"{one:%Y-%m-%d/%H}/a.json", "1", 1, one, f"{one:%Y-%m-%dT%H}")
        for one in hours
    ]


def test_windows_that_are_read_leave_the_cursor_however_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = many_objects(12_000)
    landed = {one.window: one for one in objects}
    read: list[ReadObject] = []

    class Fake:
        left_out = LeftOut()

        def list(self) -> Iterator[LandedObject]:
            yield from landed.values()

    monkeypatch.setattr(object_sensor, "open_landing", lambda *_: Fake())
    monkeypatch.setattr(object_sensor, "MANY", 20_000)
    monkeypatch.setattr(ledger, "noted_objects", lambda *_: read)
    look = Look(tmp_path)
    assert look() == [one.window for one in objects[:744]]
    assert len(asked(look)) == 744

    # Runs have read all but the last window, which was asked for.
    read += [ReadObject(one.window, one.name, one.generation, 1) for one in objects[:-1]]
    assert look() == [objects[-1].window]
    assert look() == []
    assert [*asked(look)] == [objects[-1].window]
    read.append(ReadObject(objects[-1].window, objects[-1].name, "1", 1))
    assert look() == []
    assert asked(look) == {}

    # An old window gets an object, and another's is replaced.
    old, other = objects[5], objects[4_000]
    landed["late"] = old._replace(name="late.json")
    landed[other.window] = other._replace(generation="2")
    assert look() == [old.window, other.window]
    assert look() == []


def test_of_a_large_landing_most_ticks_look_at_the_newest_days_and_one_an_hour_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_sensor, "MANY", 2)
    drops, warehouse = tmp_path / "drops", tmp_path / "warehouse"
    lake, feed = lake_of(str(warehouse), {}), feed_of(drops)
    hour = datetime.now(UTC)
    today, yesterday = f"{hour:%Y-%m-%d/%H}", f"{hour - timedelta(days=1):%Y-%m-%d/%H}"
    for folder in ("2025-11-20/03", "2025-11-20/04", yesterday):
        lay(drops, f"{folder}/a.json")

    def read() -> None:
        held = {(one.name, one.generation) for one in ledger.noted_objects(lake, feed)}
        landed = [
            one for one in open_landing(feed).list() if (one.name, one.generation) not in held
        ]
        append(lake, feed, *((one.window, one.name, one.generation, 1) for one in landed))
        ledger.catch_up(lake, feed)

    look = Look(drops, str(warehouse))
    old, newest = ["2025-11-20T03", "2025-11-20T04"], yesterday.replace("/", "T")
    # The first look is at everything, and a landing of few drops is always looked at as a whole.
    assert look() == [*old, newest]
    lay(drops, "2025-11-20/03/late.json")
    lay(drops, f"{today}/a.json")
    # What was asked for in an old window stays asked for, though no tick looks at it.
    assert look() == [today.replace("/", "T")]
    assert {*asked(look)} == {*old, newest, today.replace("/", "T")}
    read()
    assert look() == []
    assert {*asked(look)} == {*old}
    assert look.skip_message is not None
    assert "2 objects of 2 windows from " in look.skip_message
    assert "older ones are looked at once an hour" in look.skip_message
    lay(drops, "2025-11-20/04/late.json")
    assert look() == []
    # An hour later.
    cursor = json.loads(look.cursor or "")
    look.cursor = json.dumps(cursor | {"whole_at": (hour - timedelta(hours=1)).isoformat()})
    assert look() == ["2025-11-20T04"]
    read()
    assert look() == []


def test_what_one_tick_leaves_of_a_large_landing_follows_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = many_objects(1_000)

    class Fake:
        left_out = LeftOut()

        def list(self, days: Collection[str] | None = None) -> Iterator[LandedObject]:
            yield from (one for one in objects if days is None or one.window[:10] in days)

    monkeypatch.setattr(object_sensor, "open_landing", lambda *_: Fake())
    monkeypatch.setattr(object_sensor, "MANY", 2)
    look = Look(tmp_path)
    assert look() == [one.window for one in objects[:744]]
    assert look() == [one.window for one in objects[744:]]
    assert look() == []
    # Now all is asked for, and the next look is at the newest days, of which there are no drops.
    assert look.skip_message is not None
    assert "0 objects of 0 windows from " in look.skip_message
    assert len(asked(look)) == 1_000


def test_a_landing_that_cannot_be_listed_fails_the_tick_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UnreadableLanding, match=r"there is no such folder\. Create it"):
        Look(tmp_path / "none")()
