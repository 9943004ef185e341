"""Taking the time of one thing: seconds, Spark jobs, and the peak of Java's heap meanwhile."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from pyspark.sql import SparkSession

Prepared = Callable[[], object]
"""What is timed; all that must be there before is there."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One timed run. ``heap`` is in bytes: the peaks of all parts of the heap, whenever each was, garbage included.

    Of what runs in a process of its own, jobs and heap are not known.
    """

    seconds: float
    jobs: int | None
    heap: int | None


@dataclass(frozen=True, slots=True)
class Told:
    """What work returns that was done by a process of its own which took the time itself, without its start."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: the same work by ``weir`` and by others; each is prepared anew for every repeat.

    ``size`` says how much work it is, in ``unit``. ``is_warm``: its making has run the same code, so that no warm-up
    is needed. ``is_process``: what is timed is a process of its own. ``notes`` are sentences for who reads the figures.
    """

    name: str
    size: int
    unit: str
    competitors: Mapping[str, Callable[[], Prepared]]
    is_warm: bool = False
    is_process: bool = False
    notes: tuple[str, ...] = ()


def measured(spark: SparkSession, line: Line, repeats: int) -> dict[str, list[Sample]]:
    """Each competitor's samples. All take turns, so that a machine that slows down slows them all."""
    samples: dict[str, list[Sample]] = {name: [] for name in line.competitors}
    for repeat in range(1 if line.is_warm else 0, repeats + 1):
        for name, prepare in line.competitors.items():
            sample = timed(spark, prepare(), f"{line.name}/{name}/{repeat}")
            if line.is_process:
                sample = Sample(sample.seconds, None, None)
            # The first run of each pays for Java's warming up.
            if repeat > 0:
                samples[name].append(sample)
            told = "warm-up" if repeat == 0 else f"{repeat} of {repeats}"
            jobs = "" if sample.jobs is None else f", {sample.jobs} jobs"
            say(f"{line.name}: {name}, {told}: {sample.seconds:.2f} s{jobs}")
    return samples


def timed(spark: SparkSession, work: Prepared, group: str) -> Sample:
    """Do the work once. Of a process that tells its own time, that is what counts."""
    context = spark.sparkContext
    java: Any = context._jvm
    pools = [
        pool
        for pool in java.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
        if pool.getType().name() == "HEAP"
    ]
    gc.collect()
    java.java.lang.System.gc()
    for pool in pools:
        pool.resetPeakUsage()
    context.setJobGroup(group, group)
    started = perf_counter()
    outcome = work()
    seconds = perf_counter() - started
    if isinstance(outcome, Told):
        return Sample(outcome.seconds, None, None)
    heap = sum(pool.getPeakUsage().getUsed() for pool in pools)
    jobs = len(context.statusTracker().getJobIdsForGroup(group))
    return Sample(seconds, jobs, heap)


def peak_resident(spark: SparkSession) -> int | None:
    """The most memory, in bytes, that the Java process has held since it started; None where Linux does not tell."""
    java: Any = spark.sparkContext._jvm
    status = Path(f"/proc/{java.java.lang.ProcessHandle.current().pid()}/status")
    if not status.exists():
        return None
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
    return int(found[1]) * 1024 if found else None


def say(text: str) -> None:
    """Progress, for who waits."""
    print(text, file=sys.stderr, flush=True)
