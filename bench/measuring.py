"""Taking the time of one thing: seconds, Spark jobs, and the peak of Java's heap meanwhile."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from pyspark.sql import SparkSession

Prepared = Callable[[], object]
"""What is timed; everything that it needs is there already."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One timed run. ``heap`` is in bytes: the sum of the peaks of the heap's parts, garbage included.

    Jobs and heap are None for what runs in a process of its own. ``resident`` is what such a process has held in memory
    at most, in bytes, with all the processes that it started; None where that was not watched.
    """

    seconds: float
    jobs: int | None
    heap: int | None
    resident: int | None = None


@dataclass(frozen=True, slots=True)
class OwnTime:
    """What work returns that a process of its own has done and timed; ``resident`` as in ``Sample``."""

    seconds: float
    resident: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: the same work by ``weir`` and by others.

    - ``size``: how much work it is, in ``unit``.
    - ``competitors``: by name, what prepares the work; it is called before every repeat.
    - ``is_warm``: the preparation has run the same code, so that no warm-up is needed.
    - ``is_process``: what is timed is a process of its own.
    - ``notes``: sentences for people who read the figures.
    - ``counts``: what was counted in the last turn, by name; complete when the line has been measured.
    """

    name: str
    size: int
    unit: str
    competitors: Mapping[str, Callable[[], Prepared]]
    is_warm: bool = False
    is_process: bool = False
    notes: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


def measured(spark: SparkSession, line: Line, repeats: int) -> dict[str, list[Sample]]:
    """Each competitor's samples, by name. All take turns, so that a machine that slows down slows them all."""
    samples: dict[str, list[Sample]] = {name: [] for name in line.competitors}
    for repeat in range(1 if line.is_warm else 0, repeats + 1):
        for name, prepare in line.competitors.items():
            sample = timed(spark, prepare(), f"{line.name}/{name}/{repeat}")
            if line.is_process:
                sample = replace(sample, jobs=None, heap=None)
            # The first run of each pays for Java's warming up.
            if repeat > 0:
                samples[name].append(sample)
            turn = "warm-up" if repeat == 0 else f"{repeat} of {repeats}"
            jobs = "" if sample.jobs is None else f", {sample.jobs} jobs"
            say(f"{line.name}: {name}, {turn}: {sample.seconds:.2f} s{jobs}")
    return samples


def timed(spark: SparkSession, work: Prepared, group: str) -> Sample:
    """Do the work once. Where a process of its own has taken the time, that time counts."""
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
    if isinstance(outcome, OwnTime):
        return Sample(outcome.seconds, None, None, outcome.resident)
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
    """Print a line of progress."""
    print(text, file=sys.stderr, flush=True)
