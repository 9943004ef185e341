"""What a run measured of one line, and the ratios between the competitors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from bench.measuring import Line, Sample

OURS = ("weir", "textbook", "floor")
"""The competitors that have columns of their own."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the table, and every sample of it; ``counts`` as in ``Line``."""

    name: str
    size: int
    unit: str
    samples: Mapping[str, Sequence[Sample]]
    notes: Sequence[str] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, line: Line, samples: Mapping[str, Sequence[Sample]]) -> Finding:
        """What was measured of a line."""
        return cls(line.name, line.size, line.unit, samples, line.notes, line.counts)

    def ratio(self, upper: str, lower: str) -> float | None:
        """The median of the ratios turn by turn, in which both had the same machine; None if one did not take part."""
        if not {upper, lower} <= self.samples.keys():
            return None
        pairs = zip(self.samples[upper], self.samples[lower], strict=True)
        return median(over.seconds / under.seconds for over, under in pairs)

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
