"""Why a row is as it is: every event of one key in the order in which they apply, and what each did.

The fold that made the row is run once more for this key, and its state is kept after every step. Put here what a person
may want to know of one key. Not here: finding its events (``key_events``), and how the answer is printed
(``orchestration/cli/explain.py``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from assets.audit import key_events
from assets.audit.explain_story import Base, Delivery, Ignored, KeyStory, Step, Waiting
from assets.audit.key_events import KeyEvents, Row
from assets.bookkeeping import decisions
from assets.bookkeeping.compacted import bases
from assets.bookkeeping.quarantine.records import id_of
from assets.bookkeeping.quarantine.words import ID
from assets.columns.silver import QUARANTINE_ARROW
from assets.lake import Lake
from assets.layers import Layer
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.decisions import SourceLocation
from transforms.feed.feed import Feed, Table
from transforms.gold.fold import Fold
from transforms.gold.state import State
from transforms.types import judge_of


def explained(
    lake: Lake, feed: Feed, table: Table, name: str, key: Sequence[str | None]
) -> KeyStory:
    """Everything that happened to one key of one gold table, in the order in which it applies.

    Args:
        lake: the warehouse.
        feed: the feed as its file declares it; recorded decisions are added.
        table: the declared table.
        name: the gold table.
        key: its parts in the order of ``table.identity``, as a person writes them.
    """
    feed = decisions.with_recorded(lake, feed)
    key = canonical(table, key)
    known = key_events.events_of(lake, feed, table, name, tuple(key))
    counted = {one.event_id for one in known.changes}
    compaction_watermark = bases.compaction_watermarks(lake, feed).get(name)
    return KeyStory(
        tuple(key),
        tuple(_steps(feed, Fold.of(table), known, list(key))),
        tuple(_waiting(feed, one) for one in known.waiting if one["event_id"] not in counted),
        (*_held(feed, known.held), *_quarantined(lake, feed, name, list(key))),
        None if compaction_watermark is None else _base(compaction_watermark, known.before),
    )


def canonical(table: Table, key: Sequence[str | None]) -> list[str | None]:
    """The key as silver writes it: ``042`` is the int 42. A part that has not its column's type stays as it is."""
    kinds = [table.columns[column] for column in table.identity]
    return [
        part if part is None else judge_of(kind)(part) or part
        for part, kind in zip(key, kinds, strict=True)
    ]


def _base(compaction_watermark: CompactionWatermark, state: State) -> Base:
    if state.effect == "remove":
        return Base(compaction_watermark.log_position, None, 0)
    return Base(compaction_watermark.log_position, state.columns, state.copies)


def _steps(feed: Feed, fold: Fold, known: KeyEvents, key: list[str | None]) -> Iterator[Step]:
    state, rows = known.before, defaultdict[str, list[Row]](list)
    for row in known.rows:
        rows[row["event_id"]].append(row)
    positions = Counter(one.log_position for one in known.changes)
    for change in known.changes:
        state = fold.step(state, change)
        of_event = rows[change.event_id]
        # A key change is two rows of one event: the one for this key tells its story.
        mine = next((row for row in of_event if row["key"] in (key, None)), of_event[0])
        deliveries = {_delivery(feed, row) for row in of_event}
        yield Step(
            operation=mine["operation"],
            effect=mine["effect"],
            log_position=change.log_position,
            event_at=mine["event_at"],
            attribute_ops=mine["attribute_ops"],
            before_image=mine["before"],
            after_image=mine["after"],
            scope=mine["scope"],
            moved_from=mine["moved_from"],
            derived=mine["derived"],
            is_tied=positions[change.log_position] > 1,
            counted=state.last is not None and state.last.event_id == change.event_id,
            row=None if state.effect == "remove" else state.columns,
            copies=state.copies,
            deliveries=tuple(sorted(deliveries, key=_order)),
        )


def _waiting(feed: Feed, row: Row) -> Waiting:
    return Waiting(row["operation"], row["transaction"]["id"], _delivery(feed, row))


def _held(feed: Feed, held: Sequence[Row]) -> list[Ignored]:
    """The range deletes over the whole table that wait for a decision."""
    return [
        Ignored("held", f"{row['operation']} waits for `weir release`", _delivery(feed, row))
        for row in held
        if row["scope"] == {}
    ]


def _quarantined(lake: Lake, feed: Feed, name: str, key: list[str | None]) -> list[Ignored]:
    """The key's events in quarantine, those that came too late included."""
    quarantined = lake.in_process_table(Layer.QUARANTINE, feed.name).each(_QUARANTINED)
    mine = [
        row
        for rows in quarantined
        for row in rows.filter(pc.equal(rows["table"], name)).to_pylist()
        if row["key"] == key
    ]
    mine.sort(key=lambda row: (row["window"], row["object"], row["line"]))
    dismissed = feed.decisions.dismissed()
    return [
        Ignored(
            row["reason"],
            row["detail"] + ("; dismissed" if _source_location(row) in dismissed else ""),
            _delivery(feed, row),
        )
        for row in mine
    ]


_QUARANTINED = pa.schema([one for one in QUARANTINE_ARROW if one.name not in ("feed", "payload")])


def _source_location(row: Row) -> SourceLocation:
    return row["object"], row["generation"], row["line"], row["byte_offset"]


def _delivery(feed: Feed, row: Row) -> Delivery:
    repaired = ""
    if feed.decisions.replacements and (
        given := feed.decisions.replaced().get(_source_location(row))
    ):
        by = f" by {given.by}" if given.by else ""
        why = f": {given.reason}" if given.reason else ""
        repaired = (
            f"the record was repaired{by} at {given.at:%Y-%m-%d %H:%M} UTC{why}; its original:"
            f" `weir quarantine show {feed.name} {id_of(given.source_location)[:ID]}`"
        )
    return Delivery(row["window"], row["object"], row["line"], repaired)


def _order(one: Delivery) -> tuple[str, str, int, str]:
    return one.window, one.object, one.line, one.repaired
