"""Two runs of the same windows at once: at least one does the work; the other does no harm and says why it stopped."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.faults.damage import damage
from tests.faults.drawn import SEED, draw, feed_of
from tests.faults.lives import Life
from tests.support.pet_feed import bring

pytestmark = pytest.mark.journey

PAIRS = int(os.environ.get("WEIR_FAULT_PAIRS", "1"))


def test_two_runs_of_the_same_windows_at_once_do_no_harm(
    spark: SparkSession, tmp_path: Path, tell: Callable[..., None]
) -> None:
    drawn = draw(SEED + 1, windows=PAIRS, histories=20)
    landing, warehouse = tmp_path / "landing", tmp_path / "shared"
    objects = sorted(drawn.objects().items())
    losers = 0
    for pair in range(PAIRS):
        # One window a pair.
        for name, data in objects[2 * pair : 2 * pair + 2]:
            (landing / name).parent.mkdir(parents=True, exist_ok=True)
            (landing / name).write_bytes(data)
        runs = [
            Life(tmp_path, f"pair_{pair}_{one}", str(warehouse), str(landing), "here")
            for one in "ab"
        ]
        try:
            for run in runs:
                run.wait_for("ready")
            for run in runs:
                run.go()
            codes = [run.process.wait(timeout=240) for run in runs]
        finally:
            for run in runs:
                run.kill()
        assert 0 in codes, "\n".join(run.said for run in runs)
        for code, run in zip(codes, runs, strict=True):
            if code:
                losers += 1
                last = run.said.strip().splitlines()[-1]
                assert "TableBusy" in last, run.said
                assert "another run is writing" in last
                assert "Run again once the other has ended" in last
        print(f"pair {pair + 1}: exit codes {codes}", flush=True)

    # One that met no other would prove nothing: both list the landing as soon as they may go.
    assert losers, "the runs of no pair met"
    feed, lake = feed_of(str(landing)), lake_of(str(warehouse))
    # In each pair one run has done everything, unless it was stopped by the lock that the other held on `progress`.
    if due := planning.due(lake, feed).windows:
        bring(lake, feed, due)
    reference = lake_of(str(tmp_path / "undisturbed"))
    bring(reference, feed)
    found = damage(lake, reference, drawn)
    tell(f"two runs of the same windows at once ({losers} stopped)", PAIRS, *found.counts)
    assert found.counts == (0, 0), str(found)
