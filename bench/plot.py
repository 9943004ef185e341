"""A picture of what runs of the bench found: ``python -m bench.plot bench.json --out docs/bench.svg``.

One panel for each line, one bar for each competitor in it. Where a file has answers, one picture shows who is right
about what below the seconds of the line beside other tools. It draws what the files have and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from math import floor, log10
from pathlib import Path
from statistics import median
from textwrap import wrap
from typing import Any

import click

from bench.svg import dot, page, stroke, written

WIDTH, MARGIN = 860, 24
LEFT, RIGHT = 130, 690
"""Where bars begin, and where the longest ends: names are left of them, numbers right."""

BAR, PITCH, LINE = 18, 26, 18
"""The height of a bar, from one bar to the next, and from one line of text to the next."""

SHOWN = {"weir": "Weir"}

COMPARED = "beside others"
"""The line whose seconds stand above the answers."""

KINDS = "A dot: every row is right. Stale: as the row was once. Mixed: as it never was. Extra: it should be gone."

TABLE_LEFT, COLUMN, TALLEST, ROW = 300, 92, 110, 22
"""Where the columns of the answers begin, the width of one, the tallest bar above them, and the height of a row."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One competitor in one line: its seconds."""

    name: str
    seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One line of one run."""

    title: str
    bars: tuple[Bar, ...]
    notes: tuple[str, ...]


def panels(run: Mapping[str, Any]) -> list[Panel]:
    """What a ``bench.json`` says, line by line."""
    return [
        Panel(
            f"{line['name']} ({line['size']:,} {line['unit']}{_of_rows(line['unit'], run['sizes'])})",
            tuple(
                Bar(SHOWN.get(name, name), tuple(float(sample["seconds"]) for sample in samples))
                for name, samples in line["samples"].items()
            ),
            tuple(line.get("notes", ())),
        )
        for line in run["lines"]
    ]


def taken_on(run: Mapping[str, Any]) -> str:
    """What the run's figures were taken on, and how often."""
    facts = ", ".join(
        f"{name} {value}" for name, value in run["machine"].items() if value is not None
    )
    repeats = run["sizes"]["repeats"]
    return f"{facts}; each run {'once' if repeats == 1 else f'{repeats} times'}."


def picture(runs: Sequence[Mapping[str, Any]]) -> str:
    """The SVG of all lines of all runs, one below the other."""
    drawn, y = [], MARGIN + 18
    drawn.append(written(MARGIN, y, "Weir's bench: seconds, less is better", "title"))
    y += LINE + 2
    legend = "A bar is the median; a stroke on it goes from the least to the most. Each line has its own scale."
    drawn.append(written(MARGIN, y, legend, "quiet"))
    answers = [one for run in runs for one in run.get("answers", ())]
    if answers:
        every = [panel for run in runs for panel in panels(run)]
        beside = next((panel for panel in every if panel.title.startswith(COMPARED)), None)
        parts, y = _comparison(answers, beside, y + 2 * LINE)
        drawn += parts
    for run in runs:
        for panel in panels(run):
            if answers and panel.title.startswith(COMPARED):
                continue
            y += 2 * LINE
            parts, y = _panel(panel, y)
            drawn += parts
        if not run["lines"]:
            continue
        y += LINE
        for sentence in wrap(taken_on(run), 125):
            y += LINE
            drawn.append(written(MARGIN, y, sentence, "quiet"))
    height = y + MARGIN
    title = "Weir's bench: seconds of each competitor, line by line"
    return page(WIDTH, height, title, drawn)


def _comparison(
    answers: Sequence[Mapping[str, Any]], beside: Panel | None, y: int
) -> tuple[list[str], int]:
    """Seconds as standing bars, one a competitor, and below each how many rows of every history it has wrong."""
    columns = {
        name: TABLE_LEFT + COLUMN * (number + 0.5)
        for number, name in enumerate(answers[0]["wrong"])
    }
    bars = {bar.name: median(bar.seconds) for bar in (beside.bars if beside else ())}
    drawn = [written(MARGIN, y, beside.title if beside else "who is right about what", "line")]
    bottom = y + 2 * LINE + TALLEST
    for name, middle in columns.items():
        shown = SHOWN.get(name, name)
        tall = TALLEST * bars.get(shown, 0.0) / max(bars.values(), default=1.0)
        kind = "own" if name in SHOWN else "other"
        drawn.append(
            f'<rect class="{kind}" x="{middle - 18}" y="{bottom - tall:.1f}" width="36" height="{tall:.1f}"/>'
        )
        seconds = f"{bars[shown]:.1f} s" if shown in bars else "not timed"
        drawn.append(written(middle, bottom - tall - 5, seconds, "", "middle"))
        drawn.append(written(middle, bottom + LINE, shown, "line", "middle"))
    drawn.append(stroke("rule", TABLE_LEFT, bottom, WIDTH - MARGIN, bottom))
    y = bottom + LINE + 8
    drawn.append(written(MARGIN, y - 8, "rows that are wrong, by history", "quiet"))
    for one in answers:
        y += ROW
        drawn.append(stroke("rule", MARGIN, y - 16, WIDTH - MARGIN, y - 16))
        drawn.append(written(MARGIN, y, one["history"]))
        for name, middle in columns.items():
            drawn.append(_cell(one["wrong"][name], middle, y))
    y += ROW
    drawn.append(written(MARGIN, y, f"right, of {len(answers)}", "line"))
    for name, middle in columns.items():
        right = sum(not any(one["wrong"][name].values()) for one in answers)
        drawn.append(written(middle, y, str(right), "line", "middle"))
    drawn.append(written(MARGIN, y + LINE + 4, KINDS, "quiet"))
    return drawn, y + LINE + 4


def _cell(wrong: Mapping[str, int], middle: float, y: int) -> str:
    kinds = [(kind, count) for kind, count in wrong.items() if count]
    if not kinds:
        return dot("other", middle, y - 4)
    text = " ".join(f"{count} {kind}" for kind, count in kinds)
    return written(middle, y, text, "wrong", "middle")


def ticks(most: float) -> list[float]:
    """Round numbers from nothing up to the most: not more than six."""
    if most <= 0:
        return [0.0]
    unit = 10.0 ** floor(log10(most))
    step = next(unit * part for part in (0.2, 0.5, 1.0, 2.0) if most / (unit * part) <= 5)
    # A little more than the most, for what is rounded away.
    return [*takewhile(lambda at: at <= most * 1.000001, (number * step for number in count()))]


def _panel(panel: Panel, y: int) -> tuple[list[str], int]:
    """The panel from this height on, and the height where it ends."""
    most = max((second for bar in panel.bars for second in bar.seconds), default=0.0)
    scale = (RIGHT - LEFT) / most if most else 0.0
    drawn, top = [written(MARGIN, y, panel.title, "line")], y + 10
    bottom = top + PITCH * len(panel.bars)
    for at in ticks(most):
        x = LEFT + at * scale
        drawn.append(stroke("rule", x, top, x, bottom))
        drawn.append(written(x, bottom + 14, f"{at:g}", "quiet", "middle"))
    drawn.append(written(RIGHT + 40, bottom + 14, "seconds", "quiet"))
    for number, bar in enumerate(panel.bars):
        drawn += _bar(bar, top + PITCH * number + (PITCH - BAR) // 2, scale)
    drawn.append(stroke("rule", LEFT, bottom, RIGHT, bottom))
    y = bottom + 14
    for note in panel.notes:
        for sentence in wrap(note, 125):
            y += LINE
            drawn.append(written(MARGIN, y, sentence, "quiet"))
    return drawn, y


def _bar(bar: Bar, y: int, scale: float) -> Iterator[str]:
    middle, text = y + BAR / 2, y + BAR / 2 + 4.5
    yield written(LEFT - 8, text, bar.name, "", "end")
    if not bar.seconds:
        return
    half, least, most = median(bar.seconds), min(bar.seconds), max(bar.seconds)
    kind = "own" if bar.name == SHOWN["weir"] else "other"
    yield f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{half * scale:.1f}" height="{BAR}"/>'
    yield stroke("range", LEFT + least * scale, middle, LEFT + most * scale, middle)
    yield written(
        LEFT + most * scale + 8, text, f"{half:.2f} s" if half >= 0.1 else f"{half:.3f} s"
    )


def _of_rows(unit: str, sizes: Mapping[str, Any]) -> str:
    return f" to {sizes['rows']:,} rows" if unit == "changes" else ""


@click.command(name="bench.plot")
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("bench.svg"),
    show_default=True,
)
def plot(files: tuple[Path, ...], out: Path) -> None:
    """Draw the figures of these files of the bench, in their order."""
    out.write_text(picture([json.loads(file.read_text()) for file in files]))


if __name__ == "__main__":
    plot()
