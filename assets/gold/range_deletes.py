"""The range deletes of one gold table (truncates, star deletes, dropped columns), and whom they reach."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from typing import Final, NamedTuple

import pyarrow as pa

from assets.wording import counted
from transforms.change import Change
from transforms.column_types.map_columns import maps
from transforms.gold.fold_rows import SILVER_COLUMNS, in_microseconds
from transforms.gold.range_deletes import RangeDelete

SNAPSHOT: Final = "complete snapshot"
"""What the operation is called of the rows that a complete snapshot does not name."""

SHOWN = 5
"""How many of a run are named one by one, the widest first and then those that did most; the others are summed up."""

READ: Final = (*SILVER_COLUMNS, "is_new", "operation", "window", "object", "line")
"""The columns of silver that are read of a range delete."""

_LOCATION: Final = ("operation", "window", "object", "line")


class SourceLocation(NamedTuple):
    """Where a change came from, for reports: what the source did, and the window, object and line that hold it."""

    operation: str
    window: str
    object: str
    line: int


@dataclass(frozen=True, slots=True)
class RangeDeletes:
    """A table's range deletes.

    ``every``: all deliveries; ``change.is_past`` marks those of earlier windows. ``by_event``: one delivery of each
    event. ``source_locations``: where each event comes from. ``windows``: those that brought it.
    """

    every: Sequence[RangeDelete] = ()
    by_event: Mapping[str, RangeDelete] = field(default_factory=dict)
    source_locations: Mapping[str, SourceLocation] = field(default_factory=dict)
    windows: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def without(self, events: Collection[str]) -> RangeDeletes:
        """The same without some events."""
        if not events:
            return self
        return replace(
            self,
            every=[one for one in self.every if one.change.event_id not in events],
            by_event={name: one for name, one in self.by_event.items() if name not in events},
        )


def of_rows(rows: pa.Table) -> RangeDeletes:
    """The range deletes of one table, from all rows of silver that have a ``scope`` and count (``READ``)."""
    every: list[RangeDelete] = []
    by_event: dict[str, RangeDelete] = {}
    source_locations: dict[str, SourceLocation] = {}
    windows: dict[str, frozenset[str]] = {}
    for batch in rows.combine_chunks().to_batches():
        locations = zip(*(batch.column(name).to_pylist() for name in _LOCATION), strict=True)
        for change, at in zip(_read(batch), starmap(SourceLocation, locations), strict=True):
            every.append(change)
            event_id = change.change.event_id
            known = by_event.get(event_id)
            if known is None or known.change.is_past:
                # Of several deliveries a new one says that the event is new.
                by_event[event_id] = change
            windows[event_id] = windows.get(event_id, frozenset()) | {at.window}
            source_locations[event_id] = min(
                source_locations.setdefault(event_id, at), at, key=lambda one: one[1:]
            )
    return RangeDeletes(every, by_event, source_locations, windows)


def _read(batch: pa.RecordBatch) -> Iterator[RangeDelete]:
    names = ("stream", "is_new", "effect", "log_position", "dedup_prefix", "event_id", "operation")
    cells = zip(*(batch.column(name).to_pylist() for name in names), strict=True)
    times = in_microseconds(batch.column("event_at")).to_pylist()
    images = zip(
        *(maps(batch.column(name)) for name in ("before", "after", "attribute_ops", "scope")),
        strict=True,
    )
    for row, at, (before, after, operations, scope) in zip(cells, times, images, strict=True):
        stream, is_new, effect, log_position, prefix, event_id, operation = row
        assert scope is not None  # no others were asked for
        change = Change(
            *(effect, tuple(log_position), prefix, event_id, at),
            *(before or {}, after or {}, operations or {}),
            is_range_delete=True,
            is_derived=True,
            is_past=not is_new,
            stream=stream,
        )
        yield RangeDelete(scope, stream, change, operation)


@dataclass(frozen=True, slots=True)
class RangeDeleteEffect:
    """One range delete of a run, or the sum of several (``events``) of one operation, without scope and location.

    ``removed``: how many rows it removed. ``changed``: how many it changed, as a dropped column does.
    """

    operation: str
    scope: str
    source_location: str
    removed: int
    changed: int
    events: int = 1

    @property
    def is_of_some_rows(self) -> bool:
        """Whether its scope is less than the whole table."""
        return self.scope != WHOLE


WHOLE: Final = "{}"
"""The scope of a delete of the whole table."""


def effects_of(
    deletes: RangeDeletes, removed: Counter[str], changed: Counter[str]
) -> tuple[RangeDeleteEffect, ...]:
    """The effects of a table's range deletes, by event, of which tasks have counted what rows each changed."""
    found = [
        (range_delete, deletes.source_locations[event_id], removed[event_id], changed[event_id])
        for event_id, range_delete in deletes.by_event.items()
        if removed[event_id]
        or changed[event_id]
        # A snapshot that names every row is nothing to tell of, and no delete of some rows that met none.
        or not (
            range_delete.scope
            or range_delete.change.is_past
            or deletes.source_locations[event_id].operation == SNAPSHOT
        )
    ]
    found.sort(key=lambda one: (len(one[0].scope), -(one[2] + one[3]), one[1][1:]))
    return summed_up(
        [
            RangeDeleteEffect(
                source_location.operation,
                json.dumps(range_delete.scope, ensure_ascii=False, separators=(",", ":")),
                f"{source_location.object} line {source_location.line}"
                if source_location.line
                else source_location.object,
                *(gone, other),
            )
            for range_delete, source_location, gone, other in found
        ]
    )


def summed_up(every: Sequence[RangeDeleteEffect]) -> tuple[RangeDeleteEffect, ...]:
    """The first ``SHOWN`` of these effects, and the others in one sum per operation."""
    if len(every) <= SHOWN:
        return tuple(every)
    sums: dict[str, RangeDeleteEffect] = {}
    for one in every[SHOWN:]:
        known = sums.get(one.operation, RangeDeleteEffect(one.operation, "", "", 0, 0, 0))
        sums[one.operation] = replace(
            known,
            removed=known.removed + one.removed,
            changed=known.changed + one.changed,
            events=known.events + 1,
        )
    return (*every[:SHOWN], *(sums[name] for name in sorted(sums)))


def effect_lines(effects: tuple[RangeDeleteEffect, ...]) -> list[str]:
    """One line for each effect."""
    lines = []
    for one in effects:
        of = "of the whole table" if one.scope == WHOLE else f"of {one.scope}"
        what = f"{one.operation} {of} ({one.source_location})"
        if not one.source_location:
            what = f"{one.events:,} more of {one.operation}"
        did = f"removed {counted(one.removed, 'row')}"
        if one.operation == SNAPSHOT:
            did += " that it does not name"
        if one.changed:
            did = f"changed {counted(one.changed, 'row')}"
        lines.append(f"{what} {did}")
    return lines
