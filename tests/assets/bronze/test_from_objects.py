"""Objects on their way to bronze: unread they hold transactions back, and once read they stay, and stay once."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assets.bronze import from_objects
from assets.bronze.from_objects import LandingDiff
from assets.control import ledger, progress
from assets.storage.lake import Lake, Layer
from orchestration.runs import planning
from tests.support import made_bronze
from tests.support.pet_feed import change, drop, lay
from transforms.errors import TableBusy
from transforms.feed.feed import Feed, Running

FEED = Feed("zoo", "debezium", "/landing")
NOON, LATER = "2025-11-20T12", "2025-11-20T13"


def test_a_drop_that_was_overwritten_before_it_was_read_holds_nothing_back(lake: Lake) -> None:
    progress.note_landed(lake, FEED, [(NOON, "a", "g1"), (LATER, "b", "g1"), (LATER, "c", "g1")])
    made_bronze.append(lake, FEED, (NOON, "a", "g1", 1))
    # Neither it nor its window has been accounted for: both are unread.
    assert progress.unread_windows(lake, FEED) == [NOON, LATER]
    progress.note_landed(lake, FEED, [(LATER, "b", "g2")])
    made_bronze.append(lake, FEED, (LATER, "b", "g2", 1))
    there = {(LATER, "b", "g2"), (LATER, "c", "g1")}
    progress.forget_unreadable(lake, FEED, there)
    landed = lake.in_process_table(Layer.LANDED, "zoo").rows()
    assert [tuple(row.values()) for row in landed] == [
        (NOON, "a", "g1"), (LATER, "b", "g2"), (LATER, "c", "g1"),
    ]  # fmt: skip
    # The third object is gone from the landing, too.
    progress.forget_unreadable(lake, FEED, {(LATER, "b", "g2")})
    landed = lake.in_process_table(Layer.LANDED, "zoo").rows()
    assert {row["object"] for row in landed} == {"a", "b"}


def test_an_object_stays_in_its_window_when_the_feed_says_where_the_date_stands(
    lake: Lake, tmp_path: Path
) -> None:
    landing = tmp_path / "landing"
    before = Feed("zoo", "arcion_s3_json", str(landing))
    names = [f"d=20.11.2025/h={hour}/{hour}.json" for hour in (3, 4)]
    lay(landing, names[0], drop(change("I", 1, after={"id": "1"})))
    # At noon of the next day.
    os.utime(landing / names[0], (1_763_726_400, 1_763_726_400))
    from_objects.land(lake, before, planning.due(lake, before).windows)
    after = replace(before, window_path="d={day}.{month}.{year}/h={hour}")
    lay(landing, names[1], drop(change("I", 2, after={"id": "2"})))
    assert "2025-11-20T04" in planning.due(lake, after).windows
    # The window that the path of the first object names is asked for, too, and does not read it again.
    assert len(from_objects.land(lake, after, ["2025-11-20T03", "2025-11-20T04"]).new) == 1
    read = {one.name: one.window for one in ledger.read_objects(lake, after)}
    assert read == {names[0]: "2025-11-21T12", names[1]: "2025-11-20T04"}


def test_drops_that_no_run_reads_are_named_with_the_reason(lake: Lake, tmp_path: Path) -> None:
    landing = tmp_path / "landing"
    feed = Feed("zoo", "arcion_s3_json", str(landing), window="day")
    for folder in ("2025-11-20", "dt=29991231", "archive/2019-12-31"):
        lay(landing, f"{folder}/a.json", drop(change("I", 1, after={"id": "1"})))
    dated = [
        "archive/2019-12-31/a.json: the date in its path is 2019-12-31, before the first window, 2020-01-01; if it is"
        " not when it landed, window_path says what is",
        "dt=29991231/a.json: the date in its path is 2999-12-31, which has not begun, so it waits; if it is not when it"
        " landed, window_path says what is",
    ]
    plan = planning.due(lake, feed)
    assert (plan.windows, sorted(plan.out_of_time)) == (["2025-11-20"], dated)
    # A run looks at its own days, and at those that none reads.
    found = from_objects.land(lake, feed, plan.windows)
    assert (len(found.new), sorted(found.out_of_time)) == (1, dated)
    started = replace(feed, running=Running(start="2025-11-01"))
    assert [*planning.due(lake, started).out_of_time] == dated[1:]


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    """A landing with two drops of one record each."""
    landing = tmp_path / "landing" / NOON.replace("T", "/")
    landing.mkdir(parents=True)
    for name in "ab":
        (landing / f"{name}.json").write_text(f'{{"of": "{name}"}}\n')
    return Feed("zoo", "arcion_s3_json", str(tmp_path / "landing"))


@pytest.fixture(params=["in-process", "by Spark"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How few objects are read: as they are, and as many would be."""
    if request.param == "by Spark":
        monkeypatch.setattr(from_objects, "read_in_process", lambda *_: None)


def in_between(monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Do this once, between a run's look at the landing and its commit."""
    look = from_objects.arrivals
    # A store without leases, say.
    monkeypatch.setattr(from_objects, "writing", lambda *_: nullcontext())

    def looked(*given: Any, **named: Any) -> LandingDiff:
        found = look(*given, **named)
        monkeypatch.setattr(from_objects, "arrivals", look)
        do()
        return found

    monkeypatch.setattr(from_objects, "arrivals", looked)


def payloads(lake: Lake) -> list[bytes]:
    rows = lake.table(Layer.BRONZE, "zoo").read().where("line > 0").collect()
    return sorted(bytes(row["payload"]) for row in rows)


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("is_first", [True, False])
def test_what_another_run_has_read_meanwhile_is_not_read_twice(
    lake: Lake, feed: Feed, monkeypatch: pytest.MonkeyPatch, *, is_first: bool
) -> None:
    if not is_first:
        earlier = Path(feed.landing, NOON.replace("T", "/"), "0.json")
        earlier.write_text('{"of": "0"}\n')
        from_objects.land(lake, feed, [NOON])
        earlier.with_name("c.json").write_text('{"of": "c"}\n')
    in_between(monkeypatch, lambda: from_objects.land(lake, feed, [NOON]))
    # Spark adds nothing in silence, where it sees that another was first.
    with suppress(TableBusy):
        from_objects.land(lake, feed, [NOON])
    from_objects.land(lake, feed, [NOON])
    found = payloads(lake)
    assert len(found) == len({*found}) == (2 if is_first else 4)
