"""Which windows are due, and in which Dagster runs; planning needs no Spark."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from assets.bookkeeping import ledger, window_progress
from assets.bookkeeping.ledger import ReadObject
from assets.bronze import from_objects
from assets.lake import Lake
from assets.landing.kafka import peek, topics
from assets.landing.kafka.offset_ranges import Partition, ReadUpTo
from assets.landing.objects import LandedObject
from orchestration.resources import lake_of
from orchestration.runs import planning
from orchestration.runs.plan import Plan
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
    monkeypatch.setattr(window_progress, "unfinished", lambda *_: list(unfinished))


def refusal(feed: Feed, windows: str) -> str:
    with pytest.raises(WindowOutOfRange) as caught:
        planning.asked(feed, windows)
    return str(caught.value)


def test_a_range_is_inclusive_and_a_single_window_is_one() -> None:
    asked = planning.asked(HOURLY, "2025-11-19T23..2025-11-20T01")
    assert asked.windows == ["2025-11-19T23", "2025-11-20T00", "2025-11-20T01"]
    assert planning.asked(HOURLY, "2025-11-20T03").windows == ["2025-11-20T03"]
    assert planning.asked(DAILY, "2024-02-28..2024-03-01").windows == [
        "2024-02-28",
        "2024-02-29",
        "2024-03-01",
    ]


def test_the_open_window_can_be_asked_for_and_the_next_one_not() -> None:
    now = datetime.now(UTC)
    still_open = f"{now:%Y-%m-%d}"
    assert planning.asked(DAILY, still_open).windows == [still_open]
    later = f"{now + timedelta(days=1):%Y-%m-%d}"
    assert refusal(DAILY, f"{still_open}..{later}") == (
        f"feed tpch: window {later}: it has not begun yet"
    )


def test_what_is_no_range_is_refused_with_the_form_that_is_meant() -> None:
    assert refusal(HOURLY, "2025-11-20T05..2025-11-20T03") == (
        "feed shop: window 2025-11-20T05..2025-11-20T03: the range ends before it begins"
    )
    assert refusal(HOURLY, "yesterday") == (
        "feed shop: window yesterday: 'yesterday' is no window of one hour;"
        " expected the form 2026-11-20T03"
    )
    assert "expected the form 2026-11-20" in refusal(DAILY, "2025-11-20T03..2025-11-20T05")
    assert "expected the form 2026-11-20T03" in refusal(HOURLY, "2025-11-20T03..")
    assert refusal(DAILY, "2019-12-31..2020-01-01") == (
        "feed tpch: window 2019-12-31: windows begin at 2020-01-01"
    )


def test_new_objects_and_unfinished_windows_are_due_once_each_in_order(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    landed(monkeypatch, new=["2025-11-20", "2025-11-18", "2025-11-20"], unfinished=["2025-11-19"])
    assert planning.due(lake, DAILY).windows == ["2025-11-18", "2025-11-19", "2025-11-20"]


def test_nothing_new_is_an_empty_plan(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    landed(monkeypatch, new=[])
    plan = planning.due(lake, DAILY)
    assert (plan.windows, plan.early, plan.left_out, plan.ranges()) == ([], [], [], [])


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


def test_drops_of_a_window_that_has_not_begun_wait_and_are_named(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = f"{datetime.now(UTC) + timedelta(days=3):%Y-%m-%d}"
    landed(monkeypatch, new=["2025-11-20", later], left_out=["x.tmp: temporary"])
    plan = planning.due(lake, DAILY)
    assert plan.windows == ["2025-11-20"]
    assert plan.early == [later]
    assert plan.left_out == ["x.tmp: temporary"]


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
    monkeypatch.setattr(topics, "look", lambda _: [Partition("t", "id", 0, 0, end)])
    monkeypatch.setattr(peek, "windows_in", windows_in)
    monkeypatch.setattr(ledger, "read_offsets", lambda *_: read)
    held = [ReadObject("2025-11-20T03", "t/0", "id", 9)]
    monkeypatch.setattr(ledger, "read_objects", lambda *_: held)
    monkeypatch.setattr(window_progress, "unfinished", lambda *_: list(unfinished))
    return looks


def test_what_is_new_in_topics_is_looked_at_behind_what_was_read(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = peeked(monkeypatch, 12, ["2025-11-20T05", "2025-11-20T03"], ["2025-11-20T04"])
    plan = planning.due(lake, TOPIC)
    assert plan.windows == ["2025-11-20T03", "2025-11-20T04", "2025-11-20T05"]
    assert plan.landed == 11
    assert looks == [({"t/0 id": 10}, planning.LOOK_SECONDS)]


def test_a_topic_without_anything_new_is_not_read(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = peeked(monkeypatch, 10)
    assert planning.due(lake, TOPIC).windows == []
    assert looks == []


@pytest.mark.parametrize("found", [[], ["2999-01-01T00"]], ids=["no record", "of the future"])
def test_offsets_that_no_window_is_found_for_are_read_by_a_run_of_the_open_one(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, found: list[str]
) -> None:
    peeked(monkeypatch, 12, found)
    before = datetime.now(UTC)
    plan = planning.due(lake, TOPIC)
    assert plan.windows in ([f"{one:%Y-%m-%dT%H}"] for one in (before, datetime.now(UTC)))
    assert plan.early == found


def test_behind_a_run_come_the_windows_that_its_reading_brought_to_light(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = ["2025-11-19T03", "2025-11-20T05", "2025-11-22T00", "2999-01-01T00"]
    peeked(monkeypatch, 12, unfinished=left)
    # All windows within a range that was run count as run, whether they were due or not, and even if the run failed.
    plan = Plan(TOPIC, ["2025-11-20T03", "2025-11-20T07"], [], [])
    behind = planning.rest(lake, plan)
    assert behind.windows == ["2025-11-19T03", "2025-11-22T00"]
    assert behind.early == ["2999-01-01T00"]
    objects = Plan(HOURLY, ["2025-11-20T03"], [], [])
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
    assert Plan(HOURLY, windows, [], []).ranges() == ranges
