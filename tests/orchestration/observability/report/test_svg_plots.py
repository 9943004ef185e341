"""An axis of quantities with units names round numbers of one of them."""

from __future__ import annotations

import pytest

from orchestration.observability.report.svg_plots import Plot, svg_of
from transforms.quantities import spoken_bytes, spoken_seconds

SECONDS = (1.0, 60.0, 3_600.0, 86_400.0)
BYTES = tuple(float(1 << power) for power in (0, 10, 20, 30, 40))


def axis_of(most: float, *, of_bytes: bool = False) -> list[str]:
    """What the axis names, from below."""
    text, units = (spoken_bytes, BYTES) if of_bytes else (spoken_seconds, SECONDS)
    series = {"old": [0.0, most, None]}
    plot = Plot("old", "lines", ["a", "b", "c"], series, ["blue"], text, units=units)
    parts = svg_of(plot, "how old").split('<g class="axis y')[1].split("</text>")
    labels = [one.rpartition(">")[2] for one in parts]
    return [one for one in labels if one and one[0].isdigit()]


@pytest.mark.parametrize(
    ("most", "named"),
    [
        (3_000, ["0 s", "10 min", "20 min", "30 min", "40 min", "50 min", "1 h"]),
        (50, ["0 s", "10 s", "20 s", "30 s", "40 s", "50 s", "1 min"]),
        (3 * 86_400, ["0 s", "1 d", "2 d", "3 d", "4 d"]),
        (0.4, ["0 s", "1 s"]),
    ],
)
def test_ages(most: float, named: list[str]) -> None:
    assert axis_of(most) == named


def test_sizes() -> None:
    assert axis_of(1.9e9, of_bytes=True) == ["0 bytes", "500 MiB", "1,000 MiB", "1.5 GiB", "2 GiB"]
    assert axis_of(3 * 2**30, of_bytes=True) == ["0 bytes", "1 GiB", "2 GiB", "3 GiB", "4 GiB"]
    # Nothing to name round numbers of.
    assert axis_of(0, of_bytes=True) == ["0 bytes"]
