"""Which windows are due, and in which Dagster runs; planning needs no Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assets.bronze import from_objects
from assets.control import ledger, progress
from assets.control.ledger import ReadObject
from assets.landing import kafka
from assets.landing.kafka_offsets import Partition, ReadUpTo
from assets.landing.landings import LandedObject, open_landing
from assets.storage.lake import Lake
from orchestration.automation.run_requests import ranges_of
from orchestration.resources import lake_of
from orchestration.runs import planning
from orchestration.runs.planning import RunPlan, asked_windows
from transforms.errors import WindowOutOfRange, WindowSizeChanged
from transforms.feed.feed import Feed

HOURLY = Feed("shop", "arcion_s3_json", "/nowhere", window="hour")
DAILY = Feed("tpch", "arcion_s3_csv", "/nowhere", window="day")


@pytest.fixture
def lake() -> Lake:
    return lake_of("/nowhere", {})


def landed(
    monkeypatch: pytest.MonkeyPatch,
    new: Sequence[str],
    unfinished: Sequence[str] = (),
    left_out: Sequence[str] = (),
    known: Sequence[ReadObject] = (),
) -> None:
    """What the landing and the tables would say: windows with new objects, and those not finished."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    objects = [LandedObject(f"{window}/x", "g", 1, now, window) for window in new]
    found = from_objects.LandingDiff(objects, [], list(left_out), len(objects), [])
    monkeypatch.setattr(from_objects, "arrivals", lambda *_: found)
    monkeypatch.setattr(ledger, "read_objects", lambda *_: list(known))
    monkeypatch.setattr(progress, "unfinished", lambda *_: list(unfinished))


@pytest.mark.parametrize("folder", ["2025-03-04/05", "2025-03-04T05", "items/2025/03/04/05/x"])
def test_what_comes_late_into_an_old_window_or_is_replaced_there_is_due(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    feed = replace(HOURLY, landing=str(tmp_path))
    drop = tmp_path / folder / "a.json"
    for one in (drop, tmp_path / "2025-11-20/03/b.json"):
        one.parent.mkdir(parents=True)
        one.write_text("{}")
    listed = open_landing(feed).list()
    read = [ReadObject(one.window, one.name, one.generation, 1) for one in listed]
    monkeypatch.setattr(ledger, "read_objects", lambda *_: read)
    monkeypatch.setattr(progress, "unfinished", lambda *_: [])
    assert planning.due(lake, feed).windows == []
    late = drop.with_name("late.json")
    late.write_text("{}")
    assert planning.due(lake, feed).windows == ["2025-03-04T05"]
    late.unlink()
    # In place, with as many bytes: neither its folder nor its size tells.
    drop.write_text("[]")
    assert planning.due(lake, feed).windows == ["2025-03-04T05"]


def refusal(feed: Feed, windows: str) -> str:
    with pytest.raises(WindowOutOfRange) as caught:
        planning.asked(feed, windows)
    return str(caught.value)


def named(feed: Feed, text: str) -> list[str]:
    return [*planning.asked(feed, text).every]


def windows_of(lake: Lake, feed: Feed, text: str) -> list[str]:
    return planning.of_asked(lake, feed, planning.asked(feed, text)).windows


@pytest.mark.parametrize(
    ("feed", "text", "first", "last", "count"),
    [
        (HOURLY, "2025-11-19T23..2025-11-20T01", "2025-11-19T23", "2025-11-20T01", 3),
        (HOURLY, " 2025-11-20T03 .. 2025-11-20T03", "2025-11-20T03", "2025-11-20T03", 1),
        (HOURLY, "2025-11-20T03", "2025-11-20T03", "2025-11-20T03", 1),
        (DAILY, "2024-02-28..2024-03-01", "2024-02-28", "2024-03-01", 3),
        # A day of an hourly feed is all its hours.
        (HOURLY, "2025-11-20", "2025-11-20T00", "2025-11-20T23", 24),
        (HOURLY, "2025-11-19..2025-11-21", "2025-11-19T00", "2025-11-21T23", 72),
        (HOURLY, "2025-11-19T23..2025-11-20", "2025-11-19T23", "2025-11-20T23", 25),
    ],
)
def test_a_range_has_both_its_ends(
    feed: Feed, text: str, first: str, last: str, count: int
) -> None:
    windows = named(feed, text)
    assert (windows[0], windows[-1], len(windows)) == (first, last, count)


def test_the_open_window_can_be_asked_for_and_the_next_one_not() -> None:
    now = datetime.now(UTC)
    still_open = f"{now:%Y-%m-%d}"
    assert named(DAILY, still_open) == [still_open]
    # Of today the hours that have begun.
    today = named(HOURLY, still_open)
    assert (today[0], today[-1]) in {
        (f"{still_open}T00", f"{one:%Y-%m-%dT%H}") for one in (now, datetime.now(UTC))
    }
    later = f"{now + timedelta(days=1):%Y-%m-%d}"
    assert refusal(DAILY, f"{still_open}..{later}") == (
        f"feed tpch: --windows {later}: it has not begun yet"
    )
    assert "it has not begun yet" in refusal(HOURLY, f"{still_open}..{later}")


def test_an_open_range_has_the_windows_with_drops(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    landed(
        monkeypatch,
        new=["2025-11-20T05", "2025-11-22T00"],
        unfinished=["2025-11-18T02"],
        known=[ReadObject(f"2025-11-{day}T03", "x", "g", 1) for day in (17, 20)],
    )
    early, late = ["2025-11-17T03", "2025-11-18T02"], ["2025-11-20T03", "2025-11-20T05"]
    assert windows_of(lake, HOURLY, "..2025-11-20") == [*early, *late]
    assert windows_of(lake, HOURLY, "..2025-11-20T04") == [*early, *late[:1]]
    assert windows_of(lake, HOURLY, "2025-11-20..") == [*late, "2025-11-22T00"]
    assert windows_of(lake, HOURLY, "2025-11-20T04 ..") == ["2025-11-20T05", "2025-11-22T00"]
    none = planning.of_asked(lake, HOURLY, planning.asked(HOURLY, "2025-11-23.."))
    assert (none.windows, max(none.finished)) == ([], "2025-11-22T00")


def test_the_last_windows_end_with_the_one_that_is_open_now(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime(2025, 11, 20, 3, 30, tzinfo=UTC)
    for text, first, last in (
        ("last 12h", "2025-11-19T16", "2025-11-20T03"),
        ("last 1h", "2025-11-20T03", "2025-11-20T03"),
        ("last 3d", "2025-11-17T04", "2025-11-20T03"),
        (" last3d", "2025-11-17T04", "2025-11-20T03"),
    ):
        asked = asked_windows(HOURLY, text, now)
        assert (asked.first, asked.last, asked.every) == (first, last, ())
    asked = asked_windows(DAILY, "last 3d", now)
    assert (asked.first, asked.last) == ("2025-11-18", "2025-11-20")
    assert asked_windows(DAILY, "last 48h", now).first == "2025-11-19"
    today = datetime.now(UTC)
    days = [f"{today - timedelta(days=ago):%Y-%m-%d}" for ago in (4, 3, 0)]
    landed(monkeypatch, new=days)
    assert windows_of(lake, DAILY, "last 4d") == days[1:]


HOURS = (
    "write 2026-11-20T03 (an hour), 2026-11-20 (all its hours), 2026-11-18..2026-11-20 (both ends included),"
    " 2026-11-18.. or ..2026-11-20 (open), or last 12h or last 3d (until now)"
)
DAYS = (
    "write 2026-11-20, 2026-11-18..2026-11-20 (both ends included), 2026-11-18.. or ..2026-11-20 (open), or last 3d"
    " (until now)"
)


@pytest.mark.parametrize(
    ("feed", "text", "fault"),
    [
        (HOURLY, "yesterday", f"'yesterday' is no window of one hour; {HOURS}"),
        (HOURLY, "", f"'' is no window of one hour; {HOURS}"),
        (HOURLY, "2025-02-30", f"'2025-02-30' is no date; {HOURS}"),
        (HOURLY, "2025-11-20T24", f"'2025-11-20T24' is no window of one hour; {HOURS}"),
        (HOURLY, "2025-11-18..20", f"'20' is no window of one hour; {HOURS}"),
        (
            HOURLY,
            "2025-11-18...2025-11-20",
            f"the two ends of a range have two dots between them; {HOURS}",
        ),
        (HOURLY, "..", f"a range needs one end at least; {HOURS}"),
        (HOURLY, "last", f"'' is no length of time; {HOURS}"),
        (HOURLY, "last 2 weeks", f"'2 weeks' is no length of time; {HOURS}"),
        (HOURLY, "last 0d", f"'0d' is no length of time; {HOURS}"),
        (HOURLY, "2025-11-20T05..2025-11-20T03", "the range ends before it begins"),
        (DAILY, "2025-11-20T03", f"'2025-11-20T03' is no window of one day; {DAYS}"),
        (DAILY, "last 12h", f"12h is no number of days, and the feed's windows are days; {DAYS}"),
    ],
)
def test_what_names_no_windows_is_refused_with_the_forms_that_are_known(
    feed: Feed, text: str, fault: str
) -> None:
    assert refusal(feed, text) == f"feed {feed.name}: --windows {text}: {fault}"


def test_new_objects_and_unfinished_windows_are_due_and_what_is_left_alone_is_named(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = f"{datetime.now(UTC) + timedelta(days=3):%Y-%m-%d}"
    new = ["2025-11-20", "2025-11-18", "2025-11-20", later, "2019-12-31"]
    landed(monkeypatch, new, unfinished=["2025-11-19"], left_out=["x.tmp: temporary"])
    plan = planning.due(lake, DAILY)
    assert plan.windows == ["2025-11-18", "2025-11-19", "2025-11-20"]
    assert (plan.early, plan.ancient) == ([later], ["2019-12-31"])
    assert plan.left_out == ["x.tmp: temporary"]


def test_a_feed_that_was_read_by_the_hour_cannot_be_read_by_the_day(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    landed(monkeypatch, new=[], known=[ReadObject("2025-11-20T03", "x", "g", 1)])
    with pytest.raises(WindowSizeChanged) as caught:
        planning.due(lake, DAILY)
    assert str(caught.value).startswith(
        "feed tpch: window: day: bronze was read by the hour, window 2025-11-20T03 for one. "
        "Set `window: hour` again;"
    )


TOPIC = Feed("town", "debezium", "kafka://nowhere:1/t")


def peeked(
    monkeypatch: pytest.MonkeyPatch,
    end: int,
    found: Sequence[str] = (),
    unfinished: Sequence[str] = (),
) -> list[tuple[dict[str, int], float]]:
    """What a topic of so many offsets would show, of which 10 are read; returns what each look began with."""
    looks: list[tuple[dict[str, int], float]] = []

    def windows_in(
        feed: Feed, partitions: Sequence[Partition], seen: dict[str, int], seconds: float
    ) -> tuple[set[str], dict[str, int]]:
        looks.append((seen, seconds))
        return {*found}, {}

    read = {("t/0", "id"): ReadUpTo(10, "2025-11-20T03")}
    monkeypatch.setattr(kafka, "look_at_topics", lambda _: [Partition("t", "id", 0, 0, end)])
    monkeypatch.setattr(kafka, "windows_in", windows_in)
    monkeypatch.setattr(ledger, "read_offsets", lambda *_: read)
    held = [ReadObject("2025-11-20T03", "t/0", "id", 9)]
    monkeypatch.setattr(ledger, "read_objects", lambda *_: held)
    monkeypatch.setattr(progress, "unfinished", lambda *_: list(unfinished))
    return looks


def test_what_is_new_in_topics_is_looked_at_behind_what_was_read(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = peeked(monkeypatch, 12, ["2025-11-20T05", "2025-11-20T03"], ["2025-11-20T04"])
    plan = planning.due(lake, TOPIC)
    assert plan.windows == ["2025-11-20T03", "2025-11-20T04", "2025-11-20T05"]
    assert plan.landed == 11
    assert looks == [({"t/0 id": 10}, planning.LOOK_SECONDS)]
    # A topic without anything new is not read.
    looks = peeked(monkeypatch, 10)
    assert (planning.due(lake, TOPIC).windows, looks) == ([], [])


@pytest.mark.parametrize("found", [[], ["2999-01-01T00"]], ids=["no record", "of the future"])
def test_offsets_that_no_window_is_found_for_are_read_by_a_run_of_the_open_one(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, found: list[str]
) -> None:
    peeked(monkeypatch, 12, found)
    before = datetime.now(UTC)
    plan = planning.due(lake, TOPIC)
    assert plan.windows in ([f"{one:%Y-%m-%dT%H}"] for one in (before, datetime.now(UTC)))
    assert plan.early == found


@pytest.mark.parametrize(
    ("day", "end", "found", "windows"),
    [
        (20, 10, [], ["2025-11-20T03"]),
        (20, 12, ["2025-11-20T05"], ["2025-11-20T03", "2025-11-20T05"]),
        (20, 12, ["2026-01-01T00"], ["2025-11-20T03"]),
        # A run of whatever windows reads what is new.
        (19, 10, ["2025-11-20T05"], []),
        (19, 12, ["2025-11-20T05"], ["2025-11-19T05"]),
    ],
)
def test_of_the_windows_that_a_person_names_those_are_run_that_topics_have_records_of(
    lake: Lake,
    monkeypatch: pytest.MonkeyPatch,
    day: int,
    end: int,
    found: list[str],
    windows: list[str],
) -> None:
    peeked(monkeypatch, end, found)
    assert windows_of(lake, TOPIC, f"2025-11-{day}T00..2025-11-{day}T05") == windows


def test_behind_a_run_come_the_windows_that_its_reading_brought_to_light(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = ["2025-11-19T03", "2025-11-20T05", "2025-11-22T00", "2999-01-01T00"]
    peeked(monkeypatch, 12, unfinished=left)
    # A window that was run counts as run, even if the run failed.
    plan = RunPlan(TOPIC, ["2025-11-19T03", "2025-11-20T07"], [], [])
    behind = planning.rest(lake, plan)
    assert behind.windows == ["2025-11-20T05", "2025-11-22T00"]
    assert behind.early == ["2999-01-01T00"]
    # Where a person has named windows, no other is run.
    for text, found in (
        ("2025-11-19T03..2025-11-20T07", ["2025-11-20T05"]),
        ("2025-11-20T06..", ["2025-11-22T00"]),
    ):
        named = replace(plan, asked=planning.asked(TOPIC, text))
        assert planning.rest(lake, named).windows == found
    objects = RunPlan(HOURLY, ["2025-11-20T03"], [], [])
    assert planning.rest(lake, objects).windows == []


@pytest.mark.parametrize(
    ("windows", "ranges"),
    [
        ([], []),
        (["2025-11-20T03"], [("2025-11-20T03", "2025-11-20T03")]),
        (["2025-11-20T03", "2025-11-20T04"], [("2025-11-20T03", "2025-11-20T04")]),
        # 48 empty windows between cost less than a second run; 49 do not.
        (["2025-11-20T00", "2025-11-22T01"], [("2025-11-20T00", "2025-11-22T01")]),
        (
            ["2025-11-20T00", "2025-11-22T02"],
            [("2025-11-20T00", "2025-11-20T00"), ("2025-11-22T02", "2025-11-22T02")],
        ),
        (
            ["2025-01-01T00", "2025-01-01T05", "2025-06-01T00", "2025-06-01T01"],
            [("2025-01-01T00", "2025-01-01T05"), ("2025-06-01T00", "2025-06-01T01")],
        ),
    ],
)
def test_near_windows_are_one_run_and_far_ones_are_not(
    windows: list[str], ranges: list[tuple[str, str]]
) -> None:
    assert ranges_of(windows, HOURLY.window) == ranges
