"""The findings of a run: as a table with the ratios first, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import median
from types import MappingProxyType

from bench import aims
from bench.answers.judging import Judgements
from bench.finding import OURS, Finding
from bench.measuring import Sample


def table(
    findings: Sequence[Finding],
    machine: Mapping[str, object],
    judged: Judgements = MappingProxyType({}),
) -> str:
    """The findings as Markdown, and who is right about what where that was asked."""
    head = [
        "",
        "aim",
        "textbook / Weir",
        "Weir / floor",
        "seconds",
        "",
        "",
        "jobs",
        "peak memory, MB",
    ]
    second = ["", "", "times faster", "times slower", "Weir", "textbook", "floor"]
    second += ["Weir, textbook, floor"] * 2
    rows = [_cells(finding) for finding in findings]
    lines = [head, ["---"] * len(head), second, *rows]
    taken_on = ", ".join(f"{name} {value}" for name, value in machine.items() if value is not None)
    beside = "".join(_beside(finding) + "\n\n" for finding in findings if finding.others)
    beside += "".join(_counted(finding) + "\n\n" for finding in findings if finding.counts)
    parts = [_markdown(lines)] if findings else []
    parts += [_who_is_right(judged)] if judged else []
    return "\n\n".join([*parts, beside + taken_on]) + "\n"


def as_json(
    findings: Sequence[Finding], machine: Mapping[str, object], sizes: Mapping[str, object]
) -> dict[str, object]:
    """The findings with every sample, for programs."""
    return {
        "machine": dict(machine),
        "sizes": dict(sizes),
        "lines": [
            {
                "name": finding.name,
                "size": finding.size,
                "unit": finding.unit,
                "faster_than_textbook": finding.faster_than_textbook,
                "slower_than_floor": finding.slower_than_floor,
                "others_to_weir": {name: finding.ratio(name, "weir") for name in finding.others},
                "aims": [asdict(aim) for aim in aims.reached_aims(finding)],
                "notes": [*finding.notes],
                "counts": dict(finding.counts),
                "median_seconds": {
                    name: median(sample.seconds for sample in samples)
                    for name, samples in finding.samples.items()
                },
                "samples": {
                    name: [asdict(sample) for sample in samples]
                    for name, samples in finding.samples.items()
                },
            }
            for finding in findings
        ],
    }


def _cells(finding: Finding) -> list[str]:
    taking_part = [finding.samples[name] for name in OURS if name in finding.samples]
    return [
        f"{finding.name} ({finding.size:,} {finding.unit})",
        _aim(finding),
        _times(finding.faster_than_textbook),
        _times(finding.slower_than_floor),
        *[_seconds(finding.samples.get(name, ())) for name in OURS],
        ", ".join(f"{median(jobs):g}" for jobs in _known(taking_part, "jobs")),
        ", ".join(
            f"{max(memory) / 2**20:,.0f}"
            for name in ("heap", "resident")
            for memory in _known(taking_part, name)
        ),
    ]


def _aim(finding: Finding) -> str:
    """Each part of the line's aim, and whether it was reached."""
    return "; ".join(
        f"{aim.asked}: {'reached' if aim.is_reached else f'missed, {aim.found:.2g}'}"
        for aim in aims.reached_aims(finding)
    )


def _beside(finding: Finding) -> str:
    """One row per competitor, for a line that has more of them than the table has columns."""
    head = [finding.name, "seconds", "times Weir's"]
    rows = [
        ["Weir" if name == "weir" else name, _seconds(samples), _times(finding.ratio(name, "weir"))]
        for name, samples in finding.samples.items()
    ]
    return "\n\n".join([_markdown([head, ["---"] * len(head), *rows]), *finding.notes])


def _who_is_right(judged: Judgements) -> str:
    """One row per history, one column per applier, and how many histories each has right."""
    names = [*next(iter(judged.values()))]
    shown = ["Weir" if name == "weir" else name for name in names]
    rows = [[history, *map(str, wrong.values())] for history, wrong in judged.items()]
    right = [sum(not wrong[name].rows for wrong in judged.values()) for name in names]
    last = [f"right, of {len(judged)}", *map(str, right)]
    return _markdown([["who is right about", *shown], ["---"] * (len(names) + 1), *rows, last])


def _counted(finding: Finding) -> str:
    """One row per thing that was counted, and their sum."""
    rows = [[name, f"{number:,}"] for name, number in sorted(finding.counts.items())]
    rows.append(["together", f"{sum(finding.counts.values()):,}"])
    return _markdown([[finding.name, "count"], ["---"] * 2, *rows])


def _markdown(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _known(of_competitors: Sequence[Sequence[Sample]], name: str) -> list[list[int]]:
    """The jobs or heaps of each competitor's samples, without competitors that are processes of their own."""
    every = [[getattr(sample, name) for sample in samples] for samples in of_competitors]
    return [numbers for numbers in every if None not in numbers]


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def _seconds(samples: Sequence[Sample]) -> str:
    """The median, and the least and the most."""
    if not samples:
        return ""
    seconds = [sample.seconds for sample in samples]
    return f"{median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"
