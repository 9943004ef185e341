"""Drops are drawn from a seed, hold the changes that they should, and are read by the format's own splitter."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from bench.made import changes, drops, row
from transforms.feed.feed import Feed
from transforms.formats import FORMATS


def test_the_same_seed_draws_the_same_changes_and_another_others() -> None:
    first, again = (list(changes.drawn(rows=1000, count=200, seed=7)) for _ in range(2))
    assert first == again
    assert first != list(changes.drawn(rows=1000, count=200, seed=8))


def test_changes_are_of_the_kinds_that_they_should_be() -> None:
    count = 40_000
    some = list(changes.drawn(rows=100_000, count=count, seed=1))
    late = sum(one.log == changes.LATE_LOG for one in some)
    known = sum(one.log == changes.BASE_LOG for one in some)
    again = sum(copies - 1 for one, copies in Counter(some).items() if one.log == changes.LOG)
    deleted = len({one for one in some if one.operation == "delete"})
    assert len(some) == count
    assert abs(late / count - changes.LATE) < 0.005
    assert abs((known + again) / count - changes.REDELIVERED) < 0.005
    assert abs(deleted / count - changes.DELETES) < 0.01


def test_every_change_starts_from_what_the_one_before_it_left() -> None:
    stands: dict[int, int | None] = {}
    seen = set()
    for one in changes.drawn(rows=500, count=5_000, seed=3):
        if one.log != changes.LOG or one in seen:
            continue
        seen.add(one)
        known = 1 if one.id % 5 == 0 else 0
        assert one.before == stands.get(one.id, known if one.id < 500 else None)
        stands[one.id] = one.after


def test_a_drop_is_whole_records_of_its_format(tmp_path: Path) -> None:
    some = list(changes.drawn(rows=100, count=50, seed=2))
    size = drops.lay(tmp_path, "item", some)
    (file,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert file.relative_to(tmp_path).as_posix() == "2025-11-20/00/item/part_0001.json"
    assert file.stat().st_size == size
    feed = Feed("bench", "arcion_s3_json", str(tmp_path))
    records = list(FORMATS[feed.format].split(file.read_bytes(), feed, file.name))
    first = json.loads(records[0].payload)
    assert [record.defect for record in records] == [None] * 50
    assert first["tableName"]["name"] == "item"
    assert set(first["after"]) == set(row.COLUMNS)


def test_time_rises_with_the_position_through_the_largest_day() -> None:
    # A change has a hundred positions of its log: twenty million of them, and the first ones of the next log.
    places = [(log, 100 * number) for log in (4, 5, 6) for number in (0, 1, 20_000_000)]
    times = []
    for log, position in places:
        change = changes.Change("update", 1, log, position, 0, 1)
        cursor = json.loads(json.loads(drops.record(change, "item"))["cursor"])
        times.append(cursor["timestamp"])
    assert times == sorted(times)
