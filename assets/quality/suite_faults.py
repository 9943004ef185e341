"""What is wrong with the expectations that a feed declares, before any of them is asked."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql.pandas.types import from_arrow_schema

from assets.columns import layers
from expectations.suites import fault_of
from transforms.errors import FeedMisdeclared
from transforms.feed.feed import DeclaredSuite, Feed
from transforms.gold.folded_rows import rows_schema


def faults_of_suites(feed: Feed) -> list[FeedMisdeclared]:
    """An error for each that there is not, or that has no such arguments; it takes seconds where there are any."""
    found = []
    for suite in feed.suites:
        types = _types(feed, suite)
        for one in suite.expectations:
            fault = fault_of(one, types)
            if fault is not None:
                found.append(FeedMisdeclared(suite.file, one.key, fault.said, fault.known))
    return found


def refuse_unknown(feed: Feed) -> None:
    """Raise where one of the feed's expectations cannot be asked.

    Raises:
        FeedMisdeclared: there is one; the first.
    """
    for fault in faults_of_suites(feed):
        raise fault


def _types(feed: Feed, suite: DeclaredSuite) -> Mapping[str, str]:
    if suite.table is None:
        return {one.name: one.dataType.simpleString() for one in layers.Silver.spark.fields}
    table = feed.tables[suite.table]
    own = from_arrow_schema(rows_schema(table)).fields
    return {**{one.name: one.dataType.simpleString() for one in own}, **table.columns}
