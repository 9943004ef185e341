"""How far each transaction over several windows has come, by the events that are stored of it.

Few events are combined in this process, many by Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import pyarrow as pa
from pyspark.sql import functions as F

from assets.bookkeeping.transactions import open_events
from assets.columns.silver import SILVER_ARROW
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed
from transforms.silver.open_transactions import OpenEvent, TransactionState, state_of

_STATES = (
    "id string, commit array<bigint>, has_commit boolean, expected bigint, seen bigint,"
    " waiting bigint, first_window string, first_at bigint"
)


_TRANSACTIONS = pa.schema([SILVER_ARROW.field("transaction")])


def states(
    lake: Lake,
    feed: Feed,
    events: pa.Table | None,
    unread: Sequence[str],
    without: Sequence[str] = (),
) -> list[TransactionState]:
    """The state of each transaction that some window holds in part.

    Args:
        lake: the warehouse.
        feed: its transactions are asked for.
        events: their events (``open_events.read``); None where they are Spark's to read.
        unread: windows that have landed and were not read: a transaction may go on in one.
        without: windows whose events do not count.
    """
    if events is not None:
        counted = open_events.without_windows(events, without)
        found = [*states_of(counted.sort_by("id").to_batches(10_000), unread)]
    else:
        found = _states_by_spark(lake, feed, unread, without)
    still = {one.id for one in found if one.commit is None}
    whole = _whole_elsewhere(lake, feed, still, without) if still else {}
    return [
        one._replace(commit=whole[one.id]) if one.id in whole and one.commit is None else one
        for one in found
    ]


def states_of(
    batches: Iterable[pa.RecordBatch], unread: Sequence[str]
) -> Iterator[TransactionState]:
    """The states of transactions whose events are sorted by ``id``."""
    for name, events in groupby(_events(batches), key=lambda one: one[0]):
        yield state_of(name, (event for _, event in events), unread)


def _events(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, OpenEvent]]:
    for batch in batches:
        micros = batch.column("event_at").cast(pa.int64())
        named = {name: batch.column(name).to_pylist() for name in OpenEvent._fields}
        named |= {"event_at": micros.to_pylist(), "log_position": map(tuple, named["log_position"])}
        cells = zip(*(named[name] for name in OpenEvent._fields), strict=True)
        yield from zip(batch.column("id").to_pylist(), map(OpenEvent._make, cells), strict=True)


def _states_by_spark(
    lake: Lake, feed: Feed, unread: Sequence[str], without: Sequence[str]
) -> list[TransactionState]:
    events = lake.table(Layer.TRANSACTIONS, feed.name).read()
    counted = events.where(~F.col("window").isin(list(without)))
    together = counted.repartition("id").sortWithinPartitions("id")

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = [one._asdict() for one in states_of(batches, unread)]
        yield pa.RecordBatch.from_pylist(found, schema=_ARROW_STATES)

    rows = together.mapInArrow(run, _STATES).toArrow().to_pylist()
    return [
        TransactionState(
            **{**row, "commit": None if row["commit"] is None else tuple(row["commit"])}
        )
        for row in rows
    ]


_ARROW_STATES = pa.schema(
    [
        *[("id", pa.string()), ("commit", pa.list_(pa.int64())), ("has_commit", pa.bool_())],
        *[("expected", pa.int64()), ("seen", pa.int64()), ("waiting", pa.int64())],
        *[("first_window", pa.string()), ("first_at", pa.int64())],
    ]
)


def _whole_elsewhere(
    lake: Lake, feed: Feed, still: set[str], without: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    """The commits of those of these transactions that some window holds whole, though others hold parts of them."""
    silver = lake.in_process_table(Layer.SILVER, feed.name)
    if not lake.choice.fits_in_process(silver.size, 0):
        return _whole_by_spark(lake, feed, still, without)
    counted = {"window": silver.windows.difference(without)}
    found: dict[str, tuple[int, ...]] = {}
    for rows in silver.each(_TRANSACTIONS, counted):
        for one in rows["transaction"].to_pylist():
            if one is not None and one["commit"] is not None and one["id"] in still:
                found[one["id"]] = tuple(one["commit"])
    return found


def _whole_by_spark(
    lake: Lake, feed: Feed, still: set[str], without: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    silver = lake.table(Layer.SILVER, feed.name).read().where(~F.col("window").isin(list(without)))
    named = lake.spark.createDataFrame([(name,) for name in sorted(still)], "id string")
    whole = (
        silver.where(F.col("transaction.commit").isNotNull())
        .select("transaction.id", "transaction.commit")
        .join(F.broadcast(named), on="id", how="left_semi")
        .distinct()
    )
    return {row["id"]: tuple(row["commit"]) for row in whole.collect()}
