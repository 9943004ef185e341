"""A run that is killed at any moment and run again leaves the same tables as one that was not killed.

Every worker process is ended by SIGKILL, with its JVM, at a moment that is drawn from ``WEIR_FAULT_SEED``: some time
into a step of a drawn layer. The next process goes on with the same tables. ``WEIR_FAULT_KILLS`` says how many are
killed.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from assets.control import compacted
from assets.maintenance import compaction
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.faults.damage import damage
from tests.faults.drawn import SEED, draw_eras, feed_of
from tests.faults.lives import Life
from tests.support.pet_feed import bring

pytestmark = pytest.mark.journey

KILLS = int(os.environ.get("WEIR_FAULT_KILLS", "4"))
WAYS = ("here", "spark")
WAYS_IN_WORDS = {"here": "in the process", "spark": "in Spark's tasks"}
LAYERS = ("bronze", "silver", "gold", "compaction", "progress")


def moments(kills: int, seed: int) -> list[tuple[str, float]]:
    """For each kill a layer, all equally often, and how far into its step."""
    rng = Random(f"moments {seed}")
    layers: list[str] = []
    while len(layers) < kills:
        layers += rng.sample(LAYERS, len(LAYERS))
    return [(layer, rng.random()) for layer in layers[:kills]]


def test_runs_killed_at_random_moments_leave_the_tables_of_one_that_was_not(
    spark: SparkSession,
    tmp_path: Path,
    tell: Callable[..., None],
    record_property: Callable[[str, object], None],
) -> None:
    record_property("fault seeds", f"WEIR_FAULT_SEED={SEED} WEIR_FAULT_KILLS={KILLS}")
    drawn = draw_eras(SEED, windows=3 + KILLS // 2, histories=20 + KILLS)
    landing, warehouse = tmp_path / "landing", tmp_path / "killed"
    drawn.lay(landing)
    died = killed_one_after_the_other(tmp_path, (str(warehouse), str(landing)))

    feed, lake = feed_of(str(landing)), lake_of(str(warehouse))
    reference = lake_of(str(tmp_path / "undisturbed"))
    for one in (lake, reference):
        if due := planning.due(one, feed).windows:
            bring(one, feed, due)
        list(compaction.compact_feed(one, feed, dict(feed.tables), dry_run=False))
    assert (
        compacted.compaction_watermarks(lake, feed)
        == compacted.compaction_watermarks(reference, feed)
        != {}
    )
    found = damage(lake, reference, drawn)
    for layer, times in died.items():
        tell(f"SIGKILL in {layer}", times, *found.counts)
    assert found.counts == (0, 0), str(found)


def killed_one_after_the_other(folder: Path, tables: tuple[str, str]) -> Counter[str]:
    """Let every life die at its moment; returns how many died in each step.

    Every other one brings the tables as if they were large, in Spark's tasks.
    """
    # How long a step takes, as the lives before have shown.
    took = {"bronze": 3.0, "silver": 10.0, "gold": 6.0, "progress": 1.5, "compaction": 2.5}
    usual_of = {way: dict(took) for way in WAYS}
    died: Counter[str] = Counter()
    # The next life starts its JVM while one runs, and waits.
    lives = [Life(folder, "life_1", *tables, WAYS[1])]
    try:
        for number, (layer, part) in enumerate(moments(KILLS, SEED), start=1):
            life, way = lives[-1], WAYS[number % 2]
            usual = usual_of[way]
            life.go()
            if number < KILLS:
                lives.append(Life(folder, f"life_{number + 1}", *tables, WAYS[(number + 1) % 2]))
            began = life.wait_for(layer)
            delay = part * usual[layer]
            time.sleep(max(0.0, began.at + delay - time.monotonic()))
            last = life.kill()
            assert last is not None
            assert last.layer != "done", "nothing was left to do"
            died[f"{last.layer}, {WAYS_IN_WORDS[way]}"] += 1
            marks = life.marks()
            for one, after in pairwise(marks):
                if one.layer in usual:
                    usual[one.layer] = after.at - one.at
            print(
                f"kill {number}: {delay:.2f} s after {layer} began: in {last.layer} of {last.window}",
                flush=True,
            )
    finally:
        for life in lives:
            life.kill()
    return died
