"""How the state of feeds reads: a line each, JSON, and the exit code of feeds that are too old."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from assets.audit.status import GoldSize, Status
from assets.control.transactions import OpenTransaction
from orchestration.cli import status
from transforms.feed.feed import Feed

FEED = Feed("shop", "arcion_s3_json", "/drops")
FOUND = Status(
    windows=1_234,
    newest="2026-11-20T03",
    unfinished=(),
    outcomes={"events": 5_000_000, "changes": 4_999_990, "quarantined": 10},
    reasons={"value_does_not_fit": 10},
    dismissed=4,
    open_records=6,
    warnings={},
    waiting_tables={},
    open=(),
    gold=(GoldSize("orders", 12, 2, 3, "2026-11-20T03:04:05Z"),),
    stopped=(),
)
MIDNIGHT = datetime(2026, 11, 19, tzinfo=UTC)
OPEN = OpenTransaction("7", 1, False, 1, None, "2026-11-19T00", MIDNIGHT, timedelta(days=2), True)


def test_a_feed_is_a_line_of_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    status.print_table([(FEED, FOUND), (replace(FEED, name="feed_of_a_long_name"), None)])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["feed", "newest", "windows", "events", "quarantined", "state"]
    assert lines[2].split() == ["shop", "2026-11-20T03", "1,234", "5,000,000", "6", "in", "gold"]
    assert "never read" in " ".join(lines[3:])


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (None, "never read"),
        (FOUND, "in gold"),
        (replace(FOUND, waiting_tables={"a": 3}), "1 table not declared"),
        (replace(FOUND, open=(OPEN,)), "never committed"),
        (replace(FOUND, open=(OPEN,), unfinished=("a", "b")), "2 windows behind"),
        (replace(FOUND, unfinished=("a",), stopped=("x", "y")), "2 gold tables stopped"),
    ],
)
def test_the_state_is_what_most_needs_attention(found: Status | None, state: str) -> None:
    assert status.in_a_word(found) == state


def test_json_has_every_part_under_its_name() -> None:
    found = status.as_json(FEED, replace(FOUND, open=(OPEN,)))
    assert json.loads(json.dumps(found)) == found
    assert found["feed"] == "shop"
    assert found["outcomes"] == FOUND.outcomes
    assert found["gold"] == [
        {
            **{"name": "orders", "rows": 12, "marked": 2, "tombstones": 3},
            "newest": "2026-11-20T03:04:05Z",
        }
    ]
    assert found["open"][0]["id"] == "7"  # type: ignore[index]
    nothing = status.as_json(FEED, None)
    assert nothing["state"] == "never read"
    assert "windows" not in nothing


@pytest.mark.parametrize(
    ("found", "oldest", "is_stale"),
    [
        (FOUND, "2026-11-20T04:00", False),
        (FOUND, "2026-11-20T04:01", True),
        (None, "2020-01-01T00:00", True),
        (replace(FOUND, newest=None), "2020-01-01T00:00", True),
    ],
)
def test_a_feed_is_stale_where_its_newest_window_ended_before(
    found: Status | None, oldest: str, *, is_stale: bool
) -> None:
    moment = datetime.fromisoformat(oldest).replace(tzinfo=UTC)
    assert status.is_stale(FEED, found, moment) == is_stale
