"""Deletes of many rows that gold does not apply before a person has looked at them.

A truncate or a complete snapshot that would remove most of a table waits (how much that is, ``LossGuard`` in
``transforms/feed/feed.py`` decides), and so does what a snapshot says of rows that it does not name, where it is not
known to be complete; and a delete of one stream waits in others where times do not tell which came first. Each is
recorded as a decision, so that a table that is made again from its whole history leaves it out, too, and ``weir
release`` lists it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa
from pyspark.sql import functions as F

from assets.control import decisions
from assets.control.live_rows import live_rows, only_live
from assets.executors.executor import Frame
from assets.gold.fold import Folded, TableFold, shown_keys
from assets.gold.plan import TablePlan
from assets.gold.snapshot_deletes import Unproved
from assets.gold.stored_by_spark import key_texts
from assets.gold.tables import GoldTable
from assets.storage.lake import Lake, Layer
from assets.wording import counted, spanned
from transforms.change import Key, LogPosition
from transforms.feed.decisions import Hold
from transforms.gold.columns import KEY, LOG_POSITION, OF_DELETE
from transforms.gold.fold_rows import keys_of
from transforms.gold.folded_rows import MOST_KEYS_SHOWN, rows_schema
from transforms.moments import moment_of


def guarded(
    lake: Lake, fold: TableFold[Frame]
) -> tuple[TableFold[Frame], Folded[Frame], Sequence[Hold]]:
    """Fold a run's changes onto gold, without the deletes that would remove too many of its rows.

    Returns the fold without these deletes, what it came to, and the deletes.
    """
    folded = fold.onto_gold()
    plan, guard = fold.plan, fold.plan.feed.loss_guard
    deletes, removed = fold.deletes, folded.metrics.removed
    if not removed:
        return fold, folded, ()
    stored = lake.in_process_table(Layer.GOLD, plan.feed.name, plan.name)
    rows = live_rows(stored) if stored.exists else 0
    released = {one.event_id for one in plan.feed.decisions.releases}
    refused = [
        event_id
        for event_id, count in removed.items()
        if guard.refuses(count, rows)
        and event_id not in released
        and not deletes.by_event[event_id].change.is_past
    ]
    if not refused:
        return fold, folded, ()
    holds = [_hold(fold, event_id, removed[event_id], Hold.LOSS) for event_id in refused]
    decisions.hold(lake, plan.feed, holds, _by_weir())
    fold = replace(fold, deletes=deletes.without(refused))
    return fold, fold.onto_gold(), holds


def _by_weir() -> decisions.Signature:
    return decisions.Signature(datetime.now(UTC), "weir", None)


def of_unknown_order(lake: Lake, fold: TableFold[Frame], rows: Counter[str]) -> list[Hold]:
    """Record the deletes that may be older or newer than rows of other streams: how many, by event."""
    known = {one.event_id for one in fold.plan.feed.decisions.held(fold.plan.name)}
    holds = [
        _hold(fold, event_id, count, Hold.ORDER)
        for event_id, count in sorted(rows.items())
        if event_id not in known
    ]
    if holds:
        decisions.hold(lake, fold.plan.feed, holds, _by_weir())
    return holds


def _hold(fold: TableFold[Frame], event_id: str, rows: int, reason: str) -> Hold:
    change = fold.deletes.by_event[event_id].change
    at = fold.deletes.source_locations[event_id]
    location = f"{at.object} line {at.line}" if at.line else at.object
    if reason == Hold.ORDER and change.event_at is not None:
        location += f", made at {moment_of(change.event_at):%Y-%m-%d %H:%M:%S}"
    return Hold(
        event_id=event_id,
        reason=reason,
        table=fold.plan.name,
        operation=at.operation,
        rows=rows,
        keys=(),
        windows=tuple(sorted(fold.deletes.windows[event_id])),
        log_position=change.log_position,
        source_location=location,
    )


def outstanding(plan: TablePlan) -> list[Hold]:
    """What waits from earlier runs: not what a snapshot has removed that has become complete since."""
    complete = {one["event_id"] for one in plan.complete_snapshots}
    return [
        one
        for one in plan.feed.decisions.held(plan.name)
        if one.reason in (Hold.LOSS, Hold.ORDER)
        or (one.reason == Hold.UNPROVED and one.event_id not in complete)
    ]


def of_unproved(gold: GoldTable, plan: TablePlan) -> list[Hold]:
    """Record what the run's snapshots that are not known to be complete would remove from gold as it is now."""
    known = {one.event_id for one in plan.feed.decisions.held(plan.name)}
    holds = []
    for one in plan.unproved:
        if one.event_id in known or not one.windows & plan.windows:
            continue
        count, keys = _older(gold, one.removes_at)
        if count:
            holds.append(_of_unproved(plan, one, count, keys))
    if holds:
        decisions.hold(gold.lake, plan.feed, holds, _by_weir())
    return holds


def not_in_chunks(gold: GoldTable, plan: TablePlan) -> list[str]:
    """A line for each snapshot in chunks that does not name some rows of gold, which are older than it."""
    lines = []
    for one in plan.in_chunks:
        count, keys = _older(gold, one.removes_at)
        if count:
            lines.append(
                f"gold.{plan.feed.name}.{plan.name}: {counted(count, 'row')} from before the incremental snapshot in"
                f" {spanned(one.windows)}, and not in it{_some_of(_texts(plan, keys), count)}"
            )
    return lines


def _of_unproved(plan: TablePlan, one: Unproved, count: int, keys: Sequence[Key]) -> Hold:
    return Hold(
        event_id=one.event_id,
        reason=Hold.UNPROVED,
        table=plan.name,
        operation="snapshot",
        rows=count,
        keys=_texts(plan, keys),
        windows=tuple(sorted(one.windows)),
        log_position=one.removes_at,
        source_location=one.source_location,
    )


def _older(gold: GoldTable, position: LogPosition) -> tuple[int, list[Key]]:
    """How many live rows of gold stand before a position, and the keys of some of them."""
    stored = gold.lake.in_process_table(Layer.GOLD, gold.feed.name, gold.name)
    if not stored.exists:
        return 0, []
    if gold.lake.choice.fits_in_process(stored.size, stored.stored_rows):
        known = rows_schema(gold.table)
        of_delete = OF_DELETE if gold.table.marks_deletes else ()
        names = (*(gold.table.key or (KEY,)), LOG_POSITION, *of_delete)
        rows = only_live(stored.read(pa.schema([known.field(name) for name in names])))
        positions = rows[LOG_POSITION].to_pylist()
        older = rows.filter(pa.array([tuple(one) < position for one in positions], pa.bool_()))
        keys = sorted(keys_of(gold.table, older), key=lambda key: [text or "" for text in key])
        return older.num_rows, keys[:MOST_KEYS_SHOWN]
    at = F.array(*[F.lit(number).cast("long") for number in position])
    found = gold.live().where(F.col(LOG_POSITION) < at)
    # Mostly there are none, and then nothing has to be named.
    count = found.count()
    if not count:
        return 0, []
    named = found.select(key_texts(gold.table).alias("key"))
    some = named.orderBy("key").limit(MOST_KEYS_SHOWN).collect()
    return count, [tuple(row["key"]) for row in some]


def held_in_words(feed: str, held: Iterable[Hold]) -> list[str]:
    """A line for each delete that waits, with the command that lets it act."""
    return [
        f"gold.{feed}.{one.table}: {_said(one)}; to let it act: `weir release {feed} {one.event_id[:12]}`,"
        " to keep the rows: the same with `--keep`"
        for one in held
    ]


def _said(one: Hold) -> str:
    rows = counted(one.rows, "row")
    if one.reason == Hold.LOSS:
        return f"{one.operation} ({one.source_location}) would remove {rows}"
    if one.reason == Hold.ORDER:
        return (
            f"{one.operation} ({one.source_location}) is within an hour of the last changes of {rows} in other"
            " partitions, so that nobody knows which came first, and gold keeps them"
        )
    keys = _some_of(one.keys, one.rows)
    return f"{one.source_location} is not known to be complete, and gold has {rows} that it does not name{keys}"


def _some_of(keys: Sequence[str], count: int) -> str:
    return f" (key {'; '.join(keys)}{'; …' if count > len(keys) else ''})"


def _texts(plan: TablePlan, keys: Sequence[Key]) -> tuple[str, ...]:
    return tuple(
        line.partition(": key ")[2] for line in shown_keys(plan.name, keys[:MOST_KEYS_SHOWN])
    )
