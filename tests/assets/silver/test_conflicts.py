"""Events that claim one log position and say different things are told from those that only share it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assets.bronze import from_objects
from assets.executors.choice import AUTO, SPARK
from assets.silver import checks, derive
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.feed.feed import Feed

WINDOW = "2025-11-20T03"
ADA, AVA, ABE = ({"id": "1", "name": name} for name in ("Ada", "Ava", "Abe"))
KEY = {"id": "1"}

CASES = {
    "an altered copy of an update": ([change("U", 5, ADA, AVA), change("U", 5, ADA, ABE)], 1),
    "and another": ([change("U", 5, ADA, after) for after in (AVA, ABE, KEY | {"name": "X"})], 2),
    "an altered copy of an insert": ([change("I", 5, after=AVA), change("I", 5, after=ABE)], 1),
    "an altered copy of a delete": ([change("D", 5, AVA), change("D", 5, ABE)], 1),
    "the same event again": ([change("U", 5, ADA, AVA)] * 2, 0),
    "each at its own position": ([change("U", 5, ADA, AVA), change("U", 6, ADA, ABE)], 0),
    "one after the other, at one position": (
        [change("U", 5, ADA, AVA), change("U", 5, AVA, ABE)],
        0,
    ),
    "nothing is known of the old values": ([change("U", 5, KEY, one) for one in (AVA, ABE)], 0),
    "different operations": ([change("I", 5, after=ADA), change("D", 5, ADA)], 0),
    "different keys": ([change("I", 5, after=ADA), change("I", 5, after=ADA | {"id": "2"})], 0),
}


@pytest.mark.parametrize("case", CASES)
def test_events_that_contradict_each_other_are_counted(
    tmp_path: Path, case: str, executor: str = AUTO
) -> None:
    records, conflicts = CASES[case]
    lay(tmp_path / "landing", "2025-11-20/03/a.json", drop(*records))
    feed = Feed("zoo", "arcion_s3_json", str(tmp_path / "landing"), tables={"pets": PETS})
    lake = lake_of(str(tmp_path / "warehouse")).by(executor)
    from_objects.land(lake, feed, [WINDOW])
    made = derive.derive(lake, feed, [WINDOW])
    assert made.violations["no_conflicting_payloads"] == conflicts
    assert made.violations["accounting_is_exact"] == 0
    seen = checks.samples(lake, made.findings)["no_conflicting_payloads"].splitlines()
    assert len(seen) == conflicts
    for line in seen:
        assert line.startswith("- `pets, key 1: 2025-11-20/03/a.json line ")


def test_they_are_counted_in_the_frames_of_large_windows_too(spark: object, tmp_path: Path) -> None:
    test_events_that_contradict_each_other_are_counted(tmp_path, "and another", SPARK)
