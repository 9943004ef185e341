"""Why a row is as it is: every event of one key in the order in which they apply, and what each did.

The fold that made the row is run once more for this key, and tells its state after every step. Not here: how it is
printed (``orchestration/explaining.py``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from assets import bases, decisions, gold_tasks, silver_rows
from assets.history import History
from assets.lake import Lake
from transforms.decisions import Coordinates
from transforms.feed import Feed, Table
from transforms.gold.change import Change
from transforms.gold.fold import Fold, State
from transforms.horizons import Horizon
from transforms.types import judge_of

Image = Mapping[str, str | None] | None
"""A row's columns as texts; None where there is no row."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where one delivery of an event stood."""

    window: str
    object: str
    line: int


@dataclass(frozen=True, slots=True)
class Step:
    """One event of the key, or of a scope that it is in, and the row after it."""

    operation: str
    effect: str
    position: Sequence[int]
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


@dataclass(frozen=True, slots=True)
class Waiting:
    """One change of the key that waits for its transaction."""

    operation: str
    transaction: str
    delivery: Delivery


@dataclass(frozen=True, slots=True)
class Ignored:
    """One event of the key, or over the whole table, that does not count: why, and where it stands."""

    reason: str
    detail: str
    delivery: Delivery


@dataclass(frozen=True, slots=True)
class Base:
    """What the key was at the horizon: the history before it is compacted."""

    horizon: Sequence[int]
    row: Image
    copies: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known of one key, its parts as silver writes them."""

    key: tuple[str | None, ...]
    steps: tuple[Step, ...]
    waiting: tuple[Waiting, ...]
    ignored: tuple[Ignored, ...] = ()
    base: Base | None = None


def explain(
    lake: Lake, feed: Feed, table: Table, name: str, key: Sequence[str | None]
) -> Explanation:
    """Everything that happened to one key of one gold table (``name``), in the order in which it applies."""
    feed = decisions.with_recorded(lake, feed)
    history = History.read(lake, feed, table, name, [])
    key = canonical(table, key)
    before, changes = gold_tasks.story_of(feed, history, tuple(key))
    counted = {one.event_id for one in changes}
    rows = _rows(history, counted, silver_rows.may_be_of([silver_rows.text_of(key)]))
    steps = _steps(Fold.of(table), changes, before, rows, list(key))
    silver = silver_rows.with_key_text(lake.table("silver", feed.name).read())
    mine = silver.where(silver_rows.are_of(name, table.name))
    horizon = bases.drawn(lake, feed).get(name)
    base = None if horizon is None else _base(horizon, before)
    return Explanation(
        tuple(key),
        tuple(steps),
        tuple(_waiting(mine, list(key), counted)),
        (*_held(silver.where(silver_rows.are_held(name))), *_refused(lake, feed, name, list(key))),
        base,
    )


def canonical(table: Table, key: Sequence[str | None]) -> list[str | None]:
    """The key as silver writes it: ``042`` is the int 42. A part that is no such value stays, and is found nowhere."""
    kinds = [table.columns[column] for column in table.identity]
    return [
        part if part is None else judge_of(kind)(part) or part
        for part, kind in zip(key, kinds, strict=True)
    ]


def _base(horizon: Horizon, state: State) -> Base:
    if state.effect == "remove":
        return Base(horizon.position, None, 0)
    return Base(horizon.position, state.columns, state.copies)


def _rows(history: History, event_ids: Collection[str], may_be: Column) -> dict[str, list[Row]]:
    """The silver rows of these events of one key, by event; ``may_be`` leaves most rows of other keys out."""
    rows: dict[str, list[Row]] = {}
    if not event_ids:
        return rows
    wanted = history.changes.where(may_be & F.col("event_id").isin(list(event_ids)))
    for row in wanted.orderBy("window", "object", "line", "ordinal").collect():
        rows.setdefault(row["event_id"], []).append(row)
    return rows


def _steps(
    fold: Fold,
    changes: Sequence[Change],
    state: State,
    rows: Mapping[str, list[Row]],
    key: list[str | None],
) -> list[Step]:
    steps = []
    positions = Counter(one.position for one in changes)
    for change in changes:
        state = fold.step(state, change)
        of_event = rows[change.event_id]
        # A key change is two rows of one event: the one for this key tells its story.
        mine = next((row for row in of_event if row["key"] in (key, None)), of_event[0])
        places = {(row["window"], row["object"], row["line"]) for row in of_event}
        steps.append(
            Step(
                operation=mine["operation"],
                effect=mine["effect"],
                position=change.position,
                event_at=mine["event_at"],
                attribute_ops=mine["attribute_ops"],
                before_image=mine["before"],
                after_image=mine["after"],
                scope=mine["scope"],
                moved_from=mine["moved_from"],
                derived=mine["derived"],
                is_tied=positions[change.position] > 1,
                counted=state.last is not None and state.last.event_id == change.event_id,
                row=None if state.effect == "remove" else state.columns,
                copies=state.copies,
                deliveries=tuple(Delivery(*place) for place in sorted(places)),
            )
        )
    return steps


def _waiting(changes: DataFrame, key: list[str | None], counted: set[str]) -> list[Waiting]:
    """The changes of the key whose transaction is not complete."""
    is_open = F.col("transaction").isNotNull() & F.col("transaction.commit").isNull()
    same = F.col("key") == F.array(*[F.lit(part) for part in key]).cast("array<string>")
    may_be = silver_rows.may_be_of([silver_rows.text_of(key)])
    rows = changes.where(may_be & is_open & same).orderBy("window", "object", "line").collect()
    return [
        Waiting(
            row["operation"],
            row["transaction"]["id"],
            _delivery(row),
        )
        for row in rows
        if row["event_id"] not in counted
    ]


def _held(held: DataFrame) -> list[Ignored]:
    """The scoped deletes over the whole table that wait for a decision."""
    whole = held.where(F.size("scope") == 0)
    return [
        Ignored("held", f"{row['operation']} waits for `weir release`", _delivery(row))
        for row in whole.orderBy("window", "object", "line").collect()
    ]


def _refused(lake: Lake, feed: Feed, name: str, key: list[str | None]) -> list[Ignored]:
    """The key's events in quarantine, those that came too late included."""
    table = lake.table("quarantine", feed.name)
    if not table.exists():
        return []
    same = F.col("key") == F.array(*[F.lit(part) for part in key]).cast("array<string>")
    rows = table.read().where((F.col("table") == name) & same)
    dismissed = feed.decisions.dismissed()
    return [
        Ignored(
            row["reason"],
            row["detail"] + ("; dismissed" if _place(row) in dismissed else ""),
            _delivery(row),
        )
        for row in rows.orderBy("window", "object", "line").collect()
    ]


def _place(row: Row) -> Coordinates:
    return row["object"], row["generation"], row["line"], row["byte_offset"]


def _delivery(row: Row) -> Delivery:
    return Delivery(row["window"], row["object"], row["line"])
