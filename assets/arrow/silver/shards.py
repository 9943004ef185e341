"""Which task gets a row: windows lie side by side among the tasks, each with its share of them.

A task writes a file for each window of which it has rows. If a hash alone said where a row goes, each of a day's
windows would be in every task, and silver in tasks times windows small files. Put here where rows go. Not here: the
shuffle itself (``silver/spark_stages``), and which rows have to meet (``transforms/silver/duplicates``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from zlib import crc32

SHARDS = 1 << 20
"""Rows are shuffled to tasks by a number below this one."""


@dataclass(frozen=True, slots=True)
class Shards:
    """By window, its first shard and how many are its own; of a window that is not known it is all of them."""

    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Mapping[str, int]) -> Shards:
        """A share for each window by its number of records, in the order of time."""
        places, total, before = {}, max(1, sum(records.values())), 0
        for window in sorted(records):
            first = min(before * SHARDS // total, SHARDS - 1)
            before += records[window]
            places[window] = (first, max(1, before * SHARDS // total - first))
        return cls(places)

    def shard(self, window: str, group: bytes) -> int:
        """The shard of the rows of this window that are of one group."""
        first, count = self.places.get(window, _ALL)
        return first + crc32(group) % count


_ALL = (0, SHARDS)
