"""``python -m bench.simulation bench.json ...``: a day of a terabyte, or of any size, computed from measured costs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from bench.simulation.costs import Costs, NoFigure, OtherMachines, Run, costs, days
from bench.simulation.walls import walls
from bench.simulation.week import (
    MOST_CORES,
    Prices,
    Source,
    arriving,
    cores_needed,
    dollars_of_a_day,
    requests_of_a_day,
    seconds_of,
    window_work,
)

SOURCE, PRICES = Source(1e12), Prices()


@click.command(name="bench.simulation")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--bytes",
    type=float,
    default=SOURCE.bytes,
    show_default=True,
    help="Bytes of drops a day.",
)
@click.option(
    "--record", type=float, default=SOURCE.record, show_default=True, help="Bytes of one change."
)
@click.option(
    "--tables",
    type=int,
    default=SOURCE.tables,
    show_default=True,
    help="Tables that change every hour.",
)
@click.option(
    "--rows",
    type=float,
    default=SOURCE.rows,
    show_default=True,
    help="Rows of gold, all tables together.",
)
@click.option(
    "--peak",
    type=float,
    default=SOURCE.peak,
    show_default=True,
    help="The busiest hour, in times of the mean.",
)
@click.option(
    "--outage",
    type=int,
    default=SOURCE.outage,
    show_default=True,
    help="Hours without runs, once in the week.",
)
@click.option(
    "--speedup",
    type=click.FloatRange(1, 2),
    required=True,
    help="How many times as fast two workers are as one: make cluster-test prints it.",
)
@click.option(
    "--core-hour",
    type=float,
    default=PRICES.core_hour,
    show_default=True,
    help="Dollars of a core for an hour.",
)
@click.option(
    "--gigabyte-month",
    type=float,
    default=PRICES.gigabyte_month,
    show_default=True,
    help="Dollars of a gigabyte kept for a month.",
)
def simulation(
    files: tuple[Path, ...],
    speedup: float,
    core_hour: float,
    gigabyte_month: float,
    **given: Any,
) -> None:
    """What a week of such days asks of a machine, a store and a purse, by the figures of these files of make bench.

    Nothing is measured here. The files need the lines ingest, apply, checks, process, grow-rows, grow-tables, grow-day
    and grow-requests.
    """
    runs = [json.loads(file.read_text()) for file in files]
    source = replace(SOURCE, **given)
    try:
        found = costs(runs)
    except (NoFigure, OtherMachines) as fault:
        raise click.ClickException(str(fault)) from None
    prices = Prices(core_hour=core_hour, gigabyte_month=gigabyte_month)
    click.echo("\n".join(report(runs, found, source, prices, speedup)))


def report(
    runs: Sequence[Run], found: Costs, source: Source, prices: Prices, speedup: float
) -> Iterator[str]:
    """The answer as Markdown: costs, cores, money, walls, and how far the measured days are from what is computed."""
    yield from _table(
        "what one costs", "", {name: f"{value:.3g}" for name, value in _plain(found).items()}
    )
    busiest = max(arriving(source))
    parts = window_work(source, found, busiest).parts()
    yield from _table(
        f"the busiest hour, {busiest / 1e9:,.1f} GB",
        f"seconds on {found.cores} cores",
        {name: f"{value:,.0f}" for name, value in parts.items()},
    )
    needed = cores_needed(source, found, speedup)
    if needed is None:
        yield f"No number of cores up to {MOST_CORES:,} brings an hour to gold within the next one."
    else:
        week = {
            "cores": f"{needed.cores:,}",
            "gold is behind an hour's end by at most": f"{needed.usual / 60:,.0f} minutes",
            f"after an outage of {source.outage} hours": f"{needed.after_outage / 3600:,.1f} hours",
            "caught up again after": "more than the rest of the week"
            if needed.caught_up is None
            else f"{needed.caught_up:,.1f} hours",
            "of the week a run is at work": f"{needed.busy:.0%}",
        }
        requests = requests_of_a_day(source, found)
        # What a store does not count by itself is among the others.
        counted = {kind: number for kind, number in requests.items() if number}
        week |= {f"{kind} requests a day": f"{number:,.0f}" for kind, number in counted.items()}
        dollars = dollars_of_a_day(source, found, needed.cores, prices)
        week |= {f"dollars a day: {name}": f"{value:,.2f}" for name, value in dollars.items()}
        yield from _table("a week", "", week)
    bounds = {
        one.name: "never" if one.bytes is None else f"{one.bytes / 1e12:,.2g} TB a day"
        for one in walls(source, found, speedup)
    }
    yield from _table("wall, the nearest first", "met at", bounds)
    yield from _checked(runs, found)


def _checked(runs: Sequence[Run], found: Costs) -> Iterator[str]:
    """The measured days beside what is computed for them, on the cores that they ran on: there no speed-up counts."""
    rows = {}
    for day in days(runs):
        # One run of all windows of one table, which was empty before.
        source = Source(day.size, record=day.size / day.number, tables=1, rows=0)
        work = window_work(source, found, day.size)
        computed = seconds_of(work, found.cores, 2.0, found)
        rows[day.name] = (
            f"{day.seconds:,.0f} s measured, {computed:,.0f} s computed: {computed / day.seconds:.2f} times"
        )
    yield from _table("a measured day", "computed for it, by what was measured", rows)


_IN_WORDS = {
    "cores": "cores of the machine that was measured",
    "byte": "a byte from landing to silver, in seconds",
    "check": "a record judged by checks, in seconds",
    "change": "a change folded into gold by Spark, in seconds",
    "row": "a row that gold holds already, in seconds for each window of its table",
    "large": "a table that Spark writes in a window, in seconds",
    "table": "a table with a few changes in a window, in seconds",
    "window": "a run of one small window, in seconds",
    "kept": "bytes that the warehouse keeps for each byte landed",
}
"""Every cost but the requests, with its unit."""


def _plain(found: Costs) -> dict[str, float]:
    plain = {text: float(getattr(found, name)) for name, text in _IN_WORDS.items()}
    counted = {kind: both for kind, both in found.requests.items() if any(both)}
    for kind, (first, further) in counted.items():
        plain[f"{kind} requests, a window and a further table"] = first
        plain[f"{kind} requests of each further table"] = further
    return plain


def _table(head: str, value: str, rows: Mapping[str, str]) -> Iterator[str]:
    yield f"| {head} | {value} |"
    yield "| --- | --- |"
    for name, text in rows.items():
        yield f"| {name} | {text} |"
    yield ""


if __name__ == "__main__":
    simulation()
