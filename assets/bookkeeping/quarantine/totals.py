"""How much is in quarantine: events by reason, and how many records wait for somebody; without payloads and Spark.

Put here what is counted over all of quarantine. Not here: what is known of each record (``records``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping.quarantine.source_locations import (
    SOURCE_LOCATIONS,
    source_locations_of,
    without,
)
from assets.columns.silver import QUARANTINE_ARROW
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.decisions import SourceLocation
from transforms.feed.feed import Feed
from transforms.record import SOURCE_LOCATION
from transforms.silver.too_late import REASON

_READ = pa.schema([QUARANTINE_ARROW.field(name) for name in (*SOURCE_LOCATION, "reason")])

AT_ONCE = 50_000
"""About so many rows are counted together."""


@dataclass(frozen=True, slots=True)
class Totals:
    """``reasons``: how many events are in quarantine, by reason; ``dismissed``: how many of these somebody gave up.

    ``open_records``: how many records wait for somebody, however many of their events are quarantined.
    """

    reasons: Mapping[str, int]
    dismissed: int
    open_records: int

    @property
    def open_events(self) -> int:
        """How many events wait for somebody: none that came too late, and none that is dismissed."""
        return sum(self.reasons.values()) - self.reasons.get(REASON, 0) - self.dismissed


def totals(lake: Lake, feed: Feed, windows: Collection[str] | None = None) -> Totals:
    """What quarantine has in all, or of some windows; ``feed``: with its recorded decisions."""
    reasons, dismissed = Counter[str](), 0
    source_locations = [SOURCE_LOCATIONS.empty_table()]
    given_up = feed.decisions.dismissed()
    where = None if windows is None else {"window": windows}
    quarantine = lake.in_process_table(Layer.QUARANTINE, feed.name)
    for rows in _some_at_once(quarantine.each(_READ, where)):
        counts = rows["reason"].value_counts().to_pylist()
        reasons.update({one["values"]: one["counts"] for one in counts})
        undecided = rows.filter(pc.not_equal(rows["reason"], REASON))
        open_rows = rows_to_decide(undecided, given_up)
        dismissed += undecided.num_rows - open_rows.num_rows
        source_locations.append(_distinct(open_rows))
    # Some files have a record once now; another file of its window may have it, too.
    return Totals(dict(reasons), dismissed, _distinct(pa.concat_tables(source_locations)).num_rows)


def _some_at_once(files: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The rows of some files together: a window has a few, and counting them costs much the same as counting many."""
    held: list[pa.Table] = []
    for rows in files:
        held.append(rows)
        if sum(map(len, held)) >= AT_ONCE or len(held) >= AT_ONCE // 100:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


def rows_to_decide(rows: pa.Table, dismissed: Collection[SourceLocation]) -> pa.Table:
    """Those rows of quarantine that wait for somebody: not too late for compacted history, and not dismissed."""
    return without(
        rows.filter(pc.not_equal(rows["reason"], REASON)), source_locations_of(dismissed)
    )


def _distinct(rows: pa.Table) -> pa.Table:
    return rows.group_by(list(SOURCE_LOCATION)).aggregate([]).cast(SOURCE_LOCATIONS)
