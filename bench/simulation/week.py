"""A week of hourly windows, computed hour by hour: how late gold is, with so many cores, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import cos, log2, pi

from assets.executors.choice import Choice
from assets.gold.apply import TABLES_AT_ONCE
from bench.simulation.costs import KINDS, Costs

HOURS = 24 * 7
HOUR = 3600.0
MOST_CORES = 2**14
"""With more, it is said that no number of cores is enough."""


@dataclass(frozen=True, slots=True)
class Source:
    """What arrives, and where it goes: a feed of hourly windows.

    - ``bytes``: of drops, a day. ``record``: bytes of one change.
    - ``tables``: with changes in every window. ``rows``: that gold holds, in all tables together.
    - ``peak``: how many times the mean the busiest hour of a day is.
    - ``outage``: hours at the middle of the week in which nothing is run, while drops go on landing.
    """

    bytes: float
    record: float = 1_000
    tables: int = 200
    rows: float = 2e9
    peak: float = 2.0
    outage: int = 6


@dataclass(frozen=True, slots=True)
class Prices:
    """In dollars: an hour of a core with its memory, a gigabyte kept for a month, and a thousand requests by kind.

    ``get``: those that only read an object or its head. ``replace``: all others.
    """

    core_hour: float = 0.05
    gigabyte_month: float = 0.023
    get: float = 0.0004
    put: float = 0.005


@dataclass(frozen=True, slots=True)
class Week:
    """What a week looks like with ``cores``.

    - ``usual``: the most seconds from an hour's end until its changes are in gold, while all goes well.
    - ``after_outage``: the most after the outage.
    - ``caught_up``: hours from the outage's end until gold is as fresh as before it; None where the week ends first.
    - ``busy``: the part of the week in which a run is at work.
    """

    cores: int
    usual: float
    after_outage: float
    caught_up: float | None
    busy: float


@dataclass(frozen=True, slots=True)
class Work:
    """The work of one window, in seconds of the measured machine.

    - ``shared``: what all cores share, by what causes it.
    - ``tables``: what each table costs whatever its changes are, all of them together.
    - ``at_once``: so many tables are worked on side by side at most, however many cores there are.
    """

    shared: Mapping[str, float]
    tables: float
    at_once: int

    def parts(self) -> dict[str, float]:
        """Every part by its name."""
        return {**self.shared, "tables": self.tables}


def window_work(source: Source, costs: Costs, size: float) -> Work:
    """The work of one window of so many bytes."""
    changes = size / source.record
    of_table = int(source.rows / source.tables), int(changes / source.tables)
    is_large = not Choice().fits_in_process(0, *of_table)
    shared = {
        "bytes to silver": size * costs.byte,
        "checks": changes * costs.check,
        "changes into gold": changes * costs.change,
        "rows that gold holds": source.rows * costs.row,
    }
    if is_large:
        return Work(shared, source.tables * costs.large, TABLES_AT_ONCE)
    # Small tables are the work of one process.
    return Work(shared, source.tables * costs.table, 1)


def seconds_of(work: Work, cores: int, speedup: float, costs: Costs) -> float:
    """How long a window takes: what every window costs, and its work on so many cores.

    ``speedup``: how many times as fast twice the cores are; each further doubling is taken to gain as much.
    """
    faster = float((cores / costs.cores) ** log2(speedup))
    shared = sum(work.shared.values()) / faster
    return costs.window + shared + work.tables / max(1.0, min(faster, work.at_once))


def arriving(source: Source) -> Iterator[float]:
    """The bytes of each hour of a week: a wave with its top in the afternoon."""
    for hour in range(HOURS):
        yield source.bytes / 24 * (1 + (source.peak - 1) * cos(2 * pi * (hour - 14) / 24))


def week(source: Source, costs: Costs, cores: int, speedup: float) -> Week:
    """Hour by hour: a window begins when its hour has ended and the window before it is done."""
    free, busy = 0.0, 0.0
    begins, ends = HOURS / 2 * HOUR, (HOURS / 2 + source.outage) * HOUR
    lags: list[tuple[float, float]] = []
    for hour, size in enumerate(arriving(source)):
        ended = (hour + 1) * HOUR
        start = max(ended, free)
        if begins <= start < ends:
            start = ends
        took = seconds_of(window_work(source, costs, size), cores, speedup, costs)
        free, busy = start + took, busy + took
        lags.append((ended, free - ended))
    usual = max(lag for ended, lag in lags if ended < begins)
    after = [(ended, lag) for ended, lag in lags if ended >= begins]
    # A second is none: the days are alike, but for the last digits of a sum.
    late = [ended + lag for ended, lag in after if lag > usual + 1]
    never = after[-1][1] > usual + 1
    return Week(
        cores,
        usual,
        max(lag for _, lag in after),
        None if never else max(0.0, max(late, default=ends) - ends) / HOUR,
        busy / (HOURS * HOUR),
    )


def cores_needed(source: Source, costs: Costs, speedup: float) -> Week | None:
    """The week with the fewest cores, doubled from two on, with which every hour is in gold within the next one.

    None where no number up to ``MOST_CORES`` does it.
    """
    cores = 2
    while cores <= MOST_CORES:
        found = week(source, costs, cores, speedup)
        if found.usual <= HOUR:
            return found
        cores *= 2
    return None


def requests_of_a_day(source: Source, costs: Costs) -> dict[str, float]:
    """How many requests to a store a day's 24 windows take, by kind, those for many and large files left out."""
    return {
        kind: 24 * (first + further * (source.tables - 1))
        for kind, (first, further) in ((kind, costs.requests[kind]) for kind in KINDS)
    }


def dollars_of_a_day(source: Source, costs: Costs, cores: int, prices: Prices) -> dict[str, float]:
    """What a day costs: cores all day, requests, and what the day's bytes cost for each month that they are kept."""
    counts = requests_of_a_day(source, costs)
    each = {kind: prices.get if kind in ("GET", "HEAD") else prices.put for kind in KINDS}
    return {
        "cores": cores * 24 * prices.core_hour,
        "requests": sum(number / 1000 * each[kind] for kind, number in counts.items()),
        "a month of keeping the day": source.bytes * (1 + costs.kept) / 1e9 * prices.gigabyte_month,
    }
