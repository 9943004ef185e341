"""The functions of ``transforms`` over Arrow batches, as Spark's tasks call them: nothing else knows Arrow.

Each stage takes an iterator of batches and gives one, so that it runs in a task, in ``DataFrame.mapInArrow``, and
anywhere else. Batches are bounded by bytes. Not here: which stages follow each other, and what Spark does in between
(``silver``); what the values mean (``transforms``). What is imported here is imported by every Python worker.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc

from assets.silver_schema import ACCOUNT, CHANGES, COVERED, IN_BASE, OUTPUT, PENDING, REFUSED, ROWS
from assets.task_errors import TaskFailed
from transforms.change import CONTROL
from transforms.errors import RecordFailed, WeirError
from transforms.event import Event, Pending
from transforms.feed import Feed
from transforms.formats.spec import Decode, SourceFormat
from transforms.horizons import Horizon
from transforms.record import BronzeRecord
from transforms.silver import duplicates, too_late, transactions
from transforms.silver.accounting import (
    DUPLICATE,
    QUARANTINED,
    TOO_LATE,
    Accounts,
    Moment,
    Whose,
    counted_as,
)
from transforms.silver.changes import CHANGE, KEY_CHANGE, Row
from transforms.silver.conform import Conform, conformer
from transforms.silver.too_late import is_covered
from transforms.tables import table_of_object

Batches = Iterator[pa.RecordBatch]
Surveyed = Mapping[str, frozenset[tuple[object, ...]]]

BATCH_BYTES = 8 << 20
"""About so many bytes of records go into one batch of rows."""

SHARDS = 1 << 20
"""Rows are dealt to tasks by a number below this one."""


@dataclass(frozen=True, slots=True)
class DecodeRows:
    """Bronze records to rows, for formats whose records mean what they mean by themselves."""

    feed: Feed
    format: SourceFormat
    surveyed: Surveyed = field(default_factory=dict)
    horizons: Mapping[str, Horizon] = field(default_factory=dict)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``ROWS`` from batches of bronze."""
        decode = decoder_of(self.feed, self.format, self.surveyed)
        tells_tables = self.format.tells_tables
        conform = conformer(self.feed, tells_tables=tells_tables, horizons=self.horizons)
        with told_clearly(self.feed):
            for records in _bounded(self.feed, batches):
                yield row_batch(_rows(self.feed, records, decode, conform))


@dataclass(frozen=True, slots=True)
class DecodePending:
    """Bronze records to what their neighbours have to decide, pickled, with the group and the order of each."""

    feed: Feed
    format: SourceFormat
    surveyed: Surveyed = field(default_factory=dict)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``PENDING`` from batches of bronze."""
        decode = decoder_of(self.feed, self.format, self.surveyed)
        with told_clearly(self.feed):
            for records in _bounded(self.feed, batches):
                yield _pending_batch(self.feed, records, decode)


@dataclass(frozen=True, slots=True)
class ResolveRows:
    """Groups of pending records, in their order, to rows."""

    feed: Feed
    format: SourceFormat
    horizons: Mapping[str, Horizon] = field(default_factory=dict)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``ROWS`` from batches of ``PENDING`` that are sorted by group and order."""
        tells_tables = self.format.tells_tables
        conform = conformer(self.feed, tells_tables=tells_tables, horizons=self.horizons)
        resolver = self.format.resolver
        assert resolver is not None  # only such formats have pending records
        resolve = resolver(self.feed)
        with told_clearly(self.feed):
            for group in _groups(batches):
                waiting = [(record, said) for record, said in group if type(said) is not Event]
                events = iter(resolve([said for _, said in waiting]))
                rows: list[Row] = []
                for record, said in group:
                    event = said if type(said) is Event else next(events)
                    rows += conform(record, [event])
                    if len(rows) >= _GROUP_ROWS:
                        yield row_batch(rows)
                        rows = []
                if rows:
                    yield row_batch(rows)


_GROUP_ROWS = 5_000


@dataclass(frozen=True, slots=True)
class Survey:
    """Bronze records to the facts that others of their window need to know."""

    feed: Feed
    format: SourceFormat

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``window`` and ``fact``, pickled, from batches of bronze."""
        surveyor = self.format.surveyor
        assert surveyor is not None  # only such formats have marks
        survey = surveyor(self.feed)
        with told_clearly(self.feed):
            for records in _bounded(self.feed, batches):
                found = [
                    (one.window, pickle.dumps(fact)) for one in records for fact in survey(one)
                ]
                yield pa.RecordBatch.from_pydict(
                    {"window": [one[0] for one in found], "fact": [one[1] for one in found]},
                    schema=_FACTS,
                )


_FACTS = pa.schema([("window", pa.string()), ("fact", pa.binary())])


@dataclass(frozen=True, slots=True)
class Classify:
    """Rows, sorted, to what becomes of them: changes that count, refused events, and accounts.

    Changes at or below their table's horizon are left to ``JudgeCovered``.
    """

    feed: Feed
    horizons: Mapping[str, Horizon] = field(default_factory=dict)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``OUTPUT`` from batches of ``ROWS`` in the order of ``sort_key``; the last has the accounts."""
        deliveries, accounts = duplicates.Deliveries(), Accounts()
        with told_clearly(self.feed):
            for batch in batches:
                if batch.num_rows:
                    kinds = _classified(batch, deliveries, accounts, self.horizons)
                    columns = {name: batch.column(name) for name in batch.schema.names}
                    yield from _kept(columns, kinds)
            yield _account_batch(accounts)


def decoder_of(feed: Feed, source: SourceFormat, surveyed: Surveyed) -> Decode:
    """The feed's decode function."""
    assert source.decoder is not None  # every format has one
    return source.decoder(feed, surveyed)


@contextmanager
def told_clearly(feed: Feed) -> Iterator[None]:
    """Errors leave a task as Weir's own, which name the feed."""
    try:
        yield
    except WeirError as error:
        raise TaskFailed(error) from None
    except MemoryError:
        fault = "a record or a group of records does not fit into the memory of a Python worker"
        raise TaskFailed(RecordFailed(feed.name, "", 0, fault)) from None


def records_of(feed: Feed, batch: pa.RecordBatch) -> list[BronzeRecord]:
    """The records of a batch of bronze; the mark of an object without any is none."""
    columns = [_column(batch, name) for name in _RECORD_FIELDS]
    tables = {name: table_of_object(name, feed.tables) for name in set(columns[1])}
    records = [BronzeRecord(*cells) for cells in zip(*columns, strict=True) if cells[3] > 0]
    for record in records:
        record.path_table = tables[record.object]
    return records


_RECORD_FIELDS = (
    *("window", "object", "generation", "line", "byte_offset", "header", "payload", "defect"),
    *("landed_at", "key", "headers"),
)


def _column(batch: pa.RecordBatch, name: str) -> list[Any]:
    column = batch.column(name)
    if name == "landed_at":
        column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    if name == "headers" and column.null_count == len(column):
        return [None] * len(column)
    values: list[Any] = column.to_pylist()
    if name == "headers":
        return [
            None if one is None else [(part["key"], part["value"]) for part in one]
            for one in values
        ]
    return values


def _bounded(feed: Feed, batches: Iterable[pa.RecordBatch]) -> Iterator[list[BronzeRecord]]:
    """The records of batches of bronze, in lists of bounded size."""
    for batch in batches:
        size = batch.nbytes
        pieces = max(1, -(-size // BATCH_BYTES))
        step = max(1, -(-batch.num_rows // pieces))
        for start in range(0, batch.num_rows, step):
            records = records_of(feed, batch.slice(start, step))
            if records:
                yield records


def _decoded(feed: Feed, record: BronzeRecord, decode: Decode) -> Sequence[Event | Pending]:
    try:
        return [*decode(record)]
    except (WeirError, MemoryError):
        raise
    except Exception as fault:
        # A record that nobody foresaw: what it is must be told, for the log of a task says nothing of it.
        told = f"{type(fault).__name__}: {fault}"
        raise RecordFailed(feed.name, record.object, record.line, told) from fault


def _rows(
    feed: Feed, records: Iterable[BronzeRecord], decode: Decode, conform: Conform
) -> list[Row]:
    rows: list[Row] = []
    for record in records:
        events = _decoded(feed, record, decode)
        rows += conform(record, events)  # type: ignore[arg-type]
    return rows


def row_batch(rows: Sequence[Row]) -> pa.RecordBatch:
    """The rows as a batch of ``ROWS``."""
    arrays = columns_of(rows)
    groups = [duplicates.group_key(row) for row in rows]
    for name in ("reason", "detail"):
        said = [None if row.fault is None else getattr(row.fault, name) for row in rows]
        arrays[name] = pa.array(said, pa.string())
    arrays["group"] = pa.array(groups, pa.binary())
    arrays["sort_key"] = pa.array(
        [duplicates.sort_key(row, group) for row, group in zip(rows, groups, strict=True)],
        pa.binary(),
    )
    arrays["shard"] = pa.array([crc32(group) % SHARDS for group in groups], pa.int32())
    return pa.RecordBatch.from_arrays([arrays[name] for name in ROWS.names], schema=ROWS)


_PLAIN = tuple(
    name
    for name in ROWS.names
    if name not in ("reason", "detail", "group", "sort_key", "shard", "settled")
)


def columns_of(rows: Sequence[Row]) -> dict[str, pa.Array]:
    """The fields of rows as Arrow columns."""
    names = [*_PLAIN, "stable_prefix"]
    cells = zip(*map(attrgetter(*names), rows), strict=True) if rows else [()] * len(names)
    found = {}
    for name, values in zip(names, cells, strict=True):
        column = "settled" if name == "stable_prefix" else name
        kind = ROWS.field(column).type
        if pa.types.is_map(kind):
            found[column] = map_array(values, kind)
        elif name == "transaction":
            found[column] = _transactions(values, kind)
        else:
            found[column] = pa.array(values, kind)
    return found


def map_array(values: Iterable[Mapping[str, str | None] | None], kind: pa.DataType) -> pa.Array:
    """Maps as one array: from flat lists, which is the fast way."""
    offsets: list[int | None] = []
    keys: list[str] = []
    items: list[str | None] = []
    for value in values:
        if value is None:
            offsets.append(None)
            continue
        offsets.append(len(keys))
        keys += value
        items += value.values()
    offsets.append(len(keys))
    return pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()),
        pa.array(keys, pa.string()),
        pa.array(items, pa.string()),
        type=kind,
    )


def _transactions(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if not any(values):
        return pa.nulls(len(values), kind)
    return pa.array([one and {**one._asdict(), "commit": None} for one in values], kind)


def _pending_batch(feed: Feed, records: Iterable[BronzeRecord], decode: Decode) -> pa.RecordBatch:
    groups, orders, shards, blobs = [], [], [], []
    for record in records:
        for one in _decoded(feed, record, decode):
            is_event = type(one) is Event
            whose = (record.object, record.line) if is_event else one.group  # type: ignore[union-attr]
            group = pickle.dumps((record.window, whose))
            groups.append(group)
            orders.append((0,) if is_event else one.order)  # type: ignore[union-attr]
            shards.append(crc32(group) % SHARDS)
            said = one if is_event else one.said  # type: ignore[union-attr]
            blobs.append(pickle.dumps((record, said), protocol=pickle.HIGHEST_PROTOCOL))
    arrays = {"group": groups, "order": orders, "shard": shards, "blob": blobs}
    return pa.RecordBatch.from_arrays(
        [pa.array(arrays[one.name], one.type) for one in PENDING], schema=PENDING
    )


def _groups(
    batches: Iterable[pa.RecordBatch],
) -> Iterator[list[tuple[BronzeRecord, Any]]]:
    """The items of each group, in order: batches are sorted."""
    last: bytes | None = None
    held: list[tuple[BronzeRecord, Any]] = []
    for batch in batches:
        for group, blob in zip(
            batch.column("group").to_pylist(), batch.column("blob").to_pylist(), strict=True
        ):
            if group != last:
                if held:
                    yield held
                last, held = group, []
            held.append(pickle.loads(blob))
    if held:
        yield held


def _classified(
    batch: pa.RecordBatch,
    deliveries: duplicates.Deliveries,
    accounts: Accounts,
    horizons: Mapping[str, Horizon],
) -> list[str | None]:
    """What becomes of each row of a batch: the ``kind`` that it has in ``OUTPUT``, or None for a duplicate."""
    kinds: list[str | None] = []
    for one in _looked_at(batch):
        outcome = None
        if one.reason is not None:
            outcome = QUARANTINED
        elif deliveries.is_repeat(one.group, one.event_id, one.position[: one.settled]):
            outcome = DUPLICATE
        elif one.effect not in CONTROL and is_covered(
            horizons.get(one.table or ""), one.position, one.settled
        ):
            kinds.append(COVERED)
            accounts.left_out += 1
            continue
        count(accounts, one, outcome)
        kinds.append(CHANGES if outcome is None else REFUSED if outcome == QUARANTINED else None)
    return kinds


class _Looked(NamedTuple):
    """What is looked at of a row, once it is in Arrow; ``group`` is None behind ``Classify``."""

    window: str
    table: str | None
    source_table: str
    declared: str | None
    event_id: str
    effect: str
    derived: str | None
    tally: str
    facts: str | None
    is_first: bool
    position: list[int]
    settled: int
    reason: str | None
    segment: int | None
    event_at: int | None
    extracted_at: int | None
    group: bytes = b""


def _looked_at(batch: pa.RecordBatch) -> Iterator[_Looked]:
    names = [name for name in _Looked._fields if name in batch.schema.names]
    cells = zip(*(batch.column(name).to_pylist() for name in names), strict=True)
    return (
        map(_Looked._make, cells)
        if len(names) == len(_Looked._fields)
        else (_Looked(*some) for some in cells)
    )


def count(accounts: Accounts, one: _Looked, outcome: str | None) -> None:
    """Count a row as what became of it; None for one that silver keeps."""
    whose = Whose(one.window, one.table, one.source_table, one.declared)
    accounts.add(
        whose,
        counted_as(one.tally, one.derived, outcome),
        one.facts if outcome is None else None,
        is_first=one.is_first,
    )
    if outcome is None and one.segment is not None and one.tally == CHANGE:
        moment = Moment(one.position[0], one.segment, one.event_at, one.extracted_at)
        accounts.note(whose, moment)


@dataclass(frozen=True, slots=True)
class JudgeCovered:
    """Changes at or below a horizon, each with ``is_known``, to repeats and to what came too late.

    ``keeps_known``: known ones stay changes, as a proof wants it that makes gold anew from the first event.
    """

    feed: Feed
    keeps_known: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``OUTPUT`` from batches of it with ``is_known``; the last has the accounts."""
        accounts = Accounts()
        with told_clearly(self.feed):
            for batch in batches:
                if batch.num_rows:
                    yield from self._judged(batch, accounts)
            yield _account_batch(accounts)

    def _judged(self, batch: pa.RecordBatch, accounts: Accounts) -> Batches:
        known = batch.column("is_known").to_pylist()
        kinds: list[str | None] = []
        reasons: list[str | None] = []
        details: list[str | None] = []
        for one, is_known in zip(_looked_at(batch), known, strict=True):
            of_known = None if self.keeps_known else DUPLICATE
            outcome = of_known if is_known else TOO_LATE
            count(accounts, one, outcome)
            fault = too_late.fault(one.table, one.position) if outcome == TOO_LATE else None
            kinds.append(_kind_of_covered(one, outcome))
            reasons.append(fault and fault.reason)
            details.append(fault and fault.detail)
        told = {"reason": reasons, "detail": details}
        columns = {name: batch.column(name) for name in OUTPUT.names}
        columns |= {name: pa.array(some, pa.string()) for name, some in told.items()}
        yield from _kept(columns, kinds)


def _kind_of_covered(one: _Looked, outcome: str | None) -> str | None:
    if outcome is None:
        return CHANGES
    if outcome == DUPLICATE:
        return IN_BASE
    # The delete that a key change is for the old key is told of with its other half.
    return None if one.derived == KEY_CHANGE else REFUSED


def _kept(columns: Mapping[str, pa.Array], kinds: Sequence[str | None]) -> Batches:
    """The rows that are not dropped, as ``OUTPUT``."""
    kind = pa.array(kinds, pa.string())
    arrays = [kind if name == "kind" else columns[name] for name in OUTPUT.names]
    whole = pa.RecordBatch.from_arrays(arrays, schema=OUTPUT)
    yield whole.filter(pc.is_valid(kind)) if kind.null_count else whole


def _account_batch(accounts: Accounts) -> pa.RecordBatch:
    values = {"kind": ACCOUNT, "payload": accounts.text().encode()}
    return pa.RecordBatch.from_arrays(
        [pa.array([values.get(one.name)], one.type) for one in OUTPUT], schema=OUTPUT
    )


def commits(batches: Iterable[pa.RecordBatch]) -> Batches:
    """One row per transaction that its window holds whole: ``window``, ``id``, ``commit``.

    Takes the parts of transactions (``transforms/silver/transactions.Part``) sorted by window and id.
    """
    for (window, name), parts in groupby(_parts(batches), key=lambda one: one[0]):
        commit = transactions.commit_of(part for _, part in parts)
        if commit is not None:
            columns = {"window": [window], "id": [name], "commit": [list(commit)]}
            yield pa.RecordBatch.from_pydict(columns, schema=_COMMITS)


_COMMITS = pa.schema(
    [("window", pa.string()), ("id", pa.string()), ("commit", pa.list_(pa.int64()))]
)


def _parts(
    batches: Iterable[pa.RecordBatch],
) -> Iterator[tuple[tuple[str, str], transactions.Part]]:
    for batch in batches:
        for row in batch.to_pylist():
            part = transactions.Part(
                row["event_id"],
                row["effect"],
                row["is_derived"],
                tuple(row["position"]),
                row["expected"],
                row["has_begin"],
            )
            yield (row["window"], row["id"]), part
