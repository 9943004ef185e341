"""Whether a table's scoped changes may reach keys of other streams: only where its feed's changes come from several.

Put here what decides that the places of changes in other streams are asked for. Not here: those places
(``cross_stream_deletes``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import functions as F

from assets.bookkeeping import accounting
from assets.lake import Lake
from assets.layers import Layer
from transforms.change_kinds import ChangeKinds, streams_of
from transforms.feed.feed import Feed
from transforms.formats import FORMATS

SEVERAL: Final = 2
"""From so many streams on, a scoped change of one has to be placed among the changes of another."""


def crosses(feed: Feed, change_kinds: ChangeKinds) -> bool:
    """Whether scoped changes of a table may reach keys of other streams, if its feed has several streams."""
    by_format = FORMATS[feed.format].crosses_streams
    return by_format and any(shape.of_stream for shape in change_kinds.scopes)


def has_several_streams(lake: Lake, feed: Feed) -> bool:
    """Whether a feed's changes came from several streams.

    The accounts say it, but for windows that an earlier version of Weir derived: for these silver is read.
    """
    by_accounts = _Streams.by_accounts(lake, feed)
    streams = by_accounts.known
    if len(streams) < SEVERAL and by_accounts.unknown:
        silver = lake.table(Layer.SILVER, feed.name).read()
        is_asked = F.col("window").isin(sorted(by_accounts.unknown)) & F.col("stream").isNotNull()
        rows = silver.where(is_asked).select("stream").distinct().limit(SEVERAL).collect()
        streams = streams | {row["stream"] for row in rows}
    return len(streams) >= SEVERAL


def may_have_several_streams(lake: Lake, feed: Feed) -> bool:
    """Whether ``has_several_streams`` is true, as far as the accounts say; also true where only silver could say."""
    by_accounts = _Streams.by_accounts(lake, feed)
    return len(by_accounts.known) >= SEVERAL or bool(by_accounts.unknown)


@dataclass(frozen=True, slots=True)
class _Streams:
    """Streams that a feed's changes came from (``known``), and windows whose accounts do not say it (``unknown``)."""

    known: frozenset[str]
    unknown: frozenset[str]

    @classmethod
    def by_accounts(cls, lake: Lake, feed: Feed) -> _Streams:
        rows = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
        known: set[str] = set()
        unknown: set[str] = set()
        for row in rows.rows(["window", "change_kinds"]):
            streams = streams_of(row["change_kinds"] or ())
            if streams is None:
                unknown.add(row["window"])
            else:
                known |= streams
        return cls(frozenset(known), frozenset(unknown))
