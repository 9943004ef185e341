"""The function that turns a record's events into rows of silver, for a whole feed.

Put here what is done once for a feed, or for all events of one record together: looking up declarations, and deletes
that wait for a decision. Not here: what becomes of a single event (``conform``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias, cast

from transforms.change import HOLD
from transforms.compaction_watermarks import CompactionWatermark
from transforms.event import Event
from transforms.feed.feed import Feed
from transforms.record import BronzeRecord
from transforms.silver.conforming import faults, full_dumps, masking, renames
from transforms.silver.conforming.changes import (
    Row,
)
from transforms.silver.conforming.conform import Conformed
from transforms.silver.conforming.declarations import Declarations
from transforms.silver.epochs import Epochs
from transforms.silver.too_late import is_covered

Conform: TypeAlias = Callable[[BronzeRecord, Sequence[Event]], list[Row]]
"""From a record and its events to their rows, in order."""


def conformer(
    feed: Feed,
    *,
    describes_tables: bool,
    compaction_watermarks: Mapping[str, CompactionWatermark] | None = None,
) -> Conform:
    """The function that applies a feed's declarations to the events of one record; for one process to keep.

    ``describes_tables``: whether the feed's stream may describe tables. ``compaction_watermarks``: of the gold tables
    that have one: what is at or below it keeps its record, for it may be quarantined yet.
    """
    declarations, epochs = Declarations(feed, describes_tables=describes_tables), Epochs(feed)
    holds_drops = any(table.policies.drop_column == "hold" for table in feed.tables.values())
    holds = feed.range_deletes == "hold" or holds_drops
    masks_columns = feed.masks_columns
    released = frozenset(one.event_id for one in feed.decisions.releases)

    def conform(record: BronzeRecord, events: Sequence[Event]) -> list[Row]:
        found: list[Conformed] = []
        for ordinal, event in enumerate(events):
            declaration = declarations.of(
                event.catalog, event.schema, event.name, event.stream_schema
            )
            if masks_columns:
                masking.withhold(event)
            if declaration.renamed:
                renames.with_todays_columns(event, declaration.renamed)
            if declaration.has_full_dumps:
                full_dumps.place(event, record)
            epochs.put(event, declaration.declared, record.window)
            found.append(Conformed(record, event, declaration, ordinal))
        if holds:
            _hold(found, feed, released)
        rows: list[Row] = []
        for one in found:
            rows += one.rows()
        if compaction_watermarks:
            _keep_payloads(rows, record, compaction_watermarks)
        return rows

    return conform


def _keep_payloads(
    rows: Sequence[Row],
    record: BronzeRecord,
    compaction_watermarks: Mapping[str, CompactionWatermark],
) -> None:
    """What is at or below a compaction watermark keeps its record, for it may be quarantined yet."""
    for row in rows:
        if (
            row.fault is None
            and row.log_position is not None
            and is_covered(
                compaction_watermarks.get(row.table or ""),
                cast("tuple[int, ...]", row.log_position),
                row.dedup_prefix,
            )
        ):
            row.payload = record.payload


def _hold(found: Sequence[Conformed], feed: Feed, released: Collection[str]) -> None:
    """Let deletes over a whole table or column wait for a decision; what follows from their record waits, too."""
    if any(_waits(one, feed) and one.event_id not in released for one in found):
        for one in found:
            if one.event.scope is not None:
                one.event.effect = HOLD


def _waits(one: Conformed, feed: Feed) -> bool:
    event = one.event
    if one.scope is None or one.scope or one.event_id is None:
        return False
    is_held_drop = faults.is_column_drop(event) and one.declaration.policies.drop_column == "hold"
    return is_held_drop or (feed.range_deletes == "hold" and event.effect == "remove")
