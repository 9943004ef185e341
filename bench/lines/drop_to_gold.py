"""From a drop in the landing to its row in gold, by the feed's sensor: what a person waits for where nobody presses.

A daemon of Dagster's is started over a feed of one table, whose sensor is on. A drop lands at any moment between two
looks of the sensor, so the line is taken several times.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from assets.storage.lake import Layer
from bench.made import drops, row
from bench.made.changes import BASE_LOG, Change
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared, say
from bench.sizes import Sizes
from orchestration.resources import ROOT, lake_of

TABLE = row.table("item")
LONGEST = 600
"""Seconds after which a drop is given up."""
TICK = 5
"""Seconds between two looks of the sensor."""


def lines_of_drop_to_gold(work: Workspace, sizes: Sizes) -> Iterator[Line]:
    """One line; its turns are drops, each at another moment between two looks of the sensor."""
    folder = work.folder / "watched"
    (folder / "feeds").mkdir(parents=True)
    landing = folder / "landing" / drops.WINDOW.replace("T", "/")
    landing.mkdir(parents=True)
    declared = {
        "format": "arcion_s3_json",
        "landing": str(folder / "landing"),
        "start": drops.WINDOW,
        "tables": {TABLE.name: {"key": list(TABLE.key), "columns": dict(TABLE.columns)}},
        "automation": {"sensor": "on"},
    }
    (folder / "feeds" / "bench.yaml").write_text(json.dumps(declared))
    moments = random.Random(sizes.seed)
    ids = iter(range(1_000_000))

    def landed() -> None:
        id = next(ids)
        change = Change("insert", id, BASE_LOG, id, None, 0)
        # Renamed when it is whole, as whoever writes into a folder should do.
        unfinished = folder / f"{id}.json"
        unfinished.write_text(drops.record(change, TABLE.name) + "\n")
        unfinished.rename(landing / f"part_{id:06}.json")
        _wait_for(folder, id)

    with _daemon(folder):
        say("waiting for the daemon's first run")
        landed()

        def prepare() -> Prepared:
            time.sleep(moments.uniform(0, TICK))
            return landed

        name = "a drop to gold, by the sensor"
        yield Line(name, 1, "drop", {"weir": prepare}, is_warm=True, is_process=True)


def _wait_for(folder: Path, id: int) -> None:
    lake = lake_of(str(folder / "warehouse"))
    deadline = time.monotonic() + LONGEST
    while True:
        # Each drop is one row more: how many there are stands in the table's log.
        if lake.in_process_table(Layer.GOLD, "bench", TABLE.name).count() > id:
            return
        if time.monotonic() > deadline:
            raise TimeoutError(
                f"drop {id} is not in gold: {(folder / 'daemon.log').read_text()[-2000:]}"
            )
        time.sleep(0.1)


@contextmanager
def _daemon(folder: Path) -> Iterator[None]:
    home = folder / "dagster"
    home.mkdir()
    shutil.copyfile(ROOT / "orchestration" / "dagster.yaml", home / "dagster.yaml")
    environment = {
        **{name: text for name, text in os.environ.items() if not name.startswith("WEIR_")},
        "DAGSTER_HOME": str(home),
        "WEIR_FEEDS": str(folder / "feeds"),
        "WEIR_WAREHOUSE": str(folder / "warehouse"),
    }
    with (folder / "daemon.log").open("wb") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "orchestration.automation.daemon", "run"),
                *("-w", str(ROOT / "workspace.yaml")),
            ],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield
    finally:
        # Runs are processes of the daemon's group.
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
