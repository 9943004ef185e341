"""The range deletes of one gold table (truncates, star deletes, dropped columns), and whom they reach.

Most are for keys of their own stream. Where they reach another's (TigerGraph's, in a feed of several partitions), all
of the feed's silver says where they stand among that stream's changes.
"""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Generic, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from assets.executors.executor import Executor, Frame
from assets.gold.plan import TablePlan
from assets.wording import counted
from transforms.formats import FORMATS
from transforms.gold import fold_rows
from transforms.gold.fold_rows import CROSS_STREAM
from transforms.gold.range_deletes import CollectPositions, Crossing, JoinPositions, RangeDelete
from transforms.source_format import CrossStreamMatcher

SNAPSHOT: Final = "complete snapshot"
"""What the operation is called of the rows that a complete snapshot does not name."""

SHOWN = 5
"""How many of a run are named one by one, the widest first and then those that did most; the others are summed up."""

READ: Final = (*fold_rows.SILVER_COLUMNS, "is_new", "operation", "window", "object", "line")
"""The columns of silver that are read of a range delete."""

EVERYWHERE: Final = (
    *("declared", "effect", "operation", "derived", "scope", "after", "event_at"),
    *("key", "event_id", "stream", "log_position"),
)
"""The columns of silver that are read of all changes of a feed where range deletes reach other streams."""


class SourceLocation(NamedTuple):
    """Where a change came from, for reports: what the source did, and the window, object and line that hold it."""

    operation: str
    window: str
    object: str
    line: int


@dataclass(frozen=True, slots=True)
class AcrossStreams(Generic[Frame]):
    """What decides which keys of other streams a table's range deletes reach.

    ``crossing``: each stream's positions over time. ``positions``: one row (``FOLD_ROWS``) per position of a change in
    another stream than its own, ``is_new`` where the run brings it.
    """

    crossing: Crossing
    positions: Frame


@dataclass(frozen=True, slots=True)
class RangeDeletes(Generic[Frame]):
    """A table's range deletes, and whom they reach.

    ``every``: all deliveries; ``change.is_past`` marks those of earlier windows. ``by_event``: one delivery of each
    event. ``source_locations``: where each event comes from. ``windows``: those that brought it. ``across``: where the
    deletes are among changes of other streams; None where they reach only their own.
    """

    every: Sequence[RangeDelete] = ()
    by_event: Mapping[str, RangeDelete] = field(default_factory=dict)
    source_locations: Mapping[str, SourceLocation] = field(default_factory=dict)
    windows: Mapping[str, frozenset[str]] = field(default_factory=dict)
    across: AcrossStreams[Frame] | None = None

    def without(self, events: Collection[str]) -> RangeDeletes[Frame]:
        """The same without some events."""
        if not events:
            return self
        return replace(
            self,
            every=[one for one in self.every if one.change.event_id not in events],
            by_event={name: one for name, one in self.by_event.items() if name not in events},
        )

    @property
    def have_moved(self) -> bool:
        """Whether what the run brings may have moved range deletes among changes that were there before."""
        return self.across is not None and self.across.crossing.has_moved


def of_rows(rows: pa.Table) -> RangeDeletes[Frame]:
    """The range deletes of one table, from all rows of silver that have a ``scope`` and count (``READ``)."""
    every: list[RangeDelete] = []
    by_event: dict[str, RangeDelete] = {}
    source_locations: dict[str, SourceLocation] = {}
    windows: dict[str, frozenset[str]] = {}
    for batch in rows.combine_chunks().to_batches():
        columns = ("is_new", "operation", "window", "object", "line")
        cells = zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
        for row, (is_new, *source_location) in zip(
            fold_rows.silver_rows(batch), cells, strict=True
        ):
            assert row.range_delete is not None  # no others were asked for
            change = replace(row.change, is_past=not is_new)
            one = replace(row.range_delete, change=change)
            every.append(one)
            known = by_event.get(change.event_id)
            if known is None or known.change.is_past:
                # Of several deliveries a new one says that the event is new.
                by_event[change.event_id] = one
            at = SourceLocation(*source_location)
            windows[change.event_id] = windows.get(change.event_id, frozenset()) | {at.window}
            source_locations[change.event_id] = min(
                source_locations.setdefault(change.event_id, at), at, key=lambda one: one[1:]
            )
    return RangeDeletes(every, by_event, source_locations, windows)


def cross_stream_matcher(plan: TablePlan) -> CrossStreamMatcher | None:
    """What recognizes messages that say where the table's changes are in other streams; None where there are none."""
    matcher_of = FORMATS[plan.feed.format].cross_stream_matcher
    return None if matcher_of is None else matcher_of(plan.feed, plan.table.name)


def across_streams(
    executor: Executor[Frame], plan: TablePlan, range_deletes: Iterable[RangeDelete], silver: Frame
) -> AcrossStreams[Frame]:
    """Whom the range deletes of a table reach in other streams.

    Args:
        executor: Who runs it.
        plan: What is known of the table.
        range_deletes: Its range deletes.
        silver: All rows of the feed (``EVERYWHERE``), with ``is_new`` and ``is_derived``.
    """
    far = cross_stream_matcher(plan)
    collected = executor.staged(silver, CollectPositions(far))
    together = executor.sorted(collected, ("kind", "group"), ("log_position",))
    found = executor.kept(executor.staged(together, JoinPositions(moments_of(range_deletes))))
    joined = executor.collected(executor.filled(found, "clock"))
    clocks = {
        stream: pickle.loads(clock)
        for stream, clock in zip(
            joined["stream"].to_pylist(), joined["clock"].to_pylist(), strict=True
        )
    }
    names = ("key", "event_id", "stream", "log_position", "is_new")
    positions = executor.select(executor.empty(found, "clock"), {one: one for one in names})
    crossing = Crossing(clocks, far.column if far else None)
    return AcrossStreams(crossing, executor.shaped(positions, CROSS_STREAM))


def moments_of(range_deletes: Iterable[RangeDelete]) -> frozenset[int]:
    """The times of range deletes, in microseconds since 1970: each stream's position at these has to be known."""
    return frozenset(
        one.change.event_at
        for one in range_deletes
        if one.stream is not None and one.change.event_at is not None
    )


def with_derived(rows: pa.Table) -> pa.Table:
    """Rows of silver (``EVERYWHERE``) with ``is_derived``, and their times in microseconds since 1970 (UTC)."""
    both = pc.or_(pc.is_valid(rows["derived"]), pc.is_valid(rows["scope"]))
    at = rows["event_at"].cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    named = rows.append_column("is_derived", both)
    return named.set_column(named.column_names.index("event_at"), "event_at", at)


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
    range_deletes: Mapping[str, RangeDelete],
    source_locations: Mapping[str, SourceLocation],
    removed: Counter[str],
    changed: Counter[str],
) -> tuple[RangeDeleteEffect, ...]:
    """The effects of a run whose tasks have counted them.

    Args:
        range_deletes: All of the table's, by event.
        source_locations: Where each of them comes from, by event.
        removed: How many rows each event removed.
        changed: How many rows each event changed otherwise.
    """
    found = [
        (range_delete, source_locations[event_id], removed[event_id], changed[event_id])
        for event_id, range_delete in range_deletes.items()
        if removed[event_id]
        or changed[event_id]
        # A snapshot that names every row is nothing to tell of, and no delete of some rows that met none.
        or not (
            range_delete.scope
            or range_delete.change.is_past
            or source_locations[event_id].operation == SNAPSHOT
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
