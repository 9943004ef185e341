"""Transactions that no single window holds whole: their events, how far each has come, and what waits for what."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from assets.columns import layers
from assets.control import progress
from assets.control.progress import Landed
from assets.executors.choice import Choice
from assets.storage.delta_rs import conformed
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from transforms.column_types.map_columns import NUMBERS
from transforms.display import Markdown, bullets
from transforms.feed.feed import Feed
from transforms.feed.windows import parse_window
from transforms.moments import moment_of
from transforms.silver.transactions import TransactionEvent, TransactionState, state_of


def read_open_events(lake: Lake, feed: Feed) -> pa.Table | None:
    """The events of all windows; None where there are more than fit into this process."""
    return open_events_in(lake.in_process_table(Layer.TRANSACTIONS, feed.name), lake.choice)


def open_events_in(table: InProcessTable, choice: Choice) -> pa.Table | None:
    """``read_open_events`` of the table as it was opened."""
    count = table.count()
    return None if count and not choice.fits_in_process(0, count) else table.read()


def without_windows(events: pa.Table, windows: Sequence[str]) -> pa.Table:
    """The events of all windows but these."""
    return events.filter(pc.invert(pc.is_in(events["window"], pa.array([*windows], pa.string()))))


def open_events_of(rows: DataFrame | pa.Table) -> DataFrame | pa.Table:
    """One row per event of a transaction that its window does not hold whole, of these classified rows.

    Events in the base count, too: a transaction does not open again because its changes were compacted.
    """
    if isinstance(rows, pa.Table):
        return open_events_in_process(rows)
    waiting = rows.where(F.col("transaction").isNotNull() & F.col("transaction.commit").isNull())
    special: Mapping[str, Column] = {
        **{name: F.col(f"transaction.{name}") for name in ("id", "expected", "has_begin")},
        "is_derived": F.col("derived").isNotNull(),
        "event_at": F.timestamp_micros("event_at"),
    }
    return waiting.select(
        *[special.get(name, F.col(name)).alias(name) for name in layers.Transactions.schema.names]
    )


def open_events_in_process(rows: pa.Table) -> pa.Table:
    """``open_events_of`` for classified rows in this process."""
    transaction = rows["transaction"].combine_chunks()
    is_open = pc.is_null(pc.struct_field(transaction, "commit"))
    waiting = rows.filter(pc.and_(pc.is_valid(transaction), is_open))
    transaction = waiting["transaction"].combine_chunks()
    special = {
        **{name: pc.struct_field(transaction, name) for name in ("id", "expected", "has_begin")},
        "is_derived": pc.is_valid(waiting["derived"]),
    }
    cells = [
        (special[one.name] if one.name in special else waiting[one.name]).cast(one.type)
        for one in layers.Transactions.schema
    ]
    return pa.table(cells, names=layers.Transactions.schema.names)


def replace_open_events(
    lake: Lake, feed: Feed, events: DataFrame | pa.Table, count: int, windows: Sequence[str]
) -> pa.Table | None:
    """Replace these windows' events by these; gives them, too, where so many (``count``) fit into this process."""
    if isinstance(events, DataFrame):
        if count and not lake.choice.fits_in_process(0, count):
            table = lake.table(Layer.TRANSACTIONS, feed.name)
            table.replace_windows(events, windows, partition_by=())
            return None
        events = events.toArrow() if count else layers.Transactions.schema.empty_table()
    lake.in_process_table(Layer.TRANSACTIONS, feed.name).replace_windows(events, windows)
    return conformed(events, layers.Transactions.schema)


# How far each transaction over several windows has come, by the events that are stored of it.


_STATES = pa.schema(
    [
        *[("id", pa.string()), ("commit", NUMBERS), ("has_commit", pa.bool_())],
        *[("expected", pa.int64()), ("seen", pa.int64()), ("waiting", pa.int64())],
        *[("first_window", pa.string()), ("first_at", pa.int64())],
    ]
)


def states_of_transactions(
    lake: Lake,
    feed: Feed,
    events: pa.Table | None,
    unread: Sequence[str],
    without: Sequence[str] = (),
) -> list[TransactionState]:
    """The state of each transaction that some window holds in part.

    ``events``: theirs (``read_open_events``); None where they are Spark's to read. ``unread``: windows that have landed
    and were not read, in which a transaction may go on. ``without``: windows whose events do not count.
    """
    if events is not None:
        counting = without_windows(events, without)
        found = [*states_of(counting.sort_by("id").to_batches(10_000), unread)]
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

    def events() -> Iterator[tuple[str, TransactionEvent]]:
        for batch in batches:
            named = {name: batch.column(name).to_pylist() for name in TransactionEvent._fields}
            named["event_at"] = batch.column("event_at").cast(pa.int64()).to_pylist()
            named["log_position"] = [*map(tuple, named["log_position"])]
            found = map(TransactionEvent, *(named[name] for name in TransactionEvent._fields))
            yield from zip(batch.column("id").to_pylist(), found, strict=True)

    for name, some in groupby(events(), key=lambda one: one[0]):
        yield state_of(name, (event for _, event in some), unread)


def _states_by_spark(
    lake: Lake, feed: Feed, unread: Sequence[str], without: Sequence[str]
) -> list[TransactionState]:
    events = lake.table(Layer.TRANSACTIONS, feed.name).read()
    counting = events.where(~F.col("window").isin(list(without)))
    together = counting.repartition("id").sortWithinPartitions("id")

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = [one._asdict() for one in states_of(batches, unread)]
        yield pa.RecordBatch.from_pylist(found, schema=_STATES)

    rows = together.mapInArrow(run, from_arrow_schema(_STATES)).toArrow().to_pylist()
    return [
        TransactionState(**{**row, "commit": row["commit"] and tuple(row["commit"])})
        for row in rows
    ]


def _whole_elsewhere(
    lake: Lake, feed: Feed, still: set[str], without: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    """The commits of those of these transactions that some window holds whole, though others hold parts of them."""
    silver = lake.in_process_table(Layer.SILVER, feed.name)
    if not lake.choice.fits_in_process(silver.size, 0):
        return _whole_by_spark(lake, feed, still, without)
    found: dict[str, tuple[int, ...]] = {}
    asked = pa.array([*still], pa.string())
    for rows in silver.each(["transaction"], {"window": silver.windows.difference(without)}):
        ids, commits = (pc.struct_field(rows["transaction"], name) for name in ("id", "commit"))
        is_found = pc.and_(pc.is_in(ids, asked), pc.is_valid(commits))
        for name, commit in zip(
            ids.filter(is_found).to_pylist(), commits.filter(is_found).to_pylist(), strict=True
        ):
            found[name] = tuple(commit)
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


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """One transaction that is not complete.

    ``waiting``: how many changes wait. ``seen``, ``expected``: events read, and how many its commit says there are.
    ``first_window``, ``first_at``: of its first event. ``unread``: windows that have landed and are not read.
    """

    id: str
    waiting: int
    has_commit: bool
    seen: int
    expected: int | None
    first_window: str
    first_at: datetime | None
    age: timedelta
    never_committed: bool
    unread: tuple[str, ...] = ()


def still_open(lake: Lake, feed: Feed) -> list[OpenTransaction]:
    """The transactions that are open now, the oldest first.

    Their age is counted in landing windows, up to the newest that was read: nothing grows older while nothing lands.
    Past the feed's timeout a transaction is called ``never_committed``, which is a guess: its commit may yet come.
    """
    if not lake.in_process_table(Layer.TRANSACTIONS, feed.name).count():
        return []
    known = KnownBefore.read(lake, feed)
    declared = progress.declarations(feed, known.landed.doubtful)
    accounts = progress.accounts_of(lake, feed)
    return known.still_open(
        lake, feed, layers.Transactions.schema.empty_table(), declared, accounts
    )


@dataclass(frozen=True, slots=True)
class KnownBefore:
    """What is known of transactions over several windows before a run derives some of these windows.

    ``events``: those of the other windows; None where there are more than fit into this process. ``landed``: what has
    landed, for a transaction may go on in what was not read.
    """

    events: pa.Table | None
    landed: Landed

    @classmethod
    def read(cls, lake: Lake, feed: Feed, windows: Sequence[str] = ()) -> KnownBefore:
        """What is known now; ``windows``: those that the run derives."""
        events = read_open_events(lake, feed)
        others = None if events is None else without_windows(events, windows)
        return cls(others, Landed.read(lake, feed))

    def still_open(
        self,
        lake: Lake,
        feed: Feed,
        derived: pa.Table | None,
        declared: Mapping[str, str],
        accounts: Sequence[Mapping[str, Any]],
    ) -> list[OpenTransaction]:
        """The function ``still_open`` by what a run knows.

        ``derived``: the events of the windows that were derived; None where Spark has stored them. ``declared``: under
        which declaration each doubtful window would be derived now. ``accounts``: all of the feed.
        """
        events = None
        if self.events is not None and derived is not None:
            events = pa.concat_tables([self.events, derived])
            if not events.num_rows:
                return []
        missing = self.landed.unread(declared, accounts)
        found = states_of_transactions(lake, feed, events, missing)
        states = [one for one in found if one.commit is None]
        if not states:
            return []
        newest = parse_window(max(row["window"] for row in accounts), feed.window)
        still = []
        for one in sorted(states, key=lambda state: (state.first_window, state.id)):
            age = newest - parse_window(one.first_window, feed.window)
            facts = one._asdict() | {"first_at": moment_of(one.first_at), "age": age}
            facts |= {"never_committed": age >= feed.transaction_timeout, "unread": tuple(missing)}
            del facts["commit"]
            still.append(OpenTransaction(**facts))
        return still


def open_transactions_in_words(waiting: Sequence[OpenTransaction]) -> Markdown:
    """The open transactions, one line each: how much waits, since when, and for what."""
    return bullets(
        f"{one.id}: {'never_committed' if one.never_committed else 'open'}:"
        f" {counted(one.waiting, 'change')} since window {one.first_window}"
        f" ({counted(int(one.age / timedelta(hours=1)), 'hour')}); {_lacks(one)}"
        for one in waiting
    )


def _lacks(one: OpenTransaction) -> str:
    if not one.has_commit:
        return "no commit seen"
    if one.expected is not None:
        return f"{one.seen:,} of {one.expected:,} events seen"
    if one.unread:
        return f"windows with drops that are not read yet: {', '.join(one.unread[:5])}{', …' if one.unread[5:] else ''}"
    return "its beginning is not read yet"


def complete_transactions(
    lake: Lake,
    feed: Feed,
    windows: Sequence[str],
    accounts: pa.Table,
    brought_before: Collection[str],
) -> dict[str, tuple[tuple[int, ...], bool]] | None:
    """The complete ones of the transactions that no window holds whole: by id the commit, and whether it is new.

    New: it was not complete by the windows that are in gold already (``brought_before``), without ``windows``, which
    the run brings. Gold may not have what silver has of any other window. None where every transaction is whole in its
    window. ``accounts``: all of the feed.
    """
    events = read_open_events(lake, feed)
    if events is not None and not events.num_rows:
        return None
    landed = Landed.read(lake, feed, but=windows)
    declared = progress.declarations(feed, landed.doubtful)
    rows = accounts.select([*progress.READ_ACCOUNTS]).to_pylist()
    missing = landed.unread(declared, rows)
    in_silver = {*accounts["window"].to_pylist(), *windows}
    not_in_gold = in_silver.difference(brought_before)
    began_after = not_in_gold.intersection(landed.noted)
    now = states_of_transactions(lake, feed, events, missing)
    earlier = states_of_transactions(
        lake, feed, events, sorted({*missing, *began_after}), without=sorted(not_in_gold)
    )
    known = {one.id for one in earlier if one.commit is not None}
    return {one.id: (one.commit, one.id not in known) for one in now if one.commit is not None}
