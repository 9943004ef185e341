"""Metrics as OpenMetrics text, which Prometheus reads; node_exporter's textfile collector takes it as well.

All are gauges: what is written is the state after a run, and the next run's takes its place. Put here how a metric is
called and written. Not here: the numbers (``run_metrics``), and where the text goes (``metrics_files``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from orchestration.watching.metrics.run_metrics import RunMetrics
from transforms.silver.accounting import OUTCOMES

Sample = tuple[Mapping[str, str], float]
"""The labels of a number, and the number."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """One metric: its name without ``weir_``, what it says, its unit ("" for none), and its numbers."""

    name: str
    says: str
    unit: str
    samples: Iterable[Sample]


def text_of(metrics: RunMetrics) -> str:
    """The metrics of a run as OpenMetrics text."""
    lines = [line for gauge in _gauges(metrics) for line in _lines(gauge, metrics.feed)]
    return "\n".join([*lines, "# EOF", ""])


def _gauges(run: RunMetrics) -> Iterator[Gauge]:
    def one(number: float) -> list[Sample]:
        return [({}, number)]

    yield Gauge("run_succeeded", "1 where the last run ended well, else 0", "", one(not run.failed))
    yield Gauge(
        "run_end_time_seconds", "When the last run ended", "", one(run.ended_at.timestamp())
    )
    yield Gauge("run_duration_seconds", "How long the last run took", "seconds", one(run.seconds))
    yield Gauge("run_windows", "How many windows the last run had", "", one(len(run.windows)))
    yield Gauge(
        "run_events",
        "Source events of the windows of the last run, by what became of them",
        "",
        [({"outcome": name}, run.events.get(name, 0)) for name in OUTCOMES],
    )
    yield Gauge(
        "run_step_duration_seconds",
        "How long each step of the last run took",
        "seconds",
        [({"step": name}, seconds) for name, seconds in run.steps.items()],
    )
    yield Gauge(
        "run_checks",
        "Checks of the last run, by their result",
        "",
        [({"result": name}, number) for name, number in run.checks.items()],
    )
    yield Gauge("gold_rows", "Rows of each gold table", "", [_of(one) for one in _rows(run)])
    yield Gauge(
        "gold_tombstones", "Tombstones of each gold table", "", [_of(one) for one in _dead(run)]
    )
    if run.newest_in_gold is not None:
        yield Gauge(
            "gold_newest_window_end_time_seconds",
            "When the newest window that is in gold ended",
            "",
            one(run.newest_in_gold.timestamp()),
        )


def _rows(run: RunMetrics) -> Iterator[tuple[str, int]]:
    return ((one.name, one.rows) for one in run.gold)


def _dead(run: RunMetrics) -> Iterator[tuple[str, int]]:
    return ((one.name, one.tombstones) for one in run.gold)


def _of(table: tuple[str, int]) -> Sample:
    return {"table": table[0]}, table[1]


def _lines(gauge: Gauge, feed: str) -> Iterator[str]:
    name = f"weir_{gauge.name}"
    yield f"# TYPE {name} gauge"
    if gauge.unit:
        yield f"# UNIT {name} {gauge.unit}"
    yield f"# HELP {name} {gauge.says}"
    for labels, number in gauge.samples:
        texts = ",".join(
            f'{key}="{_escaped(one)}"' for key, one in {"feed": feed, **labels}.items()
        )
        yield f"{name}{{{texts}}} {float(number):.15g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
