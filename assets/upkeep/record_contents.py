"""What is in records of quarantine: the payloads of many, from wherever each is, without Spark.

Put here which of a record's payloads a list shows. Not here: how a payload reads (``bookkeeping/quarantine/words``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assets.bookkeeping.quarantine import words
from assets.bookkeeping.quarantine.payloads import payloads
from assets.bookkeeping.quarantine.records import QuarantinedRecord
from assets.lake import Lake
from assets.layers import Layer
from assets.upkeep.repairing import bronze_rows
from transforms.feed.decisions import SourceLocation
from transforms.feed.feed import Feed


def contents_of(
    lake: Lake, feed: Feed, shown: Sequence[QuarantinedRecord]
) -> Mapping[SourceLocation, bytes | None]:
    """The payloads of records: what quarantine has of those that are there, and what was given for the others.

    Those of a feed that masks columns are not shown.
    """
    if feed.masks_columns:
        return words.hidden(shown)
    there = [one for one in shown if one.state != "repaired"]
    given = {
        one.source_location: one.replacement.payload for one in shown if one.replacement is not None
    }
    rest = [one for one in shown if one.state == "repaired" and one.replacement is None]
    of_bronze = bronze_rows(lake, feed, rest) if rest else {}
    return {
        **{source_location: row["payload"] for source_location, row in of_bronze.items()},
        **given,
        **payloads(lake.in_process_table(Layer.QUARANTINE, feed.name), there),
    }
