"""The two suites: what ``make test`` leaves to ``make test-long``, how long that takes, and which shard has what of it.

A part of the long suite is a folder, a file or a test by its name. Shards are made of whole parts, by the seconds that
each has taken, so that all take about the same time; a test is in the part that names it most closely.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

LONG: Final[Mapping[str, int]] = {
    # Other programs beside Weir: clusters, databases, schedulers, readers.
    "tests/cluster/test_cluster.py": 200,
    "tests/cluster/test_orchestrated.py": 240,
    "tests/cdc": 180,
    "tests/journeys/test_airflow.py": 200,
    "tests/journeys/test_dbt.py": 100,
    "tests/assets/readers": 150,
    # Runs that are killed, stopped or starved.
    "tests/faults/test_two_machines.py": 250,
    "tests/faults/test_two_machines_with_spark.py": 250,
    "tests/faults/test_full_disk.py": 60,
    "tests/faults/test_two_runs.py": 60,
    "tests/orchestration/spark/test_conditional_commits.py": 120,
    # The bench, which is no part of the product.
    "tests/bench/test_bench.py": 200,
    "tests/bench/test_growth.py": 200,
}
"""Parts that only the long suite has, with their seconds on two cores."""

NUMBERED: Final[Mapping[str, int]] = {
    "tests/laws/gold": 100,
}
"""Parts that both suites have: in the long one with larger numbers, of which these are the seconds."""

SHARDS: Final = 12
"""How many shards .ci/run counts on: each has to be over in ten minutes."""


def part_of(nodeid: str) -> str | None:
    """The part of the long suite that has this test; None of a test that only ``make test`` has."""
    return next((name for name in _names(nodeid) if name in LONG or name in NUMBERED), None)


def _names(nodeid: str) -> Iterator[str]:
    """All that a part with this test may be called: the case, the test, its file, and the folders around it."""
    yield nodeid
    test = nodeid.partition("[")[0]
    yield test
    path = test.partition("::")[0]
    while path:
        yield path
        path = path.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Shard:
    """The ``number``-th of so many shards, counted from 1."""

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> Shard:
        """The shard that a person names: ``3/12``."""
        found = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise argparse.ArgumentTypeError(
                f"{text!r} is no shard of the long suite: write 3/12 for the third of twelve"
            )
        return cls(int(found[1]), int(found[2]))

    @property
    def parts(self) -> frozenset[str]:
        """The parts that it has: the longest first, each goes to the shard that has the fewest seconds so far."""
        seconds = {**LONG, **NUMBERED}
        filled = [0] * self.of
        mine: set[str] = set()
        for part in sorted(seconds, key=lambda part: (-seconds[part], part)):
            shard = filled.index(min(filled))
            filled[shard] += seconds[part]
            if shard == self.number - 1:
                mine.add(part)
        return frozenset(mine)

    def has(self, nodeid: str) -> bool:
        """True where the test is in one of its parts."""
        return part_of(nodeid) in self.parts
