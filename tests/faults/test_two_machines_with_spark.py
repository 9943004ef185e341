"""Two whole runs at one warehouse in S3 whose tables Spark writes: one stands still or dies, the other takes over."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import pytest

from assets.storage.lake import Layer
from assets.storage.leases import LOCKS
from bench.made import drops, row
from bench.made.changes import drawn
from tests.faults.drawn import SEED
from tests.faults.stored import STEPS_TABLES, Tables, differences, tables_of
from tests.services.seaweed import Store

pytestmark = [pytest.mark.journey, pytest.mark.services]

BUCKET: Final = "spark-machines"
FEED: Final = "large"
LEASE: Final = 3
PATIENCE: Final = 300
FATES: Final = ("stop", "kill")
STEPS: Final = ("silver", "gold", "bronze")
MOMENTS: Final = int(os.environ.get("WEIR_FAULT_MACHINES") or 1)
RECORDS: Final = 10_000
"""More, and more bytes, than a run reads or derives in its own process."""
NOTICED: Final = re.compile(
    "(this run has lost its lease|another run is writing|was written by)[^.:]*"
)
TABLES: Final = (*STEPS_TABLES, (Layer.GOLD, "item"), (Layer.GOLD, "item__tombstones"))
Tell = Callable[[str, object], None]


@dataclass(frozen=True, slots=True)
class Site:
    """A landing with more records than a run does without Spark, the store, and what one run alone made of them."""

    folder: Path
    store: Store
    tables: Tables

    def run(self, warehouse: str, name: str) -> Run:
        """Start a run."""
        return Run(self.folder, f"{warehouse}_{name}", address(warehouse), self.store.environment())


class Run:
    """``weir run`` as a process group of its own, with its Java."""

    def __init__(
        self, folder: Path, name: str, warehouse: str, credentials: Mapping[str, str]
    ) -> None:
        self.log = folder / f"{name}.log"
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("WEIR_", "PYSPARK_", "SPARK_", "DAGSTER_"))
        }
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "orchestration.cli.main", "run", "--feed", FEED],
                env={
                    **kept,
                    **credentials,
                    "WEIR_FEEDS": str(folder / "feeds"),
                    "WEIR_WAREHOUSE": warehouse,
                    "WEIR_LEASE_SECONDS": str(LEASE),
                    "WEIR_SPARK_DRIVER_MEMORY": "1g",
                    "DAGSTER_HOME": "",
                },
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        """All that it has printed so far."""
        return self.log.read_text(errors="replace")

    def send(self, what: signal.Signals) -> None:
        """Send a signal to it and to its Java."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, what)

    def end(self) -> int:
        """Wait until it is over; its exit code."""
        return self.process.wait(timeout=PATIENCE)


@pytest.fixture(scope="module")
def site(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    store.put(BUCKET, {})
    folder = tmp_path_factory.mktemp("spark_machines")
    (folder / "feeds").mkdir()
    columns = ", ".join(f'{name}: "{kind}"' for name, kind in row.COLUMNS.items())
    # Tables with a change feed are Spark's work, however small they are.
    (folder / "feeds" / f"{FEED}.yaml").write_text(
        f"format: arcion_s3_json\nlanding: {folder}/landing\nstart: {drops.WINDOW}\n"
        f"tables:\n  item: {{key: [id], change_feed: true, columns: {{{columns}}}}}\n"
    )
    drops.lay(folder / "landing", "item", drawn(rows=2_000, count=RECORDS, seed=SEED))
    alone = Site(folder, store, {}).run("alone", "alone")
    assert alone.end() == 0, alone.said
    with pytest.MonkeyPatch.context() as patch:
        for name, value in store.environment().items():
            patch.setenv(name, value)
        yield Site(folder, store, stored_in("alone"))


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_a_run_that_stood_still_or_died_while_another_took_over_doubles_and_loses_nothing(
    site: Site, moment: int, record_property: Tell
) -> None:
    rng = Random(f"spark machines {SEED} {moment}")
    # Every step meets both fates.
    step, fate = STEPS[moment % len(STEPS)], FATES[moment % len(FATES)]
    seconds, warehouse = rng.uniform(0, 4), f"moment_{moment}"
    first = site.run(warehouse, "first")
    try:
        wait_for_lease(site, first, warehouse, step)
        time.sleep(seconds)
        assert first.process.poll() is None, f"it was over too soon: {first.said}"
        first.send(signal.SIGSTOP if fate == "stop" else signal.SIGKILL)
        time.sleep(LEASE + 1)
        other = site.run(warehouse, "other")
        assert other.end() == 0, other.said
        assert stored_in(warehouse) == site.tables
        first.send(signal.SIGCONT)
        code = first.end()
    finally:
        first.send(signal.SIGKILL)
    noticed = NOTICED.search(first.said)
    end = f"ended with {code}, {noticed[0] if noticed else 'and said nothing of another'}"
    print(f"moment {moment}: {fate} {seconds:.1f} s after the lease on {step}: {end}", flush=True)
    lost, wrong = differences(site.tables, stored_in(warehouse))
    fault = f"two runs of Spark's at one warehouse in S3: {fate}"
    record_property("faults", (fault, 1, lost, wrong))
    assert (lost, wrong) == (0, 0), first.said
    if fate == "stop":
        assert code == 0, first.said


def wait_for_lease(site: Site, run: Run, warehouse: str, layer: str) -> None:
    """Wait until a run has a lease on one of the layer's tables."""
    client, prefix = site.store.client(), f"{warehouse}/{LOCKS}/{layer}."
    deadline = time.monotonic() + PATIENCE
    while not client.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("KeyCount"):
        assert run.process.poll() is None, run.said
        assert time.monotonic() < deadline, f"no lease at {prefix}"
        time.sleep(0.1)


def address(warehouse: str) -> str:
    """The tables of a test in the bucket."""
    return f"s3a://{BUCKET}/{warehouse}"


def stored_in(warehouse: str) -> Tables:
    """The rows of all tables of a warehouse."""
    return tables_of(address(warehouse), FEED, TABLES)
