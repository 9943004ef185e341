"""Why a row is as it is: every event of one key in the order in which they apply, and what each did.

The fold that made the row is run once more for this key, and its state is kept after every step.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.bronze import source_rows
from assets.columns import gold, layers, silver
from assets.control import compacted, decisions
from assets.executors.in_process import InProcess
from assets.executors.spark import InSpark
from assets.gold.fold import TableFold
from assets.gold.plan import TablePlan, plan_of
from assets.gold.silver_by_spark import SilverBySpark
from assets.gold.silver_in_process import SilverInProcess, TooLarge, in_gold
from assets.quarantine.records import id_of, source_location_of
from assets.quarantine.words import ID
from assets.storage.lake import Lake, Layer
from transforms.change import HOLD, Change, Key
from transforms.column_types.registry import column_type
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed, Table
from transforms.gold.fold import ABSENT, Fold, State
from transforms.record import SOURCE_LOCATION


def explained(
    lake: Lake, feed: Feed, table: Table, name: str, key: Sequence[str | None]
) -> KeyStory:
    """Everything that happened to one key of one gold table (``name``), in the order in which it applies.

    ``key``: its parts in the order of ``table.identity``, as a person writes them.
    """
    feed = decisions.with_recorded(lake, feed)
    key = canonical(table, key)
    known = events_of_key(lake, feed, table, name, tuple(key))
    counted = {one.event_id for one in known.changes}
    notes = source_rows.notes_on(lake, feed, [*known.rows, *known.waiting])
    compaction_watermark = compacted.compaction_watermarks(lake, feed).get(name)
    return KeyStory(
        tuple(key),
        tuple(_steps(feed, Fold.of(table), known, list(key), notes)),
        tuple(
            Waiting(one["operation"], one["transaction"]["id"], _delivery(feed, one))
            for one in known.waiting
            if one["event_id"] not in counted
        ),
        (*_held(feed, known.held), *_quarantined(lake, feed, name, list(key))),
        None if compaction_watermark is None else _base(compaction_watermark, known.before),
    )


def canonical(table: Table, key: Sequence[str | None]) -> list[str | None]:
    """The key as silver writes it: ``042`` is the int 42. A part that has not its column's type stays as it is."""
    kinds = [table.columns[column] for column in table.identity]
    return [
        part if part is None else column_type(kind).judge(part) or part
        for part, kind in zip(key, kinds, strict=True)
    ]


def _base(compaction_watermark: CompactionWatermark, state: State) -> Base:
    if state.effect == "remove":
        return Base(compaction_watermark.log_position, None, 0)
    columns, copies = state.columns, state.copies
    return Base(compaction_watermark.log_position, columns, copies, is_deleted=state.is_deleted)


def _steps(
    feed: Feed, fold: Fold, known: KeyEvents, key: list[str | None], notes: Mapping[str, str]
) -> Iterator[Step]:
    state, rows = known.before, defaultdict[str, list[Row]](list)
    for row in known.rows:
        rows[row["event_id"]].append(row)
    positions = Counter(one.log_position for one in known.changes)
    for change in known.changes:
        state = fold.step(state, change)
        of_event = rows[change.event_id]
        # A key change is two rows of one event: the one for this key tells its story.
        mine = next((row for row in of_event if row["key"] in (key, None)), of_event[0])
        deliveries = {_delivery(feed, row, notes.get(row["object"], "")) for row in of_event}
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
            deliveries=tuple(sorted(deliveries)),
            is_deleted=state.is_deleted,
        )


def _held(feed: Feed, held: Sequence[Row]) -> list[Ignored]:
    """The range deletes over the whole table that wait for a decision."""
    return [
        Ignored("held", f"{row['operation']} waits for `weir release`", _delivery(feed, row))
        for row in held
        if row["scope"] == {}
    ]


def _quarantined(lake: Lake, feed: Feed, name: str, key: list[str | None]) -> list[Ignored]:
    """The key's events in quarantine, those that came too late included."""
    columns = [one for one in layers.Quarantine.sentences if one not in ("feed", "payload")]
    quarantined = lake.in_process_table(Layer.QUARANTINE, feed.name).each(columns)
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
            row["detail"] + ("; dismissed" if source_location_of(row) in dismissed else ""),
            _delivery(feed, row),
        )
        for row in mine
    ]


def _delivery(feed: Feed, row: Row, repaired: str = "") -> Delivery:
    """Where a row was read; ``repaired``: who had it read again in the source, if somebody had."""
    replaced = feed.decisions.replaced() if feed.decisions.replacements else {}
    if given := replaced.get(source_location_of(row)):
        by = f" by {given.by}" if given.by else ""
        why = f": {given.reason}" if given.reason else ""
        repaired = (
            f"the record was repaired{by} at {given.at:%Y-%m-%d %H:%M} UTC{why}; its original:"
            f" `weir quarantine show {feed.name} {id_of(given.source_location)[:ID]}`"
        )
    return Delivery(row["window"], row["object"], row["line"], repaired)


# The story of one key, as values: what happened to it, what waits, and what does not count.

Image = Mapping[str, str | None] | None
"""A row's columns as texts; None where there is no row."""


@dataclass(frozen=True, slots=True, order=True)
class Delivery:
    """Where one delivery of an event was read.

    ``repaired``: who gave another payload for its record, or had its row read again in the source; or empty.
    """

    window: str
    object: str
    line: int
    repaired: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One event of the key, or of a scope that it is in, and the row after it.

    ``is_deleted``: the row is marked as deleted.
    """

    operation: str
    effect: str
    log_position: Sequence[int]
    event_at: datetime | None
    attribute_ops: Mapping[str, str]
    before_image: Mapping[str, str | None]
    after_image: Mapping[str, str | None]
    scope: Mapping[str, str | None] | None
    moved_from: Sequence[str | None] | None
    derived: str | None
    is_tied: bool
    counted: bool
    row: Image
    copies: int
    deliveries: tuple[Delivery, ...]
    is_deleted: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """One change of the key that waits for its transaction."""

    operation: str
    transaction: str
    delivery: Delivery


@dataclass(frozen=True, slots=True)
class Ignored:
    """One event of the key, or of the whole table, that does not count: why, and where it was read."""

    reason: str
    detail: str
    delivery: Delivery


@dataclass(frozen=True, slots=True)
class Base:
    """The key's row at the watermark, below which its history is compacted; ``copies``: how many rows there were.

    ``is_deleted``: the row is marked as deleted.
    """

    compaction_watermark: Sequence[int]
    row: Image
    copies: int
    is_deleted: bool = False


@dataclass(frozen=True, slots=True)
class KeyStory:
    """All that is known of one key; ``key`` has its parts as silver writes them."""

    key: tuple[str | None, ...]
    steps: tuple[Step, ...]
    waiting: tuple[Waiting, ...]
    ignored: tuple[Ignored, ...] = ()
    base: Base | None = None


# All that silver has of one key of one gold table: the changes that count, in order, and the rows they came in.

Row: TypeAlias = "dict[str, Any]"
"""One row of silver by its columns' names (``layers.Silver``); maps are dicts, times are in UTC."""

_SHOWN = [
    *("operation", "effect", "key", "moved_from", "derived", *gold.IMAGES, "transaction"),
    *("event_id", "event_at", *SOURCE_LOCATION, "ordinal"),
]
"""The columns of silver that a person is shown; a row's window is that of its file."""


@dataclass(frozen=True, slots=True)
class KeyEvents:
    """The events of one key: ``before`` is its state at the table's watermark, ``changes`` count, in their order.

    ``rows``: every delivery of these. ``waiting``: rows of the key whose transaction is not complete. ``held``: range
    deletes that wait for a decision. All in the order of windows, objects and lines.
    """

    before: State
    changes: Sequence[Change]
    rows: Sequence[Row]
    waiting: Sequence[Row]
    held: Sequence[Row]


def events_of_key(lake: Lake, feed: Feed, table: Table, name: str, key: Key) -> KeyEvents:
    """What silver has of one ``canonical`` key of one gold table (``name``)."""
    if not lake.in_process_table(Layer.SILVER, feed.name).exists:
        return KeyEvents(ABSENT, (), (), (), ())
    plan = plan_of(lake, feed, table, name, [])
    try:
        return _in_process(lake, plan, key)
    except TooLarge:
        return _by_spark(lake, plan, key)


def _in_process(lake: Lake, plan: TablePlan, key: Key) -> KeyEvents:
    silver = SilverInProcess.of(lake, plan)
    before, changes = TableFold.of(InProcess(), plan, silver).story_of(key)
    counted = {one.event_id for one in changes}
    counting = pa.array(counted, pa.string())
    delivered = _rows_of_key(silver, lambda rows: pc.is_in(rows["event_id"], counting))
    epochs = (
        {**dict.fromkeys(layers.Silver.schema.names), **one}
        for one in plan.complete_snapshots
        if one["event_id"] in counted
    )
    return KeyEvents(
        before,
        changes,
        _landed([*delivered, *epochs]),
        _landed(one for one in _rows_of_key(silver, _is_open) if one["key"] == [*key]),
        _landed(_held_events(silver)),
    )


def _rows_of_key(
    silver: SilverInProcess, wanted: Callable[[pa.Table], pa.ChunkedArray]
) -> Iterator[Row]:
    """The table's rows that may count and for which ``wanted`` is true, with gold's names in their images."""
    spelled = gold.gold_names(silver.plan.table)
    for rows, window in silver.rows_of(silver.files.parts, _SHOWN):
        yield from _dicts(in_gold(rows.filter(wanted(rows)), spelled), window)


def _held_events(silver: SilverInProcess) -> Iterator[Row]:
    for part in silver.files.parts:
        rows = silver.files.read_file(part, ["table", *_SHOWN])
        is_of_table = pc.fill_null(pc.equal(rows["table"], silver.plan.name), False)
        held = rows.filter(pc.and_(is_of_table, pc.equal(rows["effect"], HOLD)))
        yield from _dicts(held, part.window)


def _dicts(rows: pa.Table, window: str) -> Iterator[Row]:
    for row in rows.to_pylist(maps_as_pydicts="strict"):
        yield row | {"window": window}


def _is_open(rows: pa.Table) -> pa.Array:
    transaction = rows["transaction"].combine_chunks()
    is_open = pc.is_null(pc.struct_field(transaction, "commit"))
    return pc.and_(pc.is_valid(transaction), is_open)


def _by_spark(lake: Lake, plan: TablePlan, key: Key) -> KeyEvents:
    table, name = plan.table, plan.name
    read = SilverBySpark.read(lake, plan)
    before, changes = TableFold.of(InSpark(lake.spark, plan.feed), plan, read).story_of(key)
    counted = sorted({one.event_id for one in changes})
    may_be = silver.may_be_of([silver.key_text_of(key)])
    is_open = F.col("transaction").isNotNull() & F.col("transaction.commit").isNull()
    same = F.col("key") == F.array(*[F.lit(part) for part in key]).cast("array<string>")
    mine = read.silver.where(silver.are_of(name, table.name) & may_be)
    return KeyEvents(
        before,
        changes,
        _collected(read.rows.where(may_be & F.col("event_id").isin(counted))),
        _collected(mine.where(is_open & same)),
        _collected(read.silver.where(silver.are_held(name))),
    )


def _collected(rows: DataFrame) -> list[Row]:
    return _landed(rows.toArrow().to_pylist(maps_as_pydicts="strict"))


def _landed(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["window"], row["object"], row["line"], row["ordinal"]))
