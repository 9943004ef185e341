"""The scoped changes of one gold table (truncates, star deletes, dropped columns), collected into this process.

Put here what a run knows of them before it folds. Not here: which keys a scope has (``transforms/gold/scopes.py``),
whom they reach in other streams (``cross_stream_deletes``), and what they did (``scoped_delete_effects``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from assets.arrow.gold import read_changes
from assets.gold.changes import cross_stream_deletes
from assets.gold.changes.cross_stream_deletes import CrossStreamDeletes
from assets.gold.changes.table_changes import TableChanges
from assets.gold.changes.visible_changes import Place
from transforms.feed.feed import Feed
from transforms.gold.scopes import Scoped


@dataclass(frozen=True, slots=True)
class Scoping:
    """A table's scoped changes, and whom they reach.

    ``every``: all deliveries; ``change.is_past`` marks those of earlier windows. ``by_event``: one delivery of each
    event. ``places``: where each event comes from. ``across_streams``: where the changes are among those of other
    streams; None where they reach only their own.
    """

    every: Sequence[Scoped] = ()
    by_event: Mapping[str, Scoped] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    across_streams: CrossStreamDeletes | None = None


def of_changes(feed: Feed, table_changes: TableChanges) -> Scoping:
    """The scoped changes of one table: they are few, so that they fit into this process."""
    if not table_changes.change_kinds.scopes:
        return Scoping()
    wanted = [*read_changes.COLUMNS, "is_new", "operation", "window", "object", "line"]
    rows = table_changes.scoped.select(*wanted).toArrow().combine_chunks()
    every: list[Scoped] = []
    by_event: dict[str, Scoped] = {}
    places: dict[str, Place] = {}
    for batch in rows.to_batches():
        columns = ("is_new", "operation", "window", "object", "line")
        cells = zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
        for row, (is_new, *place) in zip(read_changes.silver_rows(batch), cells, strict=True):
            assert row.scoped is not None  # no others were asked for
            change = replace(row.change, is_past=not is_new)
            one = replace(row.scoped, change=change)
            every.append(one)
            known = by_event.get(change.event_id)
            if known is None or known.change.is_past:
                # Of several deliveries a new one says that the event is new.
                by_event[change.event_id] = one
            at = Place(*place)
            places[change.event_id] = min(
                places.setdefault(change.event_id, at), at, key=lambda one: one[1:]
            )
    if not table_changes.crosses:
        return Scoping(every, by_event, places)
    across_streams = cross_stream_deletes.read_by_spark(
        feed, table_changes.table, every, table_changes.everywhere
    )
    return Scoping(every, by_event, places, across_streams)
