"""All that silver has of one key of one gold table: the changes that count, in order, and the rows they came in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.columns import silver_rows, spelling
from assets.columns.silver import CHANGE
from assets.executors.in_process import InProcess
from assets.executors.spark import InSpark
from assets.gold.folding import TableFold
from assets.gold.plan import TablePlan, plan_of
from assets.gold.silver_by_spark import SilverBySpark
from assets.gold.silver_in_process import SilverInProcess, TooLarge, in_gold
from assets.lake import Lake
from assets.layers import Layer
from transforms.change import HOLD
from transforms.feed.feed import Feed, Table
from transforms.gold.change import Change, Key
from transforms.gold.state import ABSENT, State
from transforms.record import SOURCE_LOCATION

Row: TypeAlias = "Mapping[str, Any]"
"""One row of silver by its columns' names (``columns.silver.CHANGE``); maps are dicts, times are in UTC."""

_SHOWN = [
    *("operation", "effect", "key", "moved_from", "derived", *spelling.IMAGES, "transaction"),
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


def events_of(lake: Lake, feed: Feed, table: Table, name: str, key: Key) -> KeyEvents:
    """What silver has of one key of one gold table.

    Args:
        lake: the warehouse.
        feed: the feed with its recorded decisions.
        table: the declared table.
        name: the gold table.
        key: as silver writes it (``explain.canonical``).
    """
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
    delivered = _rows(silver, lambda rows: pc.is_in(rows["event_id"], counting))
    epochs = (
        {**dict.fromkeys(CHANGE.names), **one}
        for one in plan.complete_snapshots
        if one["event_id"] in counted
    )
    return KeyEvents(
        before,
        changes,
        _landed([*delivered, *epochs]),
        _landed(one for one in _rows(silver, _is_open) if one["key"] == [*key]),
        _landed(_held(silver)),
    )


def _rows(
    silver: SilverInProcess, wanted: Callable[[pa.Table], pa.ChunkedArray]
) -> Iterator[dict[str, Any]]:
    """The table's rows that may count and for which ``wanted`` is true, with gold's names in their images."""
    spelled = spelling.both(silver.plan.table)
    for rows, window in silver.rows_of(silver.parts, _SHOWN):
        yield from _dicts(in_gold(rows.filter(wanted(rows)), spelled), window)


def _held(silver: SilverInProcess) -> Iterator[dict[str, Any]]:
    for part in silver.parts:
        rows = silver.files.read_file(part, ["table", *_SHOWN])
        is_of_table = pc.fill_null(pc.equal(rows["table"], silver.plan.name), False)
        yield from _dicts(
            rows.filter(pc.and_(is_of_table, pc.equal(rows["effect"], HOLD))), part.window
        )


def _dicts(rows: pa.Table, window: str) -> Iterator[dict[str, Any]]:
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
    may_be = silver_rows.may_be_of([silver_rows.text_of(key)])
    is_open = F.col("transaction").isNotNull() & F.col("transaction.commit").isNull()
    same = F.col("key") == F.array(*[F.lit(part) for part in key]).cast("array<string>")
    mine = read.silver.where(silver_rows.are_of(name, table.name) & may_be)
    return KeyEvents(
        before,
        changes,
        _collected(read.rows.where(may_be & F.col("event_id").isin(counted))),
        _collected(mine.where(is_open & same)),
        _collected(read.silver.where(silver_rows.are_held(name))),
    )


def _collected(rows: DataFrame) -> list[Row]:
    return _landed(rows.toArrow().to_pylist(maps_as_pydicts="strict"))


def _landed(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["window"], row["object"], row["line"], row["ordinal"]))
