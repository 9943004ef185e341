"""The table of transactions that no single window holds whole, ``transactions.<feed>``, and where each of them stands.

Not here: when a transaction is complete (``transforms/silver/open_transactions.py``), and what a run releases
(``transactions``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from assets.delta import delta_rs
from assets.delta.small_table import SmallTable
from assets.delta.store_faults import told_in_words
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed
from transforms.silver.open_transactions import OpenEvent, State, state_of

OPEN = T.StructType(
    [
        T.StructField("window", T.StringType(), False),
        T.StructField("id", T.StringType(), False),
        T.StructField("event_id", T.StringType(), False),
        T.StructField("effect", T.StringType(), False),
        T.StructField("is_derived", T.BooleanType(), False),
        T.StructField("expected", T.LongType(), True),
        T.StructField("has_begin", T.BooleanType(), True),
        T.StructField("position", T.ArrayType(T.LongType()), False),
        T.StructField("event_at", T.TimestampType(), True),
    ]
)
"""One row per event of a transaction that its window does not hold whole: ``transactions.<feed>``.

``effect``, ``event_id``, ``position``, ``event_at`` as in ``silver_schema.CHANGE``; ``id``, ``expected``, ``has_begin``
as in its ``transaction``.
"""

COLUMNS: pa.Schema = to_arrow_schema(OPEN, timezone="UTC")
"""The same for Arrow."""

IN_PROCESS = 1_000_000
"""So many events are put together in this process, in some seconds; more are Spark's work."""

IN_PROCESS_BYTES = 64 << 20
"""So much of silver is looked through in this process; a larger one is Spark's work."""

_STATES = (
    "id string, commit array<bigint>, has_commit boolean, expected bigint, seen bigint,"
    " waiting bigint, first_window string, first_at bigint"
)


def table_of(lake: Lake, feed: Feed) -> SmallTable:
    """The feed's table of them."""
    return lake.small_table(Layer.TRANSACTIONS, feed.name, COLUMNS)


def events_of(rows: DataFrame) -> DataFrame:
    """Those of these classified rows that are events of transactions which their window does not hold whole (``OPEN``).

    Those in the base count, too: a transaction does not open again because its changes were compacted.
    """
    waiting = rows.where(F.col("transaction").isNotNull() & F.col("transaction.commit").isNull())
    special: Mapping[str, Column] = {
        **{name: F.col(f"transaction.{name}") for name in ("id", "expected", "has_begin")},
        "is_derived": F.col("derived").isNotNull(),
        "event_at": F.timestamp_micros("event_at"),
    }
    return waiting.select(
        *[special.get(one.name, F.col(one.name)).alias(one.name) for one in OPEN.fields]
    )


def events_here(rows: pa.Table) -> pa.Table:
    """The same of classified rows in this process."""
    told = rows["transaction"].combine_chunks()
    is_open = pc.is_null(pc.struct_field(told, "commit"))
    waiting = rows.filter(pc.and_(pc.is_valid(told), is_open))
    told = waiting["transaction"].combine_chunks()
    special = {
        **{name: pc.struct_field(told, name) for name in ("id", "expected", "has_begin")},
        "is_derived": pc.is_valid(waiting["derived"]),
    }
    cells = [
        (special[one.name] if one.name in special else waiting[one.name]).cast(one.type)
        for one in COLUMNS
    ]
    return pa.table(cells, names=COLUMNS.names)


def put(
    lake: Lake, feed: Feed, events: DataFrame | pa.Table, count: int, windows: Sequence[str]
) -> None:
    """Replace these windows' events by those of the frame or table, of which there are ``count``."""
    if isinstance(events, pa.Table):
        table_of(lake, feed).replace_windows(events, windows)
    elif count <= IN_PROCESS:
        rows = events.toArrow() if count else COLUMNS.empty_table()
        table_of(lake, feed).replace_windows(rows, windows)
    else:
        lake.table(Layer.TRANSACTIONS, feed.name).replace_windows(events, windows, partition_by=())


def states(
    lake: Lake, feed: Feed, unread: Sequence[str], without: Sequence[str] = ()
) -> list[State]:
    """Where each stands by what all windows but these (``without``) hold, those that hold one whole included.

    ``unread``: windows that are known to hold drops, and were not read.
    """
    table = table_of(lake, feed)
    if table.count() <= IN_PROCESS:
        rows = table.read()
        counted = rows.filter(pc.invert(pc.is_in(rows["window"], pa.array(without, pa.string()))))
        found = [*states_of(counted.sort_by("id").to_batches(10_000), unread)]
    else:
        found = _states_by_spark(lake, feed, unread, without)
    still = {one.id for one in found if one.commit is None}
    whole = _whole_elsewhere(lake, feed, still, without) if still else {}
    return [
        one._replace(commit=whole[one.id]) if one.id in whole and one.commit is None else one
        for one in found
    ]


def states_of(batches: Iterable[pa.RecordBatch], unread: Sequence[str]) -> Iterator[State]:
    """The states of transactions whose events are sorted by ``id``."""
    for name, events in groupby(_events(batches), key=lambda one: one[0]):
        yield state_of(name, (event for _, event in events), unread)


def _events(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, OpenEvent]]:
    for batch in batches:
        micros = batch.column("event_at").cast(pa.int64())
        named = {name: batch.column(name).to_pylist() for name in OpenEvent._fields}
        named |= {"event_at": micros.to_pylist(), "position": map(tuple, named["position"])}
        cells = zip(*(named[name] for name in OpenEvent._fields), strict=True)
        yield from zip(batch.column("id").to_pylist(), map(OpenEvent._make, cells), strict=True)


def _states_by_spark(
    lake: Lake, feed: Feed, unread: Sequence[str], without: Sequence[str]
) -> list[State]:
    events = lake.table(Layer.TRANSACTIONS, feed.name).read()
    counted = events.where(~F.col("window").isin(list(without)))
    together = counted.repartition("id").sortWithinPartitions("id")

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = [one._asdict() for one in states_of(batches, unread)]
        yield pa.RecordBatch.from_pylist(found, schema=_ARROW_STATES)

    rows = together.mapInArrow(run, _STATES).toArrow().to_pylist()
    return [
        State(**{**row, "commit": None if row["commit"] is None else tuple(row["commit"])})
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
    path = lake.path(Layer.SILVER, feed.name)
    with told_in_words(f"silver.{feed.name}", lake.warehouse):
        table = delta_rs.opened(path, lake.warehouse)
        if table is None:
            return {}
        added = pa.table(table.get_add_actions(flatten=True))
        if sum(added["size_bytes"].to_pylist()) > IN_PROCESS_BYTES:
            return _whole_by_spark(lake, feed, still, without)
        files = delta_rs.Files.of(table, path, lake.warehouse)
        listed = zip(
            *(added[name].to_pylist() for name in ("path", "size_bytes", "partition.window")),
            strict=True,
        )
        found: dict[str, tuple[int, ...]] = {}
        for name, size, window in listed:
            if window in without:
                continue
            for one in files.read(name, size, ["transaction"])["transaction"].to_pylist():
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
