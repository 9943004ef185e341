"""A picture of what grows with what: ``python -m bench.curves rows.json day.json --out docs/growth.svg``.

One panel for each curve: the lines of the bench whose names differ in one number, which is what grows. Both axes are
logarithmic, so that what grows in step with it is a line that rises by half a right angle, and what does not grow is
flat.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

import click

from bench.plot import SHOWN, taken_on
from bench.svg import dot, page, stroke, written

WIDTH, MARGIN, LINE = 860, 24, 18
LEFT, RIGHT, DECADE = 90, 560, 52
"""Where the panels' axes begin and end, and the height of a tenfold."""

_NUMBER = re.compile(r"\d[\d,]*")


@dataclass(frozen=True, slots=True)
class Curve:
    """One competitor's seconds by what grows, in rising order; ``title`` has … in the place of the number."""

    title: str
    name: str
    points: tuple[tuple[float, float], ...]


def curves(runs: Sequence[Mapping[str, Any]]) -> list[Curve]:
    """The curves in these files, in several of which points may lie; a line without another of its kind is none."""
    found: dict[tuple[str, str], dict[float, float]] = {}
    lines = [line for run in runs for line in run["lines"]]
    names = [*dict.fromkeys(line["name"] for line in lines)]
    for line in lines:
        for title, size in _titles(line["name"], names):
            for name, seconds in line["median_seconds"].items():
                found.setdefault((title, SHOWN.get(name, name)), {})[size] = seconds
    return [
        Curve(title, name, tuple(sorted(points.items())))
        for (title, name), points in found.items()
        if len(points) > 1
    ]


def picture(runs: Sequence[Mapping[str, Any]]) -> str:
    """The SVG of all curves of all runs, one panel below the other."""
    drawn, y = [written(MARGIN, MARGIN + 18, "What grows with what", "title")], MARGIN + 18
    legend = "Seconds, by what grows; both axes are logarithmic."
    y += LINE + 2
    drawn.append(written(MARGIN, y, legend, "quiet"))
    panels: dict[str, list[Curve]] = {}
    for curve in curves(runs):
        panels.setdefault(curve.title, []).append(curve)
    for title, together in panels.items():
        y += 2 * LINE
        parts, y = _panel(title, together, y)
        drawn += parts
    y += LINE
    names = [line["name"] for run in runs for line in run["lines"]]
    shown = [run for run in runs if any([*_titles(one["name"], names)] for one in run["lines"])]
    for sentence in dict.fromkeys(taken_on(_of_the_machine(run)) for run in shown):
        y += LINE
        drawn.append(written(MARGIN, y, sentence, "quiet"))
    title = "What grows with what: seconds by size, one panel a curve"
    return page(WIDTH, y + MARGIN, title, drawn)


def _of_the_machine(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """A run's facts without those that differ from run to run on one machine: a curve may have several runs' points."""
    facts = {name: fact for name, fact in run["machine"].items() if name not in _OF_ONE_RUN}
    return {**run, "machine": facts}


_OF_ONE_RUN = ("commit", "driver memory", "peak resident MB of Java")


def _titles(name: str, others: Sequence[str]) -> Iterator[tuple[str, float]]:
    """For each number of the name in which others differ: the name without it, and the number."""
    for found in _NUMBER.finditer(name):
        before, after = name[: found.start()], name[found.end() :]
        alike = re.compile(re.escape(before) + r"\d[\d,]*" + re.escape(after))
        if sum(alike.fullmatch(one) is not None for one in others) > 1:
            yield f"{before}…{after}", float(found[0].replace(",", ""))


def _panel(title: str, together: Sequence[Curve], y: int) -> tuple[list[str], int]:
    """The panel from this height on, and the height where it ends."""
    sizes = sorted({size for curve in together for size, _ in curve.points})
    seconds = [max(second, 1e-4) for curve in together for _, second in curve.points]
    low, high = (
        floor(log10(min(seconds))),
        max(ceil(log10(max(seconds))), floor(log10(min(seconds))) + 1),
    )
    top, bottom = y + 14, y + 14 + DECADE * (high - low)
    wide = (RIGHT - LEFT) / log10(sizes[-1] / sizes[0])

    def across(size: float) -> float:
        return LEFT + wide * log10(size / sizes[0])

    def up(second: float) -> float:
        return bottom - DECADE * (log10(max(second, 1e-4)) - low)

    drawn = [written(MARGIN, y, title, "line")]
    for power in range(low, high + 1):
        drawn.append(stroke("rule", LEFT, up(10.0**power), RIGHT, up(10.0**power)))
        drawn.append(written(LEFT - 8, up(10.0**power) + 4, f"{10.0**power:g} s", "quiet", "end"))
    for size in sizes:
        drawn.append(stroke("rule", across(size), top, across(size), bottom))
        drawn.append(written(across(size), bottom + 16, f"{size:,.0f}", "quiet", "middle"))
    lowest = float("-inf")
    # From the top down, so that a name goes below the one that it would cover.
    for curve in sorted(together, key=lambda one: -one.points[-1][1]):
        kind = "own" if curve.name == SHOWN["weir"] else "other"
        places = [(across(size), up(second)) for size, second in curve.points]
        drawn += [stroke(f"{kind} curve", *one, *next_one) for one, next_one in pairwise(places)]
        drawn += [dot(kind, *place) for place in places]
        named = f"{curve.name}: {', '.join(_seconds(second) for _, second in curve.points)}"
        lowest = max(places[-1][1] + 4, lowest + LINE - 3)
        drawn.append(written(places[-1][0] + 12, lowest, named))
    return drawn, bottom + 16


def _seconds(seconds: float) -> str:
    return (
        f"{seconds:.3f} s"
        if seconds < 0.1
        else f"{seconds:.2f} s"
        if seconds < 10
        else f"{seconds:.0f} s"
    )


@click.command(name="bench.curves")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("growth.svg"),
    show_default=True,
)
def draw(files: tuple[Path, ...], out: Path) -> None:
    """Draw the curves in these files of the bench."""
    out.write_text(picture([json.loads(file.read_text()) for file in files]))


if __name__ == "__main__":
    draw()
