"""What stops first as a day grows: for each bound, the day at which it is met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from assets.gold.apply import TABLES_AT_ONCE
from bench.simulation.costs import Costs
from bench.simulation.week import (
    HOUR,
    MOST_CORES,
    Source,
    cores_needed,
    requests_of_a_day,
    window_work,
)

STORE_PUTS, STORE_GETS = 3_500, 5_500
"""Requests a second that S3 promises for one prefix, by its guide to performance."""

LARGEST = 1e18
"""Bytes a day at which the search ends."""


@dataclass(frozen=True, slots=True)
class Wall:
    """One bound, and the bytes a day at which it is met; None where no day up to ``LARGEST`` meets it."""

    name: str
    bytes: float | None


def walls(source: Source, costs: Costs, speedup: float) -> list[Wall]:
    """Every bound, the nearest first. Tables and rows of gold are taken to grow in step with the bytes of a day."""

    def grown(size: float) -> Source:
        times = size / source.bytes
        tables = max(1, round(source.tables * times))
        return replace(source, bytes=size, tables=tables, rows=source.rows * times)

    def one_machine(size: float) -> bool:
        needed = cores_needed(grown(size), costs, speedup)
        return needed is None or needed.cores > 64

    def any_cluster(size: float) -> bool:
        return cores_needed(grown(size), costs, speedup) is None

    def store(size: float) -> bool:
        counts = requests_of_a_day(grown(size), costs)
        reads = counts["GET"] + counts["HEAD"]
        # It counts the others together, and a list among those that read.
        writes = counts["PUT"] + counts["POST"]
        return writes / 24 > STORE_PUTS * HOUR or (reads + counts["LIST"]) / 24 > STORE_GETS * HOUR

    def tables(size: float) -> bool:
        work = window_work(grown(size), costs, size / 24)
        return costs.window + work.tables / work.at_once > HOUR

    bounds: dict[str, Callable[[int | float], bool]] = {
        "a machine of 64 cores no longer does an hour's window within an hour": one_machine,
        f"no cluster of up to {MOST_CORES:,} cores does, at this speed-up": any_cluster,
        f"what {TABLES_AT_ONCE} tables at a time cost, whatever their changes are, fills the hour": tables,
        "a store's requests a second for one prefix": store,
    }
    found = [Wall(name, _first(bound)) for name, bound in bounds.items()]
    return sorted(found, key=lambda one: one.bytes or LARGEST * 2)


def _first(is_met: Callable[[float], bool]) -> float | None:
    """The smallest day that meets a bound, to one part in a hundred."""
    low, high = 1e6, LARGEST
    if not is_met(high):
        return None
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if is_met(middle) else (middle, high)
    return high
