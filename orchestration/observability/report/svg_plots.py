"""Plots as SVG that stands in a page: drawn by pygal, coloured and set by the page's own style.

pygal's own style, script, legend and hidden texts are taken out: one style for all plots is short, and follows the
reader's light or dark. Every bar and dot has a title, which browsers show where the pointer rests.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Literal
from xml.etree import ElementTree

WIDTH, HEIGHT = 360, 210
LABELS = {"bars": 3, "lines": 2, "dots": 2}
"""Maximum number of labels beside each other below a plot."""

FEW = 5
"""Maximum number for which an axis names each."""

SVG = "http://www.w3.org/2000/svg"
ElementTree.register_namespace("", SVG)

Kind = Literal["bars", "lines", "dots", "rows"]
"""Bars that are stacked, lines, dots without a line, or a bar in each row."""


def whole(number: float) -> str:
    """A number of things; an axis says nothing at a place between two of them."""
    return f"{number:,.0f}" if number == int(number) else ""


@dataclass(frozen=True, slots=True)
class Plot:
    """What is to be drawn: for each label a value in every series; None where there is no value.

    ``colors``: the names of the page's colours, one for each series. ``marks``: the values that the axis names, which
    then is logarithmic. ``units``: of the values, the smallest first; the axis names round numbers of one of them.
    """

    name: str
    kind: Kind
    labels: Sequence[str]
    series: Mapping[str, Sequence[float | None]]
    colors: Sequence[str]
    text: Callable[[float], str] = whole
    marks: Sequence[float] = ()
    units: Sequence[float] = ()


def svg_of(plot: Plot, says: str) -> str:
    """The plot as SVG; ``says``: what it shows, for readers who do not see it."""
    # As text and not as a tree: where lxml is installed, pygal's tree is one of its own.
    root = ElementTree.fromstring(_chart(plot).render(is_unicode=True))
    _strip(root)
    if plot.kind != "rows":
        _thin_out(root, max(1, -(-len(plot.labels) // LABELS[plot.kind])))
    _say_values(root, [*plot.series])
    root.set("role", "img")
    root.set("aria-label", says)
    # A tenth of a pixel is enough.
    return re.sub(r"(\d\.\d)\d+", r"\1", ElementTree.tostring(root, encoding="unicode"))


def _most(plot: Plot) -> float:
    """The largest value that the axis has to reach."""
    columns = [*zip(*plot.series.values(), strict=True)]
    added = sum if plot.kind == "bars" else max
    return max((added(one or 0 for one in column) for column in columns), default=0)


def _round_numbers(most: float, units: Sequence[float]) -> list[float]:
    """Values up to the largest, each a round number of the largest unit of which there are two: 0, 20, 40 minutes."""
    unit = next((one for one in reversed(units) if 2 * one <= most), units[0])
    steps = (size * unit * 10**power for power in range(18) for size in (1, 2, 5))
    step = next(one for one in steps if most / one <= FEW)
    return [number * step for number in range(int(most / step) + 2)]


@cache
def _pygal() -> ModuleType:
    """The library: imported late, for whoever loads Weir's assets to ask what is due draws nothing."""
    import pygal

    # It leaves a finder of plugins behind that Python 3.11 warns of at each import that finds nothing.
    sys.meta_path[:] = [one for one in sys.meta_path if type(one).__module__ != "pygal"]
    module: ModuleType = pygal
    return module


def _chart(plot: Plot) -> Any:
    pygal = _pygal()
    rows = plot.kind == "rows"
    kinds = {"bars": pygal.StackedBar, "lines": pygal.Line, "dots": pygal.Line}
    chart = kinds.get(plot.kind, pygal.HorizontalBar)(
        width=WIDTH,
        height=max(90, 40 + 26 * len(plot.labels)) if rows else HEIGHT,
        margin=8,
        # The first label, and the last, stand half beside the plot.
        margin_left=20 if plot.kind == "lines" else 8,
        margin_right=8 if plot.kind in ("bars", "rows") else 44,
        css=(),
        js=(),
        show_legend=False,
        truncate_label=-1,
        max_scale=6,
        min_scale=2,
        stroke=plot.kind == "lines",
        logarithmic=bool(plot.marks),
        dots_size=2.5,
        value_formatter=plot.text,
        include_x_axis=not plot.marks,
    )
    # Of the same numbers the same page is made.
    chart.uuid = plot.name
    # pygal draws the first row at the bottom.
    order = -1 if rows else 1
    chart.x_labels = plot.labels[::order]
    if plot.marks:
        chart.y_labels = [*plot.marks]
    elif plot.units and (most := _most(plot)):
        chart.y_labels = _round_numbers(most, plot.units)
    elif (most := _most(plot)) <= FEW:
        chart.y_labels = [*range(int(most) + 1)]
    for name, values in plot.series.items():
        chart.add(name, [*values][::order])
    return chart


def _strip(node: ElementTree.Element) -> None:
    """Take out what the page has itself, or what only a script would use."""
    for child in [*node]:
        kind = child.get("class") or ""
        is_unused = kind in ("titles", "background") or kind.endswith(
            ("text-overlay", "tooltip-overlay")
        )
        if is_unused or _name(child) in ("defs", "title"):
            node.remove(child)
        else:
            _strip(child)


def _thin_out(root: ElementTree.Element, every: int) -> None:
    """Leave of the labels below a plot the first, and then each so many.

    pygal would compare them by their texts, and of several runs within one minute write every label over the next.
    """
    for axis in root.iter(f"{{{SVG}}}g"):
        if axis.get("class") == "axis x":
            labelled = [one for one in axis if one.get("class") == "guides"]
            for number, one in enumerate(labelled):
                if number % every:
                    axis.remove(one)


def _say_values(root: ElementTree.Element, names: Sequence[str]) -> None:
    """Give each bar and dot a title: the label, the series and the value."""
    for series in root.iter(f"{{{SVG}}}g"):
        place = re.search(r"\bserie-(\d+)\b", series.get("class") or "")
        if place is None:
            continue
        for mark in series.iter():
            texts = {one.get("class"): one for one in mark if _name(one) == "desc"}
            for one in texts.values():
                mark.remove(one)
            if "value" in texts:
                label = texts["x_label"].text if "x_label" in texts else ""
                title = ElementTree.SubElement(mark, f"{{{SVG}}}title")
                title.text = f"{label}: {names[int(place[1])]} {texts['value'].text}"


def _name(node: ElementTree.Element) -> str:
    return node.tag.rpartition("}")[2]
