"""The checks of bronze: drops that no run reads, offsets that held no record, and operations that no file has.

Kafka gives no record at the offset of a transaction's end, at those of an aborted transaction, and where compaction
or an operator removed one; a consumer cannot tell these apart. So nobody is warned who has not asked for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import dagster as dg

from assets.feed_assets import feed_key
from assets.landing.kafka_offsets import Range
from assets.quality import checks
from assets.quality.checks import Counted, kept_counts
from assets.storage.lake import Lake, Layer
from expectations.bronze import (
    NO_DROP_IS_OUT_OF_TIME,
    OFFSETS_HAVE_NO_GAP,
    OPERATION_COUNTS_HAVE_NO_GAP,
)
from expectations.feed_rules import bronze_rules
from transforms.display import bullets
from transforms.feed.erasures import erased_record, is_erased
from transforms.feed.feed import Feed
from transforms.formats import FORMATS


def offset_gaps_in(
    ranges: Sequence[Range], records: Mapping[str, int], compacted: Collection[str]
) -> dict[str, int]:
    """How many offsets of each partition hold no record; ``records``: how many were read, by the partition's name.

    Partitions of topics that Kafka compacts, whose names are in ``compacted``, are left out.
    """
    found = {
        one.partition.name: one.size - records.get(one.partition.name, 0)
        for one in ranges
        if one.partition.topic not in compacted
    }
    return {name: missing for name, missing in found.items() if missing > 0}


def bronze_check_specs(feed: Feed) -> list[dg.AssetCheckSpec]:
    """The checks of the feed's bronze, of topics or of files."""
    return checks.specs_of_rules(feed_key("bronze", feed).path, bronze_rules(feed))


def offset_checks(
    lake: Lake, feed: Feed, gaps: Mapping[str, int], windows: Sequence[str]
) -> list[dg.AssetCheckResult]:
    """Their results, kept in the warehouse."""
    lines = bullets(f"{name}: {missing:,} without a record" for name, missing in gaps.items())
    name = OFFSETS_HAVE_NO_GAP.name
    found = Counted(bronze_rules(feed), {name: sum(gaps.values())}, {name: lines})
    return kept_counts(lake, feed, feed_key("bronze", feed).path, found, windows)


# Operations that a source says it has written, and that no file has. Sources number them by running totals, of which no
# page says whether they go on over a restart, or are one for each table. So an object is looked at by itself, and only
# a jump in both readings is a gap.


SHOWN = 10
"""Maximum number of gaps that are named."""

_READ = ("object", "generation", "line", "payload", "defect")


@dataclass(frozen=True, slots=True)
class Gap:
    """How many operations are missing before a line of an object, by the totals of its source."""

    object: str
    line: int
    missing: int


@dataclass(frozen=True, slots=True)
class Counting:
    """A record that says how many operations there were with it, of its table or of all."""

    line: int
    table: str
    total: int


@dataclass(slots=True)
class Reading:
    """An object that is read line by line: what its records have said so far."""

    line: int = 0
    before: int | None = None
    of_table: dict[str, int] = field(default_factory=dict)

    def missing_before(self, one: Counting) -> int:
        """How many operations are missing between this record and the one that was read before it.

        A total that falls or stays begins again or repeats an operation, and is no gap.
        """
        lasts = (self.before, self.of_table.get(one.table))
        self.line, self.before = one.line, one.total
        self.of_table[one.table] = one.total
        known = [last for last in lasts if last is not None]
        # The first record of a table says nothing: it may have totals of its own.
        if len(known) == len(lasts) and all(one.total > last + 1 for last in known):
            return one.total - 1 - max(known)
        return 0


def operation_gaps_in(name: str, records: Iterable[Counting]) -> list[Gap]:
    """The gaps between the records of one object, in the order in which they stand."""
    reading = Reading()
    found = []
    for one in sorted(records, key=lambda record: record.line):
        if missing := reading.missing_before(one):
            found.append(Gap(name, one.line, missing))
    return found


_Object: TypeAlias = tuple[str, str]


def operation_gaps(lake: Lake, feed: Feed, windows: Sequence[str]) -> list[Gap]:
    """The gaps in all objects of these windows; nothing is read where nobody asks for them.

    Records are read some at a time and forgotten: of an object only its last totals are held. Those whose records are
    not in the order of their lines in bronze are read once more, to be put in order.
    """
    so_far = FORMATS[feed.format].operations_so_far
    asked = {rule.name for rule in bronze_rules(feed)}
    if so_far is None or OPERATION_COUNTS_HAVE_NO_GAP.name not in asked:
        return []
    readings = defaultdict[_Object, Reading](Reading)
    gaps = defaultdict[_Object, list[Gap]](list)
    unordered: set[_Object] = set()
    for key, one in _countings(lake, feed, windows, so_far):
        reading = readings[key]
        if one.line <= reading.line:
            unordered.add(key)
        elif missing := reading.missing_before(one):
            gaps[key].append(Gap(key[0], one.line, missing))
    if unordered:
        records = defaultdict[_Object, list[Counting]](list)
        for key, one in _countings(lake, feed, windows, so_far):
            if key in unordered:
                records[key].append(one)
        gaps |= {key: operation_gaps_in(key[0], some) for key, some in records.items()}
    return [gap for key in sorted(gaps) for gap in gaps[key]]


def _countings(
    lake: Lake,
    feed: Feed,
    windows: Sequence[str],
    so_far: Callable[[bytes], tuple[str, int] | None],
) -> Iterator[tuple[_Object, Counting]]:
    """The records of these windows that say how many operations there were, each with its object."""
    for rows in lake.in_process_table(Layer.BRONZE, feed.name).batches(_READ, {"window": windows}):
        for row in rows.to_pylist():
            said = None if row["payload"] is None else so_far(row["payload"])
            if is_erased(row["defect"]):
                said = erased_record(row["defect"]).operations
            if said is not None:
                yield (row["object"], row["generation"]), Counting(row["line"], *said)


def file_checks(
    lake: Lake,
    feed: Feed,
    gaps: Sequence[Gap],
    out_of_time: Sequence[str],
    windows: Sequence[str],
) -> list[dg.AssetCheckResult]:
    """The results of the checks of a landing of files, kept in the warehouse; those that nobody asks for are left out.

    ``out_of_time``: a sentence for each drop that no run reads now.
    """
    lines = [
        f"{gap.object} line {gap.line}: {gap.missing:,} missing before it" for gap in gaps[:SHOWN]
    ]
    operations, dates = OPERATION_COUNTS_HAVE_NO_GAP.name, NO_DROP_IS_OUT_OF_TIME.name
    found = Counted(
        bronze_rules(feed),
        {operations: sum(gap.missing for gap in gaps), dates: len(out_of_time)},
        {operations: bullets(lines), dates: bullets(out_of_time[:SHOWN])},
    )
    return kept_counts(lake, feed, feed_key("bronze", feed).path, found, windows)
