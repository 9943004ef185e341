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
    """Whether scoped changes of a table may reach keys of other streams."""
    by_format = FORMATS[feed.format].crosses_streams
    return by_format and any(shape.of_stream for shape in change_kinds.scopes)


def has_streams(lake: Lake, feed: Feed) -> bool:
    """Whether a feed's changes came from several streams: most have one, and there no delete has anywhere to go.

    The accounts say it. Of windows that an earlier version of Weir derived silver is asked.
    """
    known = _Streams.by_accounts(lake, feed)
    met = known.met
    if len(met) < SEVERAL and known.untold:
        silver = lake.table(Layer.SILVER, feed.name).read()
        told = F.col("window").isin(sorted(known.untold)) & F.col("stream").isNotNull()
        rows = silver.where(told).select("stream").distinct().limit(SEVERAL).collect()
        met = met | {row["stream"] for row in rows}
    return len(met) >= SEVERAL


def may_have_streams(lake: Lake, feed: Feed) -> bool:
    """Whether the same is so, or could only be told by silver."""
    known = _Streams.by_accounts(lake, feed)
    return len(known.met) >= SEVERAL or bool(known.untold)


@dataclass(frozen=True, slots=True)
class _Streams:
    """Streams that a feed's changes came from, and the windows whose accounts do not tell them."""

    met: frozenset[str]
    untold: frozenset[str]

    @classmethod
    def by_accounts(cls, lake: Lake, feed: Feed) -> _Streams:
        rows = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
        met: set[str] = set()
        untold: set[str] = set()
        for row in rows.rows(["window", "change_kinds"]):
            told = streams_of(row["change_kinds"] or ())
            if told is None:
                untold.add(row["window"])
            else:
                met |= told
        return cls(frozenset(met), frozenset(untold))
