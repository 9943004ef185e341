"""The bench's late keys do need their history, and its new keys do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from assets.gold.fold import Applied
from assets.storage.lake import Layer
from bench.lines import late_events
from bench.lines.wanted import wanted_lines
from bench.made.restoring import Workspace
from bench.sizes import Sizes
from orchestration.resources import lake_of
from transforms.gold.columns import LOG_POSITION, RESET

SIZES = Sizes(rows=3_000, changes=300, tables=1, repeats=1)


def test_a_hundred_late_keys_are_folded_from_their_history(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(late_events, "DAYS", (2,))
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    found = {line.name: line for line in wanted_lines(work, SIZES, ["late"])}
    assert [*found] == ["100 late keys over 2 days of silver", "100 new keys over 2 days of silver"]
    days = work.lake("days_2").table(Layer.GOLD, "bench", "item").read()
    # Nothing but the snapshot has said whole rows: what came after it leaves the reset position there.
    assert days.where(F.col(RESET) != F.col(LOG_POSITION)).count() == 600
    outcomes = {}
    for name, line in found.items():
        outcome = line.competitors["weir"]()()
        assert isinstance(outcome, Applied)
        done = outcome.metrics
        outcomes[name.split()[1]] = (done.keys, done.refolded, done.keys_with_late_events)
        gold = work.folder / "run_0" if "late" in name else work.folder / "run_1"
        rows = spark.read.format("delta").load(str(gold / "gold" / "bench" / "item"))
        changed = rows.exceptAll(days.select(rows.columns))
        assert changed.count() == 100
        if "late" in name:
            # Their position is still that of the day's update.
            assert changed.where(F.get(LOG_POSITION, F.lit(2)) >= 10).count() == 100
    # One of the late updates says the city that its row has, so that it changes nothing but the row's origin.
    assert outcomes == {"late": (100, 100, 99), "new": (100, 0, 0)}
