"""All that silver has of one key of one gold table: the changes that count, in their order, and the rows they came in.

Silver that is small is read in this process, for which no session is needed; larger silver is Spark's work. Put here
how the events of one key are found. Not here: what each change did to the row (``explain``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.bookkeeping import snapshot_deletes
from assets.columns import silver_rows, spelling
from assets.columns.silver import CHANGE
from assets.gold.changes import new_changes, streams
from assets.gold.changes.change_counts import kinds_and_counts
from assets.gold.changes.silver_files import SilverFiles
from assets.gold.changes.silver_parts import TooLarge
from assets.gold.changes.table_changes import TableChanges
from assets.gold.fold import whole_history
from assets.gold.gold_table import GoldTable
from assets.lake import Lake
from assets.layers import Layer
from transforms.change import HOLD
from transforms.feed.feed import Feed, Table
from transforms.gold.change import Change, Key
from transforms.gold.fold import Fold
from transforms.gold.state import ABSENT, State
from transforms.gold.table import steps, with_linked
from transforms.record import COORDINATES

Row: TypeAlias = "Mapping[str, Any]"
"""One row of silver by its columns' names (``columns.silver.CHANGE``); maps are dicts, times are in UTC."""

_SHOWN = [
    *("operation", "effect", "key", "moved_from", "derived", *spelling.IMAGES, "transaction"),
    *("event_id", "event_at", *COORDINATES, "ordinal"),
]
"""The columns of silver that a person is shown; a row's window is that of its file."""


@dataclass(frozen=True, slots=True)
class KeyEvents:
    """The events of one key: ``before`` is its state at the table's horizon, ``changes`` count, in their order.

    ``rows``: every delivery of these. ``waiting``: rows of the key whose transaction is not complete. ``held``: scoped
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
    if lake.opened(Layer.SILVER, feed.name) is None:
        return KeyEvents(ABSENT, (), (), (), ())
    try:
        return _here(lake, feed, table, name, key)
    except TooLarge:
        return _by_spark(lake, feed, table, name, key)


def _here(lake: Lake, feed: Feed, table: Table, name: str, key: Key) -> KeyEvents:
    gold = GoldTable(lake, feed, table, name)
    kinds, _ = kinds_and_counts(lake, feed, name, [])
    silver, kinds = new_changes.silver_of(gold, [], kinds)
    epochs = new_changes.epochs(feed, silver)
    run = new_changes.run(silver, silver.everything, epochs, kinds)
    if streams.crosses(feed, kinds):
        run, _ = new_changes.crossing(gold, run, silver)
    wanted = with_linked({key}, silver.links()) if run.new.moves else {key}
    stories, before = steps(Fold.of(table), run.new, silver, wanted)
    changes = stories.get(key, [])
    counted = {one.event_id for one in changes}
    counting = pa.array(counted, pa.string())
    delivered = _rows(silver, lambda batch: pc.is_in(batch["event_id"], counting))
    epoch_rows = (
        {**dict.fromkeys(CHANGE.names), **one}
        for one in snapshot_deletes.scoped_rows(feed, table.name, name)
        if one["event_id"] in counted
    )
    return KeyEvents(
        before.get(key, ABSENT),
        changes,
        _landed([*delivered, *epoch_rows]),
        _landed(one for one in _rows(silver, _is_open) if one["key"] == [*key]),
        _landed(_held(silver)),
    )


def _rows(
    silver: SilverFiles, wanted: Callable[[pa.RecordBatch], pa.Array]
) -> Iterator[dict[str, Any]]:
    """The table's rows that may count and for which ``wanted`` is true, with gold's names in their images."""
    spelled = spelling.both(silver.table)
    for batch, window in silver.batches(_SHOWN):
        for row in _dicts(batch.filter(wanted(batch)), window):
            images = ((one, row[one]) for one in spelling.IMAGES)
            yield row | {
                one: image and {spelled.get(name, name): text for name, text in image.items()}
                for one, image in images
            }


def _held(silver: SilverFiles) -> Iterator[dict[str, Any]]:
    for path, size, window in silver.parts:
        rows = silver.files.read(path, size, ["table", *_SHOWN])
        held = pc.and_(pc.equal(rows["table"], silver.name), pc.equal(rows["effect"], HOLD))
        yield from _dicts(rows.filter(held), window)


def _dicts(rows: pa.Table | pa.RecordBatch, window: str) -> Iterator[dict[str, Any]]:
    for row in rows.to_pylist(maps_as_pydicts="strict"):
        yield row | {"window": window}


def _is_open(batch: pa.RecordBatch) -> pa.Array:
    transaction = batch["transaction"]
    is_open = pc.is_null(pc.struct_field(transaction, "commit"))
    return pc.and_(pc.is_valid(transaction), is_open)


def _by_spark(lake: Lake, feed: Feed, table: Table, name: str, key: Key) -> KeyEvents:
    table_changes = TableChanges.read(lake, feed, table, name, [])
    before, changes = whole_history.story_of(feed, table_changes, key)
    counted = sorted({one.event_id for one in changes})
    may_be = silver_rows.may_be_of([silver_rows.text_of(key)])
    silver = silver_rows.with_key_text(lake.table(Layer.SILVER, feed.name).read())
    is_open = F.col("transaction").isNotNull() & F.col("transaction.commit").isNull()
    same = F.col("key") == F.array(*[F.lit(part) for part in key]).cast("array<string>")
    mine = silver.where(silver_rows.are_of(name, table.name) & may_be)
    return KeyEvents(
        before,
        changes,
        _collected(table_changes.changes.where(may_be & F.col("event_id").isin(counted))),
        _collected(mine.where(is_open & same)),
        _collected(silver.where(silver_rows.are_held(name))),
    )


def _collected(rows: DataFrame) -> list[Row]:
    return _landed(rows.toArrow().to_pylist(maps_as_pydicts="strict"))


def _landed(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["window"], row["object"], row["line"], row["ordinal"]))
