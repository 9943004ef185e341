"""Which plots and tables a report has, and what each shows in words.

Put here a plot of the report. Not here: the facts (``assets/audit/feed_report``), how something is drawn (``figures``),
and the page around it (``page``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assets.audit.feed_report import FeedReport, WindowFacts, seconds_to_gold
from orchestration.watching.report.figures import Plot
from transforms.feed.feed import Feed
from transforms.silver.accounting import OUTCOMES

SECONDS = {1: "1 s", 60: "1 min", 3_600: "1 h", 86_400: "1 d", 2_592_000: "30 d", 31_536_000: "1 y"}
COLORS = {
    **{"changes": "blue", "duplicates": "yellow", "quarantined": "red", "held": "purple"},
    **{"too_late": "orange", "control": "grey"},
}
KINDS = ("blue", "green", "red", "purple", "orange", "yellow", "sky")
"""Colours of operations, the commonest first."""

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report: its title, what it shows in a sentence, a plot where there is something to draw, a table.

    ``nothing``: what is said where there is no plot.
    """

    title: str
    says: str
    plot: Plot | None
    heads: Sequence[str]
    rows: Rows
    nothing: str = ""


def sections(feed: Feed, facts: FeedReport) -> Iterator[Section]:
    """The report's parts, in order."""
    yield _outcomes(facts)
    yield _operations(facts)
    yield _duplicates(facts)
    yield _lag(feed, facts)
    yield _growth(facts)
    yield _gold(facts)
    yield _quarantine(facts)


def _labels(facts: FeedReport) -> list[str]:
    return [one.window for one in facts.windows]


def _stacked(
    name: str, facts: FeedReport, names: Sequence[str], of: Callable[[WindowFacts, str], int | None]
) -> Plot | None:
    """Bars of these names, one upon the other, for each window; none where all are empty."""
    series = {one: [of(window, one) for window in facts.windows] for one in names}
    there = {one: values for one, values in series.items() if any(values)}
    if not there:
        return None
    others = iter(KINDS)
    colors = [COLORS.get(one) or next(others, "grey") for one in there]
    spoken = {one.replace("_", " "): values for one, values in there.items()}
    return Plot(name, "bars", _labels(facts), spoken, colors)


def _numbered(values: Sequence[int | None]) -> list[str]:
    return ["–" if one is None else f"{one:,}" for one in values]


def _outcomes(facts: FeedReport) -> Section:
    used = [one for one in OUTCOMES if one == "changes" or facts.outcomes.get(one)]
    return Section(
        "What became of the events",
        "Source events of each window, by their outcome. They add up to all that were read.",
        _stacked("outcomes", facts, used, lambda window, name: window.outcomes.get(name, 0)),
        ["window", "events", *(one.replace("_", " ") for one in used)],
        [
            [one.window, *_numbered([one.outcomes.get(name, 0) for name in ("events", *used)])]
            for one in reversed(facts.windows)
        ],
        nothing="No window has an event yet.",
    )


def _operations(facts: FeedReport) -> Section:
    counts = Counter[str]()
    for window in facts.windows:
        counts.update(window.operations or {})
    names = [name for name, _ in counts.most_common(len(KINDS))]
    plot = _stacked("operations", facts, names, lambda one, name: (one.operations or {}).get(name))
    if plot is not None:
        plot = Plot(plot.name, plot.kind, plot.labels, plot.series, KINDS[: len(plot.series)])
    return Section(
        "What the source did",
        "Changes of each window, by the source's own operation. Windows with very many changes are left out.",
        plot,
        ["window", *names],
        [
            [one.window, *_numbered([_counted(one.operations, name) for name in names])]
            for one in reversed(facts.windows)
        ],
        nothing="No window has a change yet, or all have too many to be looked through.",
    )


def _counted(operations: Mapping[str, int] | None, name: str) -> int | None:
    return None if operations is None else operations.get(name, 0)


def _duplicates(facts: FeedReport) -> Section:
    def of(window: WindowFacts, name: str) -> int | None:
        return window.late if name == "late" else window.outcomes.get(name, 0)

    names = ("duplicates", "late", "too_late")
    plot = _stacked("late", facts, names, of)
    return Section(
        "Duplicates and lateness",
        "Duplicates came twice within their window. Late changes were made before their window began; they count."
        " What is too late stands in quarantine, for its history is compacted.",
        plot,
        ["window", "duplicates", "late", "too late"],
        [
            [one.window, *_numbered([of(one, name) for name in names])]
            for one in reversed(facts.windows)
        ],
        nothing="Nothing came twice, and nothing came late.",
    )


def _lag(feed: Feed, facts: FeedReport) -> Section:
    lags = [seconds_to_gold(feed, one) for one in facts.windows]
    known = [one for one in lags if one is not None]
    marks: list[float] = []
    if known:
        # The axis is logarithmic, and has no 0.
        longest = max(*known, 60.0)
        above = next((one for one in SECONDS if one >= longest), 10 * 31_536_000)
        marks = [one for one in (*SECONDS, above) if one <= above]
    plot = Plot(
        *("lag", "dots", _labels(facts)),
        {"in gold after": [None if one is None else max(1.0, one) for one in lags]},
        *(["blue"], spoken_seconds, tuple(dict.fromkeys(marks))),
    )
    return Section(
        "Lag",
        "How long after its end each window was in gold, the last time that it was brought there.",
        plot if known else None,
        ["window", "in gold at (UTC)", "after its end"],
        [
            [
                one.window,
                f"{one.finished_at:%Y-%m-%d %H:%M:%S}" if one.finished_at else "not yet",
                "–" if lag is None else spoken_seconds(lag),
            ]
            for one, lag in reversed([*zip(facts.windows, lags, strict=True)])
        ],
        nothing="No window is in gold yet.",
    )


def spoken_seconds(seconds: float) -> str:
    """A time span in its largest unit: ``3.5 h``."""
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds / unit:,.1f}".removesuffix(".0") + f" {name}"
    return f"{seconds:.0f} s"


def _growth(facts: FeedReport) -> Section:
    runs = facts.growth[-200:]
    labels = [f"{one.ended_at:%Y-%m-%d %H:%M}" for one in runs]
    plot = Plot(
        *("growth", "lines", labels),
        {"rows": [one.rows for one in runs], "tombstones": [one.tombstones for one in runs]},
        ["blue", "red"],
    )
    return Section(
        "Growth of gold",
        "Rows and tombstones of all gold tables together, after each run.",
        plot if len(runs) > 1 else None,
        ["run ended (UTC)", "rows", "tombstones"],
        [
            [label, *_numbered([one.rows, one.tombstones])]
            for label, one in reversed([*zip(labels, runs, strict=True)])
        ],
        nothing="One run has been noted." if runs else "No run has been noted yet.",
    )


def _gold(facts: FeedReport) -> Section:
    largest = sorted(facts.gold, key=lambda one: (-one.rows, one.name))[:15]
    plot = Plot(
        *("gold", "rows", [one.name for one in largest]),
        {
            "rows": [one.rows for one in largest],
            "tombstones": [one.tombstones for one in largest],
        },
        ["blue", "red"],
    )
    return Section(
        "Gold tables",
        "Rows, and tombstones of deleted keys, as they are now.",
        plot if any(one.rows or one.tombstones for one in largest) else None,
        ["table", "rows", "tombstones"],
        [
            [one.name, *_numbered([one.rows, one.tombstones])]
            for one in sorted(facts.gold, key=lambda one: one.name)
        ],
        nothing="There is no row in gold yet.",
    )


def _quarantine(facts: FeedReport) -> Section:
    first = dict([*facts.reasons.items()][:15])
    plot = Plot(
        *("quarantine", "rows", [one.replace("_", " ") for one in first]),
        {"events": [*first.values()]},
        ["red"],
    )
    return Section(
        "Quarantine by reason",
        "Events of these windows that could not become changes, the dismissed ones included.",
        plot if first else None,
        ["reason", "events"],
        [[name.replace("_", " "), f"{number:,}"] for name, number in facts.reasons.items()],
        nothing="Nothing of these windows is in quarantine.",
    )
