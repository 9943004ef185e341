"""What a run found: as a table with the ratios first, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from bench import aims
from bench.measuring import Line, Sample

OURS = ("weir", "textbook", "floor")
"""The competitors that have columns of their own."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the table, and every sample of it."""

    name: str
    size: int
    unit: str
    samples: Mapping[str, Sequence[Sample]]
    notes: Sequence[str] = ()

    @classmethod
    def of(cls, line: Line, samples: Mapping[str, Sequence[Sample]]) -> Finding:
        """What was measured of a line."""
        return cls(line.name, line.size, line.unit, samples, line.notes)

    def ratio(self, upper: str, lower: str) -> float | None:
        """The median of the ratios turn by turn: both had the same machine then."""
        if not {upper, lower} <= self.samples.keys():
            return None
        pairs = zip(self.samples[upper], self.samples[lower], strict=True)
        return median(one.seconds / other.seconds for one, other in pairs)

    @property
    def faster_than_textbook(self) -> float | None:
        """How many times Weir is faster."""
        return self.ratio("textbook", "weir")

    @property
    def slower_than_floor(self) -> float | None:
        """How many times Weir is slower."""
        return self.ratio("weir", "floor")

    @property
    def others(self) -> list[str]:
        """The competitors besides the three that most lines have."""
        return [name for name in self.samples if name not in OURS]


def table(findings: Sequence[Finding], machine: Mapping[str, object]) -> str:
    """The findings as Markdown."""
    head = [
        "",
        "aim",
        "textbook / Weir",
        "Weir / floor",
        "seconds",
        "",
        "",
        "jobs",
        "peak heap, MB",
    ]
    second = ["", "", "times faster", "times slower", "Weir", "textbook", "floor"]
    second += ["Weir, textbook, floor"] * 2
    rows = [_cells(finding) for finding in findings]
    lines = [head, ["---"] * len(head), second, *rows]
    told = ", ".join(f"{name} {value}" for name, value in machine.items() if value is not None)
    beside = "".join(_beside(finding) + "\n\n" for finding in findings if finding.others)
    return _markdown(lines) + f"\n\n{beside}{told}\n"


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
                "aims": [asdict(one) for one in aims.reached_aims(finding)],
                "notes": [*finding.notes],
                "median_seconds": {
                    name: median(one.seconds for one in samples)
                    for name, samples in finding.samples.items()
                },
                "samples": {
                    name: [asdict(one) for one in samples]
                    for name, samples in finding.samples.items()
                },
            }
            for finding in findings
        ],
    }


def _cells(finding: Finding) -> list[str]:
    there = [finding.samples[name] for name in OURS if name in finding.samples]
    return [
        f"{finding.name} ({finding.size:,} {finding.unit})",
        _aim(finding),
        _times(finding.faster_than_textbook),
        _times(finding.slower_than_floor),
        *[_seconds(finding.samples.get(name, ())) for name in OURS],
        ", ".join(f"{median(jobs):g}" for jobs in _known(there, "jobs")),
        ", ".join(f"{max(heap) / 2**20:,.0f}" for heap in _known(there, "heap")),
    ]


def _aim(finding: Finding) -> str:
    """Each part of the line's aim, and whether it was reached."""
    return "; ".join(
        f"{one.asked}: {'reached' if one.is_reached else f'missed, {one.found:.2g}'}"
        for one in aims.reached_aims(finding)
    )


def _beside(finding: Finding) -> str:
    """One row per competitor, for a line that has more of them than the table has columns."""
    head = [finding.name, "seconds", "times Weir's"]
    rows = [
        ["Weir" if name == "weir" else name, _seconds(samples), _times(finding.ratio(name, "weir"))]
        for name, samples in finding.samples.items()
    ]
    return "\n\n".join([_markdown([head, ["---"] * len(head), *rows]), *finding.notes])


def _markdown(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _known(of_competitors: Sequence[Sequence[Sample]], name: str) -> list[list[int]]:
    """What is known of each competitor's samples; of processes of their own, nothing is."""
    found = [[getattr(one, name) for one in samples] for samples in of_competitors]
    return [numbers for numbers in found if None not in numbers]


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def _seconds(samples: Sequence[Sample]) -> str:
    """The median, and the least and the most."""
    if not samples:
        return ""
    seconds = [one.seconds for one in samples]
    return f"{median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"
