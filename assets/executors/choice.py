"""Which executor does a piece of work: the one place that decides it, and how a run tells which one did it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

AUTO: Final = "auto"
SPARK: Final = "spark"
IN_PROCESS: Final = "in-process"
EXECUTORS: Final = (AUTO, SPARK, IN_PROCESS)
"""What a user may choose: what fits into this process is done here, or all is done by Spark, or all here.

What only one of them can do is done by it, whatever is chosen.
"""

MEMORY: Final = 64 << 20
"""Maximum number of bytes of files that are read into this process, for one table.

It is the one setting: whatever else is counted has a weight below, in bytes of it, so that half the memory is half of
every limit.
"""

BYTES_OF_A_ROW: Final = 160
"""What a stored row weighs at least: Parquet stores equal values in few bytes, but Python does not."""

ROWS_OF_A_CHANGE: Final = 6
"""A change weighs as much as so many stored rows.

Measured on two cores: 60,000 changes into 300,000 rows took 4.9 s in this process and 7.1 s by Spark, 20,000 changes
into a million rows 4.3 and 4.9 s.
"""

BYTES_OF_AN_APPLIED_CHANGE: Final = 32
"""A change that is applied to a table whose rows are looked up by their keys: up to two millions in one step.

Measured on two cores: see docs/bench.md.
"""

BYTES_OF_A_ROW_LOOKED_THROUGH: Final = 1
"""A row of such a table: what is read of it is its key, and of the rows that are found where they stand."""

MEMORY_OF_AN_APPLIED_CHANGE: Final = 3_000
"""How many bytes of memory a change of ten columns takes while it is applied."""

CHANGES_OF_A_RECORD: Final = 13
"""A record that is decoded and classified weighs as much as so many changes that are folded.

So up to 5,300 records are silver's work in this process. It takes some tenths of a second, and one core; beyond that,
Spark's tasks on all cores make up for its start.
"""

CHANGES_OF_AN_OFFSET: Final = 3
"""A record that is fetched from a topic weighs as much as so many changes: up to 23,000 take a second or two."""

BYTES_OF_A_PAYLOAD: Final = 8
"""A byte that is cut into records or decoded weighs as much as so many of stored files: up to 8 MiB are read here.

Of a topic it is known only afterwards how many bytes were fetched, so these weigh ``BYTES_OF_A_FETCH``.
"""

BYTES_OF_A_FETCH: Final = 2


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user chose, and how much memory this process may use for one table."""

    executor: str = AUTO
    memory: int = MEMORY

    def fits_in_process(self, size: int, rows: int, changes: int = 0) -> bool:
        """Whether this process does work that reads so many bytes and rows, and folds so many changes."""
        if self.executor != AUTO:
            return self.executor == IN_PROCESS
        weight = (rows + ROWS_OF_A_CHANGE * changes) * BYTES_OF_A_ROW
        return max(size, weight) <= self.memory

    def applies_in_process(self, changes: int, rows: int) -> bool:
        """Whether this process applies so many changes to a table of so many rows, which it looks up by their keys."""
        if self.executor != AUTO:
            return self.executor == IN_PROCESS
        weights = (changes * BYTES_OF_AN_APPLIED_CHANGE, rows * BYTES_OF_A_ROW_LOOKED_THROUGH)
        return max(weights) <= self.memory and changes <= most_changes_for(machine_memory())

    def holds(self, size: int) -> bool:
        """Whether this process holds so many bytes of changes, as they are in memory."""
        return self.executor == IN_PROCESS or size <= 32 * self.memory

    def decodes_in_process(self, size: int, records: int = 0) -> bool:
        """Whether so many bytes as they landed, which are so many records, are cut or decoded in this process."""
        return self.fits_in_process(BYTES_OF_A_PAYLOAD * size, 0, CHANGES_OF_A_RECORD * records)

    def fetches_in_process(self, size: int, offsets: int) -> bool:
        """Whether so many offsets of topics, whose records have so many bytes, are read in this process."""
        return self.fits_in_process(BYTES_OF_A_FETCH * size, 0, CHANGES_OF_AN_OFFSET * offsets)

    @property
    def most_decoded(self) -> int | None:
        """Maximum number of bytes of one object that are decoded in this process; None for any number."""
        return None if self.executor == IN_PROCESS else self.memory // BYTES_OF_A_PAYLOAD


def most_changes_for(memory: int) -> int:
    """Of how many changes at most a third of a machine's memory has room."""
    return memory // 3 // MEMORY_OF_AN_APPLIED_CHANGE


def machine_memory() -> int:
    """How many bytes of memory the machine has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


EXECUTOR: Final = "executor"
"""The name of the metadata that says which executor did a step's work."""


def done_by(*executors: str) -> str:
    """The end of a line of the log that says who did the work: `` (spark)``; nothing where nothing was done."""
    return f" ({', '.join(executors)})" if executors else ""


def executors_of(executors: Iterable[str]) -> dict[str, str]:
    """The metadata of these executors; none where nothing was done."""
    names = ", ".join(executors)
    return {EXECUTOR: names} if names else {}
