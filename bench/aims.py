"""What each line of the bench should cost, and whether a run of it did.

An aim is for the work that a line stands for, whatever the sizes of the run: docs/bench.md says for which sizes it
was set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from types import MappingProxyType

from bench.finding import Finding

DEFAULTS = "textbook, Spark's defaults"
WINDOW = "the window itself"
AS_MANY_CHANGES = "as many changes"


@dataclass(frozen=True, slots=True)
class Aim:
    """What is asked of Weir in one line; None asks for nothing.

    - ``textbook``, ``defaults``: how many times faster than these it should be at least.
    - ``floor``: how many times slower than the floor it may be at most.
    - ``seconds``, ``jobs``: how many it may take at most, by the median of all turns.
    - ``changes``: how many times as long as as many changes it may take at most.
    - ``share``: which part of the time of a window, its own included, it may take at most.
    - ``each``: the seconds and jobs are for one unit of the line's size, and not for all.
    """

    textbook: float | None = None
    defaults: float | None = None
    floor: float | None = None
    seconds: float | None = None
    jobs: float | None = None
    changes: float | None = None
    share: float | None = None
    each: bool = False


AIMS: Mapping[str, Aim] = MappingProxyType(
    {
        "landing to silver": Aim(floor=2, jobs=6),
        "apply changes": Aim(textbook=1.5, defaults=2, floor=2),
        "apply them again": Aim(textbook=1),
        "a second snapshot": Aim(changes=1.3),
        "find nothing new": Aim(seconds=1),
        "small tables": Aim(textbook=3, seconds=1, jobs=4, each=True),
        "checks of a window": Aim(share=0.2),
        "one small window": Aim(seconds=5),
        "one small window, weir run": Aim(seconds=25),
        "find nothing new, little": Aim(seconds=1),
        "find nothing new, 100 times": Aim(seconds=1),
        "the demo, first time": Aim(seconds=75),
        "the demo, second time": Aim(seconds=15),
        "weir verify of the demo": Aim(seconds=60),
    }
)


@dataclass(frozen=True, slots=True)
class ReachedAim:
    """One part of an aim: what was asked, what was found, and whether that is enough."""

    asked: str
    found: float
    is_reached: bool


def reached_aims(finding: Finding) -> Iterator[ReachedAim]:
    """What a line's aim asks for, as far as the run has measured it; nothing where there is no aim."""
    aim = AIMS.get(finding.name, Aim())
    for rival, times in (("textbook", aim.textbook), (DEFAULTS, aim.defaults)):
        found = finding.ratio(rival, "weir")
        if times is not None and found is not None:
            yield ReachedAim(
                f"{times:g} times as fast as {_in_words(rival)}", found, found >= times
            )
    slower = finding.slower_than_floor
    if aim.floor is not None and slower is not None:
        yield ReachedAim(f"{aim.floor:g} times the floor", slower, slower <= aim.floor)
    longer = finding.ratio("weir", AS_MANY_CHANGES)
    if aim.changes is not None and longer is not None:
        asked = f"{aim.changes:g} times {AS_MANY_CHANGES}"
        yield ReachedAim(asked, longer, longer <= aim.changes)
    window = finding.ratio(WINDOW, "weir")
    if aim.share is not None and window is not None:
        share = 1 / (1 + window)
        yield ReachedAim(f"{aim.share:.0%} of a window's time", share, share <= aim.share)
    samples = finding.samples["weir"]
    parts = finding.size if aim.each else 1
    per = f" {finding.unit.removesuffix('s')}" if aim.each else ""
    if aim.seconds is not None:
        took = median(sample.seconds for sample in samples) / parts
        yield ReachedAim(f"{aim.seconds:g} s{per and ' a' + per}", took, took <= aim.seconds)
    jobs = [sample.jobs for sample in samples if sample.jobs is not None]
    if aim.jobs is not None and jobs:
        ran = median(jobs) / parts
        yield ReachedAim(f"{aim.jobs:g} jobs{per and ' a' + per}", ran, ran <= aim.jobs)


def _in_words(rival: str) -> str:
    return "the textbook" if rival == "textbook" else "it on Spark's defaults"
