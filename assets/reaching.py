"""Scoped changes of one stream that reach keys of another by time.

TigerGraph's are the only ones so far. Not here: where they stand among those keys' changes
(``assets/gold_columns/streams.py``).
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets import tigergraph_places
from assets.gold_columns import streams
from transforms.change_kinds import ChangeKinds
from transforms.feed import Feed, Table
from transforms.formats import FORMATS


def spread(
    feed: Feed, table: Table, change_kinds: ChangeKinds, changes: DataFrame, silver: DataFrame
) -> DataFrame | None:
    """The scoped changes that reach keys of other streams (``streams.spread``); None where none can.

    What was delivered several times is there several times; the fold takes it once.
    """
    crosses = FORMATS[feed.format].crosses_streams
    if not crosses or not any(shape.of_stream for shape in change_kinds.scopes):
        return None
    # Most feeds have one partition, and there no delete has anywhere to go.
    if not has_streams(silver):
        return None
    places = tigergraph_places.elsewhere(silver, feed, table.name)
    found = streams.spread(changes, silver, change_kinds.scopes, table.identity, places)
    # Asked for more than once.
    return found.localCheckpoint()


def has_streams(silver: DataFrame) -> bool:
    """Whether a feed's changes came from several streams."""
    return silver.where("stream IS NOT NULL").select("stream").distinct().limit(2).count() > 1


def digest(spread: DataFrame | None) -> str:
    """One short text for which changes reach which keys, and where they stand there; empty where none does."""
    if spread is None:
        return ""
    each = spread.select("key", "event_id", "position").distinct()
    row = each.agg(
        F.count("*").alias("number"),
        F.bit_xor(F.xxhash64("key", "event_id", "position")).alias("digest"),
    ).first()
    assert row is not None  # an aggregate without groups has one row
    return f"{row['number']}/{row['digest']}" if row["number"] else ""
