"""Offsets of topics that were read and held no record, and the check of them.

Kafka gives no record at the offset of a transaction's end, at those of an aborted transaction, and where compaction or
an operator removed one; a consumer cannot tell these apart. So nobody is warned who has not asked for it. Put here how
such offsets are counted. Not here: the rule (``expectations/bronze.py``), and reading (``from_topics``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import dagster as dg

from assets import checks
from assets.asset_keys import feed_key
from assets.checks import Counted, kept_counts
from assets.lake import Lake
from assets.landing.kafka.offset_ranges import Range
from expectations.bronze import OFFSETS_HAVE_NO_GAP
from expectations.feed_rules import bronze_rules
from transforms.display.markdown import bullets
from transforms.feed.feed import Feed


def gaps_in(
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
    """The checks of the feed's bronze, of topics or of files: none, unless its file asks for them."""
    return checks.specs(feed_key("bronze", feed).path, bronze_rules(feed))


def offset_checks(
    lake: Lake, feed: Feed, gaps: Mapping[str, int], windows: Sequence[str]
) -> list[dg.AssetCheckResult]:
    """Their results, kept in the warehouse."""
    lines = bullets(f"{name}: {missing:,} without a record" for name, missing in gaps.items())
    name = OFFSETS_HAVE_NO_GAP.name
    found = Counted(bronze_rules(feed), {name: sum(gaps.values())}, {name: lines})
    return kept_counts(lake, feed, feed_key("bronze", feed).path, found, windows)
