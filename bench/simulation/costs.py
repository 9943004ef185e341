"""Unit costs: what a byte, a change, a row of gold, a table and a window cost, from the figures of ``make bench``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Run = Mapping[str, Any]
"""One ``bench.json``."""

KINDS = ("GET", "HEAD", "LIST", "POST", "PUT")
"""The requests to a store that cost money, as the bench counts them."""


class NoFigure(Exception):
    """A line is missing in the figures that were given."""

    def __init__(self, line: str) -> None:
        super().__init__(
            f"no line named like {line!r} in these files: measure it with make bench, and give its JSON file, too"
        )


class OtherMachines(Exception):
    """The figures were taken on machines of different sizes, so that they cannot be added up."""

    def __init__(self, cores: Sequence[int]) -> None:
        numbers = " and ".join(map(str, cores))
        super().__init__(
            f"these files were measured on machines of {numbers} cores: measure all lines on one machine"
        )


@dataclass(frozen=True, slots=True)
class Costs:
    """What one of each costs: in seconds of the machine that the figures are of, with all its cores at work.

    - ``cores``: of that machine.
    - ``byte``: a byte of a drop, from landing to silver.
    - ``check``: a record judged by a window's checks.
    - ``change``: a change folded into gold, by Spark.
    - ``row``: a row that gold holds already, for each window whose changes go into its table.
    - ``large``: a table that Spark writes in a window, however many changes and rows: its jobs, commits and files.
    - ``table``: a table with a few changes in a window, from landing to gold: its commits and files.
    - ``window``: a run of one small window.
    - ``requests``: to a store, by kind: of a window with one table, and of each further one.
    - ``kept``: bytes that a warehouse holds for each byte landed.
    """

    cores: int
    byte: float
    check: float
    change: float
    row: float
    large: float
    table: float
    window: float
    requests: Mapping[str, tuple[float, float]]
    kept: float


def costs(runs: Sequence[Run]) -> Costs:
    """The unit costs that these runs of the bench have measured.

    Raises:
        NoFigure: a line is missing.
        OtherMachines: they were taken on machines of different sizes.
    """
    cores = sorted({int(run["machine"]["cores"]) for run in runs})
    if len(cores) > 1:
        raise OtherMachines(cores)
    silver = next(_found(runs, r"landing to silver"))
    checks = next(_found(runs, r"checks of a window"))
    rows = [*_found(runs, r"changes into ([\d,]+) rows")]
    base, slope = line_through([(one.number, one.seconds) for one in rows])
    row = max(0.0, slope)
    many = next(_found(runs, r"apply changes"))
    # Both lines change one table of so many rows: what they differ in is the number of changes.
    few, few_took = rows[0].size, base + row * many.rows
    if many.size <= few:
        raise NoFigure(f"apply changes ({few + 1:,} changes or more)")
    change = max(0.0, many.seconds - few_took) / (many.size - few)
    tables = [*_found(runs, r"10 changes each of ([\d,]+) tables")]
    _, table = line_through([(one.number, one.seconds) for one in tables])
    day = max(_found(runs, r"a day of ([\d,]+) changes"), key=lambda one: one.size)
    return Costs(
        cores=cores[0],
        byte=silver.seconds / silver.size,
        check=checks.seconds / checks.size,
        change=change,
        row=row,
        large=max(0.0, base - few * change),
        table=table,
        window=next(_found(runs, r"one small window, weir run")).seconds,
        requests=_requests([*_found(runs, r"requests of a window, ([\d,]+) tables")]),
        kept=day.counts["bytes in the warehouse"] / day.size,
    )


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured line; ``number`` is the one in its name, or 0, and ``rows`` those that its run's table had."""

    name: str
    number: int
    rows: int
    size: int
    seconds: float
    counts: Mapping[str, int]


def _found(runs: Sequence[Run], pattern: str) -> Iterator[Figure]:
    """The lines with such a name; at least one.

    Raises:
        NoFigure: there is none.
    """
    missing = True
    for run in runs:
        for line in run["lines"]:
            found = re.fullmatch(pattern, line["name"])
            if found is None:
                continue
            missing = False
            seconds = float(line["median_seconds"]["weir"])
            number = int(found[1].replace(",", "")) if found.groups() else 0
            yield Figure(
                *(line["name"], number, int(run["sizes"]["rows"]), int(line["size"]), seconds),
                line.get("counts", {}),
            )
    if missing:
        raise NoFigure(pattern)


def days(runs: Sequence[Run]) -> list[Figure]:
    """The whole days that were measured, the smallest first; none where there are none."""
    try:
        return sorted(_found(runs, r"a day of ([\d,]+) changes"), key=lambda one: one.size)
    except NoFigure:
        return []


def line_through(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Where the straight line that fits the points best begins, and how steep it is; flat through a single point."""
    count = len(points)
    x_mean, y_mean = (sum(one[axis] for one in points) / count for axis in (0, 1))
    spread = sum((x - x_mean) ** 2 for x, _ in points)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in points) / spread if spread else 0.0
    return y_mean - slope * x_mean, slope


def _requests(figures: Sequence[Figure]) -> dict[str, tuple[float, float]]:
    """By kind, how many requests a window of one table takes, and how many each further table does."""
    found = {}
    for kind in KINDS:
        base, slope = line_through([(one.number, one.counts.get(kind, 0)) for one in figures])
        found[kind] = (base + slope, slope)
    return found
