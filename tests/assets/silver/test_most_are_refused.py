"""A declaration that most of a table's events do not fit ends the run as failed: it is seldom the data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assets.bronze import from_objects
from assets.executors.choice import IN_PROCESS
from assets.silver import checks, derive
from expectations.silver import MOST_EVENTS_ARE_TAKEN
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.feed.feed import Feed

WINDOW = "2025-11-20T03"


@pytest.mark.parametrize(
    ("good", "bad", "violations"),
    [
        (0, 20, 20),
        (20, 20, 20),
        # Fewer than half, and fewer than twenty.
        (21, 20, 0),
        (0, 19, 0),
    ],
)
def test_a_wrong_declaration_is_told_from_a_few_bad_records(
    tmp_path: Path, good: int, bad: int, violations: int
) -> None:
    lake = lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS)
    feed = Feed("zoo", "arcion_s3_json", str(tmp_path), tables={"pets": PETS})
    names = [*(str(at) for at in range(good)), *(f"no number {at}" for at in range(bad))]
    records = [change("I", at, after={"id": name}) for at, name in enumerate(names)]
    # What came twice is no new event.
    lay(tmp_path, "2025-11-20/03/a.json", drop(*records, *records[:good]))
    from_objects.land(lake, feed, [WINDOW])
    made = derive.derive(lake, feed, [WINDOW])
    rule = MOST_EVENTS_ARE_TAKEN.name
    assert made.violations[rule] == violations
    shown = checks.samples(lake, made.findings)[rule]
    assert shown == (f"- `pets: {bad} of its events`" if violations else "")
    # What a person has given up counts no longer.
    given_up = replace(made.findings, dismissed=bad)
    assert checks.count_of_rules(given_up)[rule] == 0
