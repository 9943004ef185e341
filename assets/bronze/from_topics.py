"""Topics to bronze: every new record of all partitions in one commit, each in the window of its timestamp.

What was read is known from bronze's own commits (``ledger.read_offsets``), so that a run that dies before its commit
has read nothing, and one that dies after it has read everything.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic

from assets.bronze.checks import offset_gaps_in
from assets.bronze.from_objects import append_new
from assets.control import ledger
from assets.landing import kafka
from assets.landing.kafka_offsets import Range
from assets.landing.read_topics import read_in_process, read_ranges
from assets.storage.lake import Lake, Layer
from assets.storage.locks import writing
from assets.wording import counted
from expectations.feed_rules import bronze_rules
from transforms.feed.feed import Feed

Report = Callable[[str], None]
"""What is called with each line of progress, for example a log's ``info``."""

INTERVAL = 5.0
"""Seconds between two lines of progress."""

_SHOWN = 6


@dataclass(frozen=True, slots=True)
class AppendedRecords:
    """What was appended: how many records by window, the offsets of each partition, and sentences of warning.

    ``gaps``: how many offsets of a partition held no record, where the feed file asks for that.
    ``executor``: which of them has read the records; None where nothing was read.
    """

    records: dict[str, int]
    ranges: tuple[Range, ...]
    warnings: tuple[str, ...]
    gaps: Mapping[str, int] = field(default_factory=dict)
    executor: str | None = None

    @property
    def offsets(self) -> list[str]:
        """One line per partition of which anything was read."""
        return [
            f"{one.partition.name}: offsets {one.first:,} to {one.end - 1:,}" for one in self.ranges
        ]

    def beyond(self, windows: Sequence[str]) -> list[str]:
        """The windows beside these that got records: they are still to be brought to gold."""
        return sorted(set(self.records) - set(windows))


def land(lake: Lake, feed: Feed, report: Report) -> AppendedRecords:
    """Append every record that bronze does not have, whatever its window.

    Raises:
        OffsetsLost: Kafka has deleted records that were never read.
        UnreadableLanding: the broker does not answer, or refuses.
    """
    with writing(lake, Layer.BRONZE, feed.name):
        held = ledger.catch_up(lake, feed)
        seen = held.version
        ledger.refuse_other_size(feed, ledger.other_windows(held.rows, feed))
        found = kafka.backlog_of(feed, kafka.look_at_topics(feed), ledger.offsets_in(held.rows))
        executor = None
        if found.ranges or seen < 0:
            with reporting(feed, found.ranges, report) as folder:
                executor = append_new(
                    *(lake, feed, seen),
                    partial(read_in_process, feed, found.ranges, lake.choice, folder),
                    lambda into: read_ranges(lake.spark, feed, found.ranges, folder, into),
                )
            ledger.catch_up(lake, feed)
        records = ledger.records_since(lake, feed, found.ranges, seen)
        compacted = kafka.compacted_topics(feed)
        warnings = (*found.warnings, *compacted)
        for warning in warnings:
            report(f"bronze.{feed.name}: {warning}")
        gaps = {}
        if bronze_rules(feed):
            by_partition = ledger.records_since(lake, feed, found.ranges, seen, "object")
            gaps = offset_gaps_in(
                found.ranges, by_partition, {line.split()[1] for line in compacted}
            )
        return AppendedRecords(records, found.ranges, warnings, gaps, executor)


@contextmanager
def reporting(feed: Feed, ranges: Sequence[Range], report: Report) -> Iterator[str]:
    """A folder in which tasks note their progress; every few seconds one line reports it for all of them."""
    over = threading.Event()
    began = monotonic()
    with tempfile.TemporaryDirectory(prefix="weir-topics-") as folder:

        def keep_reporting() -> None:
            while not over.wait(INTERVAL):
                report(progress_line(feed, ranges, Path(folder), monotonic() - began))

        reporter = threading.Thread(target=keep_reporting, daemon=True)
        reporter.start()
        try:
            yield folder
        finally:
            over.set()
            reporter.join()


def progress_line(feed: Feed, ranges: Sequence[Range], folder: Path, seconds: float) -> str:
    """How many offsets are read of how many: of all partitions, and of the first few that are not finished."""
    done: dict[str, int] = {}
    for file in folder.glob("*/*"):
        name = f"{file.parent.name}/{file.name.partition('.')[0]}"
        # A task may be just writing it.
        done[name] = done.get(name, 0) + int(file.read_text() or 0)
    total, read = sum(one.size for one in ranges), sum(done.values())
    going = [
        f"{one.partition.name} {done.get(one.partition.name, 0):,} of {one.size:,}"
        for one in ranges
        if done.get(one.partition.name, 0) < one.size
    ]
    some = ", ".join(going[:_SHOWN]) + (", …" if len(going) > _SHOWN else "")
    return f"bronze.{feed.name}: {read:,} of {counted(total, 'offset')} read in {seconds:.0f} s" + (
        f" ({some})" if going else ", writing"
    )
