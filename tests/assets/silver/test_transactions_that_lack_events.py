"""The number of events that a transaction's END states, beside those that came: a check says both."""

from __future__ import annotations

from pathlib import Path

import pytest

from assets.silver import checks
from orchestration.resources import lake_of
from tests.support.pet_feed import bring
from transforms.feed.feed import Feed, Table

CUSTOMERS = Table(
    "customers",
    ("id",),
    {"id": "int", "name": "string", "email": "string"},
    ("id", "name", "email"),
)


@pytest.mark.parametrize(
    ("case", "violations", "seen"),
    [
        ("transaction_that_lacks_an_event", 1, "1 of 2 events seen"),
        ("transaction_that_is_whole", 0, None),
    ],
)
def test_a_transaction_with_fewer_events_than_its_end_counts_is_named(
    tmp_path: Path, root: Path, case: str, violations: int, seen: str | None
) -> None:
    landing = root / "tests" / "cases" / "debezium" / case / "drop"
    feed = Feed("shop", "debezium", str(landing), tables={"customers": CUSTOMERS})
    lake = lake_of(str(tmp_path), {})
    _, made = bring(lake, feed)
    rule = "every_transaction_is_committed"
    assert made.violations[rule] == violations
    found = checks.samples(lake, made.findings).get(rule) or ""
    assert seen in found if seen else not found
