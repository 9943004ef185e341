"""Operations that a source says it has written, and that are not between the records of its files; and the check.

Sources number their operations by running totals, of which no page says whether they go on over a restart, or are one
for each table. So an object is looked at by itself, and only a jump in both readings is a gap; and nobody is warned who
has not asked for it. Put here how such gaps are found. Not here: the rule (``expectations/bronze.py``), and what a
record's totals are (``transforms/families``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import dagster as dg
import pyarrow as pa

from assets.asset_keys import feed_key
from assets.checks import Counted, kept_counts
from assets.columns.bronze import BRONZE_ARROW
from assets.lake import Lake
from assets.layers import Layer
from expectations.bronze import OPERATION_COUNTS_HAVE_NO_GAP
from expectations.feed_rules import bronze_rules
from transforms.display.markdown import bullets
from transforms.feed.feed import Feed
from transforms.formats import FORMATS

SHOWN = 10
"""So many of the gaps are named."""

_READ = pa.schema(
    [BRONZE_ARROW.field(name) for name in ("object", "generation", "line", "payload")]
)


@dataclass(frozen=True, slots=True)
class Gap:
    """Before this line of an object so many operations are missing, by the totals of its source."""

    object: str
    line: int
    missing: int


@dataclass(frozen=True, slots=True)
class Counting:
    """A record that says how many operations there were with it, of its table or of all."""

    line: int
    table: str
    total: int


def gaps_in(name: str, records: Iterable[Counting]) -> list[Gap]:
    """The gaps between the records of one object, in the order in which they stand.

    A total that falls or stays begins again or repeats an operation, and is no gap.
    """
    found = []
    before: int | None = None
    of_table: dict[str, int] = {}
    for one in sorted(records, key=lambda record: record.line):
        lasts = (before, of_table.get(one.table))
        known = [last for last in lasts if last is not None]
        # The first record of a table says nothing: it may have totals of its own.
        if len(known) == len(lasts) and all(one.total > last + 1 for last in known):
            found.append(Gap(name, one.line, one.total - 1 - max(known)))
        before = of_table[one.table] = one.total
    return found


def operation_gaps(lake: Lake, feed: Feed, windows: Sequence[str]) -> list[Gap]:
    """The gaps in all objects of these windows; nothing is read where nobody asks for them."""
    so_far = FORMATS[feed.format].operations_so_far
    if so_far is None or not bronze_rules(feed):
        return []
    objects = defaultdict[tuple[str, str], list[Counting]](list)
    for rows in lake.local_table(Layer.BRONZE, feed.name).each(_READ, windows):
        for row in rows.to_pylist():
            said = None if row["payload"] is None else so_far(row["payload"])
            if said is not None:
                objects[row["object"], row["generation"]].append(Counting(row["line"], *said))
    return [gap for (name, _), some in sorted(objects.items()) for gap in gaps_in(name, some)]


def operation_checks(
    lake: Lake, feed: Feed, gaps: Sequence[Gap], windows: Sequence[str]
) -> list[dg.AssetCheckResult]:
    """The result of the check, kept in the warehouse; none where nobody asks for it."""
    lines = [
        f"{gap.object} line {gap.line}: {gap.missing:,} missing before it" for gap in gaps[:SHOWN]
    ]
    name = OPERATION_COUNTS_HAVE_NO_GAP.name
    missing = sum(gap.missing for gap in gaps)
    found = Counted(bronze_rules(feed), {name: missing}, {name: bullets(lines)})
    return kept_counts(lake, feed, feed_key("bronze", feed).path, found, windows)
