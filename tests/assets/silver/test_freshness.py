"""How old a window's newest event is, and when that is too old."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assets.bronze import from_objects
from assets.silver import checks, derive
from assets.silver.checks import stale_lags
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.feed.feed import CheckSetting, Feed

WINDOW = "2025-11-20T03"
FEED = Feed("zoo", "arcion_s3_json", "/landing", tables={"pets": PETS})


def of_an_hour(minutes_before_the_end: int, now: str = "2026-01-01T00:00") -> int:
    """How many windows are stale, of one whose newest event is of so long before its end; an hour is let pass."""
    made = datetime(2025, 11, 20, 4, tzinfo=UTC) - timedelta(minutes=minutes_before_the_end)
    feed = replace(FEED, checks={"is_fresh": CheckSetting(within=timedelta(hours=1))})
    accounts: list[dict[str, Any]] = [
        {"window": WINDOW, "newest_event_at": made},
        {"window": WINDOW, "newest_event_at": made - timedelta(days=3)},
        {"window": WINDOW, "newest_event_at": None},
    ]
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    return len(stale_lags(feed, accounts, moment))


@pytest.mark.parametrize(("minutes", "stale"), [(0, 0), (60, 0), (61, 1)])
def test_a_window_is_stale_if_its_newest_event_was_older_when_it_ended(
    minutes: int, stale: int
) -> None:
    assert of_an_hour(minutes) == stale


def test_of_an_open_window_the_events_are_as_old_as_they_are_now() -> None:
    assert of_an_hour(90, now="2025-11-20T03:20") == 0
    assert of_an_hour(90, now="2025-11-20T03:40") == 1


def test_who_says_nothing_is_asked_nothing() -> None:
    old = [{"window": WINDOW, "newest_event_at": datetime(2020, 1, 1, tzinfo=UTC)}]
    assert stale_lags(FEED, old, datetime.now(UTC)) == []


@pytest.mark.parametrize(
    ("within", "violations"), [(timedelta(days=1), 0), (timedelta(hours=1), 1)]
)
def test_the_time_of_the_newest_event_is_in_the_accounts(
    tmp_path: Path, within: timedelta, violations: int
) -> None:
    # The pet's events are made on 2025-11-20 from 00:53 on.
    records = [change("I", at, after={"id": str(at), "name": "Ada"}) for at in (1, 2, 3)]
    lay(tmp_path / "landing", "2025-11-20/03/a.json", drop(*records))
    feed = replace(
        FEED,
        landing=str(tmp_path / "landing"),
        checks={"is_fresh": CheckSetting(within=within)},
    )
    lake = lake_of(str(tmp_path / "warehouse"))
    from_objects.land(lake, feed, [WINDOW])
    made = derive.derive(lake, feed, [WINDOW])
    newest = datetime.fromtimestamp(1_763_600_000 + 180, UTC)
    assert {row["newest_event_at"] for row in made.accounts} == {newest}
    assert made.violations["is_fresh"] == violations
    assert bool(checks.samples(lake, made.findings)["is_fresh"]) == bool(violations)
