"""A small gold table with times that have no zone is written in this process and by Spark, in turn."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from assets.executors.choice import AUTO, SPARK
from assets.gold.silver_by_spark import SilverBySpark
from assets.storage.lake import Lake, Layer
from tests.support.pet_feed import bring, change, drop, lay
from transforms.feed.feed import Feed, Table

KINDS = {"id": "int", "at": "timestamp_ntz"}
VISITS = Table("visits", ("id",), KINDS, tuple(KINDS))


def test_times_without_a_zone_are_no_reason_to_ask_spark(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_spark: list[int] = []
    read = SilverBySpark.read

    def reads(*given: Any) -> SilverBySpark:
        by_spark.append(hour)
        return read(*given)

    monkeypatch.setattr(SilverBySpark, "read", reads)
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"visits": VISITS})
    # Of four windows the third is Spark's; before it and after it the table is written here.
    for hour, executor in ((3, AUTO), (4, AUTO), (5, SPARK), (6, AUTO)):
        said = {"id": str(hour), "at": f"2024-03-31 02:30:00.00000{hour}"}
        moved = {"id": "3", "at": f"2024-03-31 0{hour}:00:00"}
        some = [change("I", 10 * hour, after=said, table="visits")]
        if hour > 3:
            some.append(change("U", 10 * hour + 1, {"id": "3"}, moved, table="visits"))
        lay(folder, f"2025-11-20/{hour:02}/a.json", drop(*some))
        bring(lake.by(executor), feed)
    assert by_spark == [5]
    rows = lake.table(Layer.GOLD, "zoo", "visits").read().select("id", "at").collect()
    assert sorted(map(tuple, rows)) == [
        (3, datetime(2024, 3, 31, 6)),
        *((hour, datetime(2024, 3, 31, 2, 30, 0, hour)) for hour in (4, 5, 6)),
    ]
