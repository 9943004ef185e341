"""Rows of a window go to few tasks, each task gets its share, and windows are few files."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from assets.bronze import from_objects
from assets.executors.choice import SPARK
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.feed.feed import Feed
from transforms.silver.frames import SHARDS, Shards

FEED = Feed("zoo", "arcion_s3_json", "/landing", tables={"pets": PETS})
HOURS = [f"2025-11-20T{hour:02}" for hour in range(24)]
TASKS = 10


def tasks_of(records: dict[str, int]) -> dict[str, Counter[int]]:
    """How many rows of each window each of ten tasks gets, where each record is a row of a group of its own."""
    shards = Shards.of(records)
    found = {}
    for window, count in records.items():
        rows = [shards.shard(window, f"{window} {number}".encode()) for number in range(count)]
        assert all(0 <= one < SHARDS for one in rows)
        found[window] = Counter(one * TASKS // SHARDS for one in rows)
    return found


@pytest.mark.parametrize(
    "records",
    [
        dict.fromkeys(HOURS, 1_000),
        {window: 100 * (at + 1) for at, window in enumerate(HOURS)},
        {HOURS[0]: 20_000, HOURS[1]: 3, HOURS[2]: 0, HOURS[3]: 4_000},
        {HOURS[0]: 10_000},
    ],
    ids=["even", "growing", "one large", "one"],
)
def test_each_task_gets_its_share_and_few_windows(records: dict[str, int]) -> None:
    found = tasks_of(records)
    total = sum((count for count in found.values()), Counter())
    share = sum(records.values()) / TASKS
    assert max(total.values()) < 1.2 * share
    # Side by side, windows meet in a task at most once for each border between two of them.
    assert sum(len(tasks) for tasks in found.values()) <= TASKS + len(records) - 1


def test_a_group_is_in_one_shard_and_a_window_that_nobody_counted_in_any() -> None:
    shards = Shards.of({HOURS[0]: 1, HOURS[1]: 1})
    assert shards.shard(HOURS[1], b"a") == shards.shard(HOURS[1], b"a") >= SHARDS // 2
    others = [shards.shard("2025-11-21T00", str(number).encode()) for number in range(100)]
    assert min(others) < SHARDS // 4 < 3 * SHARDS // 4 < max(others)
    for records in ({}, {HOURS[0]: 0}):
        assert 0 <= Shards.of(records).shard(HOURS[0], b"a") < SHARDS


def test_many_windows_at_once_are_few_files(lake: Lake, folder: Path) -> None:
    windows, feed = HOURS[:6], replace(FEED, landing=str(folder))
    for at, window in enumerate(windows):
        pets = [
            change("I", 1_000 * at + n, after={"id": str(n), "name": "Ada"}) for n in range(1_000)
        ]
        lay(folder, f"{window.replace('T', '/')}/a.json", drop(*pets))
    from_objects.land(lake, feed, windows)
    derive.derive(lake.by(SPARK), feed, windows)
    table = lake.in_process_table(Layer.SILVER, feed.name)
    assert table.count() == 6_000
    assert table.windows == {*windows}
    # Two tasks: six windows and one border.
    assert len(table.files()) <= 7
