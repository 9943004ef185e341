"""The stages of silver: from bronze's records to the rows of silver and quarantine, and the accounts of them."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from transforms.change import CONTROL
from transforms.column_types.record_batches import bounded, groups, reading_of
from transforms.compaction_watermarks import CompactionWatermark
from transforms.errors import WeirError
from transforms.event import Event, Pending
from transforms.feed.feed import Feed
from transforms.record import BronzeRecord
from transforms.silver import duplicates, transactions
from transforms.silver import faults as too_late
from transforms.silver.accounting import (
    DUPLICATE,
    QUARANTINED,
    TOO_LATE,
    AccountKey,
    Accounts,
    LogPoint,
    counted_as,
)
from transforms.silver.changes import CHANGE, KEY_CHANGE, Row
from transforms.silver.conform import Conform, conformer
from transforms.silver.duplicates import Conflicts
from transforms.silver.faults import is_covered
from transforms.silver.frames import (
    ACCOUNT,
    CHANGES,
    COVERED,
    IN_BASE,
    OUTPUT,
    PENDING,
    ROWS,
    TO_QUARANTINE,
    Shards,
    output_batch,
    row_batches,
    transaction_part,
    unpacked,
)
from transforms.silver.snapshots import STRETCH, Collected
from transforms.silver.trails import Deliveries, Point, TrailKey, part_of_source, point_of
from transforms.source_format import Decode, Resolve, SourceFormat
from transforms.task_errors import failed_at, naming_record, with_clear_errors


class OutputRow(NamedTuple):
    """What has to be read of a row of ``OUTPUT`` to count it."""

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
    stream: str | None
    log_position: list[int]
    dedup_prefix: int
    reason: str | None
    segment: int | None
    event_at: int | None
    extracted_at: int | None


def output_rows(batch: pa.RecordBatch) -> Iterator[OutputRow]:
    """The rows of a batch of ``OUTPUT``."""
    cells = zip(*(batch.column(name).to_pylist() for name in OutputRow._fields), strict=True)
    return map(OutputRow._make, cells)


def count_row(accounts: Accounts, one: Row | OutputRow, outcome: str | None) -> None:
    """Count a row under its outcome; None for one that silver keeps."""
    group_key = AccountKey(one.window, one.table, one.source_table, one.declared)
    accounts.add(
        group_key,
        counted_as(one.tally, one.derived, outcome),
        one.facts if outcome is None else None,
        is_first=one.is_first,
    )
    if outcome is None and one.stream is not None:
        accounts.add_stream(group_key, one.stream)
    if outcome is None and one.tally == CHANGE:
        accounts.note_time(group_key, one.event_at)
        accounts.note_position(group_key, one.log_position, one.dedup_prefix)
    if outcome is None and one.segment is not None and one.tally == CHANGE:
        log_position: Any = one.log_position
        moment = LogPoint(log_position[0], one.segment, one.event_at, one.extracted_at)
        accounts.note(group_key, moment)


class Walked:
    """Tells accounts where changes stand beside their times, as the rows pass in the order of their sort keys.

    Of all deliveries of an event the one that was read first counts. ``arrives_by``: as in ``SourceFormat``.
    """

    def __init__(self, accounts: Accounts, arrives_by: str | None) -> None:
        self._accounts = accounts
        self._arrives_by = arrives_by
        self._deliveries = Deliveries()

    def add(self, group: bytes, row: Row) -> None:
        """A row that is a change, or delivers it again."""
        # Most changes stand between others of their time, and are passed over at once.
        if self._arrives_by is None and self._is_between(row):
            return
        found = point_of(row, self._arrives_by)
        if found is not None:
            account_key = AccountKey(row.window, row.table, row.source_table, row.declared)
            self._note(self._deliveries.add(group, account_key, *found))

    def _is_between(self, row: Row) -> bool:
        made, position = row.event_at, row.log_position
        if made is None or position is None:
            return False
        account = (row.window, row.table, row.source_table, row.declared)
        trail = self._accounts.trail_of(account, part_of_source(row, position))
        return trail is not None and trail.has_between(made, position[1 : row.dedup_prefix])

    def end(self) -> None:
        """No more rows come."""
        self._note(self._deliveries.rest())

    def _note(self, points: Iterable[tuple[AccountKey, TrailKey, Point]]) -> None:
        for one in points:
            self._accounts.note_point(*one)


def count_stretch(accounts: Accounts, one: Row) -> None:
    """Remember which stretch of a snapshot the window has."""
    group_key = AccountKey(one.window, one.table, one.source_table, one.declared)
    accounts.add_stretch(group_key, one.facts or "")


def count_conflict(accounts: Accounts, one: Row, other: Row) -> None:
    """Count a row that contradicts another one, and keep where both stand."""
    group_key = AccountKey(other.window, other.table, other.source_table, other.declared)
    accounts.warn(group_key, duplicates.CONFLICT, duplicates.conflict_in_words(one, other))


def account_batch(accounts: Accounts) -> pa.RecordBatch:
    """One row of ``OUTPUT`` that holds a task's accounts, as text in ``payload``."""
    values = {"kind": ACCOUNT, "payload": accounts.text().encode()}
    return pa.RecordBatch.from_arrays(
        [pa.array([values.get(one.name)], one.type) for one in OUTPUT], schema=OUTPUT
    )


# The stages of silver: from bronze's records to the rows of silver and quarantine, and the accounts of them.
# A stage is a plain callable from Arrow batches to Arrow batches. An executor runs it, in this process or in Spark's
# tasks, and nothing here knows which of them does. What is imported here is imported by every Python worker.


Batches = Iterator[pa.RecordBatch]
Surveyed = Mapping[str, frozenset[tuple[object, ...]]]


@dataclass(frozen=True, slots=True)
class DecodeRows:
    """Bronze records to rows: decoded by the format, and conformed to the feed's declarations."""

    feed: Feed
    format: SourceFormat
    surveyed: Surveyed = field(default_factory=dict)
    compaction_watermarks: Mapping[str, CompactionWatermark] = field(default_factory=dict)
    shards: Shards = field(default_factory=Shards)

    @property
    def schema(self) -> pa.Schema:
        """The columns of what comes out."""
        return ROWS

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``ROWS`` from batches of bronze."""
        decode = self.format.decoder(self.feed, self.surveyed)
        conform = _conform(self.feed, self.format, self.compaction_watermarks)
        with with_clear_errors(self.feed):
            for records in bounded(self.feed, batches):
                snapshots = Collected()
                rows = _rows(self.feed, records, decode, conform, snapshots)
                rows += snapshots.rows(records[0])
                yield from batches_of(self.feed, records[0], rows, self.shards)


@dataclass(frozen=True, slots=True)
class Survey:
    """Bronze records to facts that other records of their window have to be decoded with."""

    feed: Feed
    format: SourceFormat

    @property
    def schema(self) -> pa.Schema:
        """The columns of what comes out."""
        return _FACTS

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``window`` and ``fact``, pickled, from batches of bronze."""
        surveyor = self.format.surveyor
        assert surveyor is not None  # only formats with a surveyor are surveyed
        survey = surveyor(self.feed)
        with with_clear_errors(self.feed):
            for records in bounded(self.feed, batches):
                found = [
                    (one.window, pickle.dumps(fact)) for one in records for fact in survey(one)
                ]
                yield pa.RecordBatch.from_pydict(
                    {"window": [one[0] for one in found], "fact": [one[1] for one in found]},
                    schema=_FACTS,
                )


_FACTS = pa.schema([("window", pa.string()), ("fact", pa.binary())])


def batches_of(feed: Feed, first: BronzeRecord, rows: Sequence[Row], shards: Shards) -> Batches:
    """The rows of some records as batches; an error names the ``first`` of these records."""
    with naming_record(reading_of(feed, first)):
        yield from row_batches(rows, shards)


def _conform(
    feed: Feed, source: SourceFormat, compaction_watermarks: Mapping[str, CompactionWatermark]
) -> Conform:
    """The feed's conform function."""
    return conformer(
        feed,
        describes_tables=source.describes_tables,
        compaction_watermarks=compaction_watermarks,
    )


def _rows(
    feed: Feed,
    records: Iterable[BronzeRecord],
    decode: Decode,
    conform: Conform,
    snapshots: Collected,
) -> list[Row]:
    rows: list[Row] = []
    for record in records:
        try:
            events: Sequence[Event] = [*decode(record)]  # type: ignore[list-item]
            made = conform(record, events)
            for ordinal, event in enumerate(events):
                if event.snapshot is not None and event.fault is None:
                    snapshots.add(event, next(row for row in made if row.ordinal == ordinal))
            rows += made
        except WeirError:
            raise
        except Exception as fault:
            raise failed_at(reading_of(feed, record), fault) from fault
    return rows


@dataclass(frozen=True, slots=True)
class DecodePending:
    """Bronze records to pending records: what each says by itself, pickled, with its group and its place there."""

    feed: Feed
    format: SourceFormat
    surveyed: Surveyed = field(default_factory=dict)

    @property
    def schema(self) -> pa.Schema:
        """The columns of what comes out."""
        return PENDING

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``PENDING`` from batches of bronze."""
        decode = self.format.decoder(self.feed, self.surveyed)
        with with_clear_errors(self.feed):
            for records in bounded(self.feed, batches):
                yield _pending_batch(self.feed, records, decode)


@dataclass(frozen=True, slots=True)
class ResolveRows:
    """Groups of pending records, in their order, to rows."""

    feed: Feed
    format: SourceFormat
    compaction_watermarks: Mapping[str, CompactionWatermark] = field(default_factory=dict)
    shards: Shards = field(default_factory=Shards)

    @property
    def schema(self) -> pa.Schema:
        """The columns of what comes out."""
        return ROWS

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``ROWS`` from batches of ``PENDING`` that are sorted by group and order."""
        conform = _conform(self.feed, self.format, self.compaction_watermarks)
        resolver = self.format.resolver
        assert resolver is not None  # only such formats have pending records
        resolve = resolver(self.feed)
        with with_clear_errors(self.feed):
            for group in groups(self.feed, batches):
                for rows in _resolved(self.feed, group, resolve, conform):
                    yield from batches_of(self.feed, group[0][0], rows, self.shards)


_GROUP_ROWS = 5_000


def _resolved(
    feed: Feed, group: Sequence[tuple[BronzeRecord, Any]], resolve: Resolve, conform: Conform
) -> Iterator[list[Row]]:
    """The rows of one group, in lists of bounded size."""
    # Until a record is looked at by itself, an error is the whole group's.
    reading, together = reading_of(feed, group[0][0]), len(group)
    try:
        events = iter(resolve([content for _, content in group if type(content) is not Event]))
        rows: list[Row] = []
        for record, content in group:
            event = content if type(content) is Event else next(events)
            reading, together = reading_of(feed, record), 1
            rows += conform(record, [event])
            if len(rows) >= _GROUP_ROWS:
                yield rows
                rows = []
        if rows:
            yield rows
    except WeirError:
        raise
    except Exception as fault:
        raise failed_at(reading, fault, together) from fault


def _decoded(feed: Feed, record: BronzeRecord, decode: Decode) -> Sequence[Event | Pending]:
    try:
        return [*decode(record)]
    except WeirError:
        raise
    except Exception as fault:
        raise failed_at(reading_of(feed, record), fault) from fault


def _pending_batch(feed: Feed, records: Iterable[BronzeRecord], decode: Decode) -> pa.RecordBatch:
    groups, orders, blobs = [], [], []
    for record in records:
        for one in _decoded(feed, record, decode):
            is_event = type(one) is Event
            group_key = (record.object, record.line) if is_event else one.group  # type: ignore[union-attr]
            group = pickle.dumps((record.window, group_key))
            groups.append(group)
            orders.append((0,) if is_event else one.order)  # type: ignore[union-attr]
            content = one if is_event else one.content  # type: ignore[union-attr]
            blobs.append(pickle.dumps((record, content), protocol=pickle.HIGHEST_PROTOCOL))
    arrays = {"group": groups, "order": orders, "blob": blobs}
    return pa.RecordBatch.from_arrays(
        [pa.array(arrays[one.name], one.type) for one in PENDING], schema=PENDING
    )


_BATCH_ROWS = 5_000


@dataclass(frozen=True, slots=True)
class Commits:
    """The stage that finds the commit of each transaction that its window holds whole."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of what comes out."""
        return _COMMITS

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row per such transaction, from ``transaction`` and ``part`` of ``ROWS``, sorted by the first."""
        found: list[tuple[bytes, list[int]]] = []
        for packed, parts in groupby(_parts(batches), key=lambda one: one[0]):
            commit = transactions.commit_of(transaction_part(part) for _, part in parts)
            if commit is not None:
                found.append((packed, list(commit)))
            if len(found) >= _BATCH_ROWS:
                yield _commit_batch(found)
                found = []
        if found:
            yield _commit_batch(found)


def _commit_batch(found: Sequence[tuple[bytes, list[int]]]) -> pa.RecordBatch:
    columns = {"transaction": [one[0] for one in found], "commit": [one[1] for one in found]}
    return pa.RecordBatch.from_pydict(columns, schema=_COMMITS)


_COMMITS = pa.schema([("transaction", pa.binary()), ("commit", pa.list_(pa.int64()))])


def _parts(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[bytes, bytes]]:
    for batch in batches:
        cells = (batch.column(name).to_pylist() for name in ("transaction", "part"))
        yield from zip(*cells, strict=True)


@dataclass(frozen=True, slots=True)
class Classify:
    """The stage that gives sorted rows their outcome: changes that count, quarantined events, and accounts.

    Changes at or below their table's compaction watermark are left to ``JudgeCovered``. ``arrives_by``: as in
    ``SourceFormat``.
    """

    feed: Feed
    compaction_watermarks: Mapping[str, CompactionWatermark] = field(default_factory=dict)
    arrives_by: str | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns of what comes out."""
        return OUTPUT

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``OUTPUT`` from batches of ``ROWS`` in the order of ``sort_key``; the last has the accounts."""
        accounts = Accounts()
        walked = Walked(accounts, self.arrives_by)
        seen = _Seen(duplicates.Deliveries(), Conflicts(), walked)
        with with_clear_errors(self.feed):
            for batch in batches:
                if batch.num_rows:
                    yield _classified(batch, seen, accounts, self.compaction_watermarks)
            walked.end()
            yield account_batch(accounts)


class _Seen(NamedTuple):
    """What is remembered of the rows before: which events there were, what the last one said, and where they stood."""

    deliveries: duplicates.Deliveries
    conflicts: Conflicts
    walked: Walked


def _classified(
    batch: pa.RecordBatch,
    seen: _Seen,
    accounts: Accounts,
    compaction_watermarks: Mapping[str, CompactionWatermark],
) -> pa.RecordBatch:
    """The rows of a batch with their outcome, without duplicates; counts all of them."""
    rows: list[Row] = []
    kinds: list[str] = []
    commits: list[Sequence[int] | None] = []
    cells = zip(
        unpacked(batch),
        batch.column("group").to_pylist(),
        batch.column("commit").to_pylist(),
        strict=True,
    )
    for row, group, commit in cells:
        if row.tally == STRETCH:
            count_stretch(accounts, row)
            continue
        outcome, kind = None, CHANGES
        log_position: Any = row.log_position
        if row.fault is not None:
            outcome, kind = QUARANTINED, TO_QUARANTINE
        elif seen.deliveries.is_repeat(group, row.event_id or "", log_position[: row.dedup_prefix]):
            count_row(accounts, row, DUPLICATE)
            seen.walked.add(group, row)
            continue
        elif row.effect not in CONTROL and is_covered(
            compaction_watermarks.get(row.table or ""), log_position, row.dedup_prefix
        ):
            kind = COVERED
            accounts.left_out += 1
        if kind != COVERED:
            count_row(accounts, row, outcome)
        if kind == CHANGES:
            seen.walked.add(group, row)
            other = seen.conflicts.other_of(group, row)
            if other is not None:
                count_conflict(accounts, other, row)
        if kind == CHANGES and row.transaction is not None and not commit:
            accounts.open_events += 1
        rows.append(row)
        kinds.append(kind)
        commits.append(commit or None)
    return output_batch(rows, kinds, commits)


@dataclass(frozen=True, slots=True)
class JudgeCovered:
    """The stage that sorts changes at or below a watermark, each with ``is_known``, into repeats and late ones.

    ``keeps_known``: known ones stay changes, for a proof that makes gold from the first event on.
    """

    feed: Feed
    keeps_known: bool

    @property
    def schema(self) -> pa.Schema:
        """The columns of what comes out."""
        return OUTPUT

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``OUTPUT`` from batches of it with ``is_known``; the last has the accounts."""
        accounts = Accounts()
        with with_clear_errors(self.feed):
            for batch in batches:
                if batch.num_rows:
                    yield from self._judged(batch, accounts)
            yield account_batch(accounts)

    def _judged(self, batch: pa.RecordBatch, accounts: Accounts) -> Batches:
        known = batch.column("is_known").to_pylist()
        kinds: list[str | None] = []
        reasons: list[str | None] = []
        details: list[str | None] = []
        for one, is_known in zip(output_rows(batch), known, strict=True):
            of_known = None if self.keeps_known else DUPLICATE
            outcome = of_known if is_known else TOO_LATE
            count_row(accounts, one, outcome)
            fault = (
                too_late.too_late_fault(one.table, one.log_position)
                if outcome == TOO_LATE
                else None
            )
            kinds.append(_kind_of_covered(one, outcome))
            reasons.append(fault and fault.reason)
            details.append(fault and fault.detail)
        accounts.open_events += _open_events(batch, kinds)
        faults = {"reason": reasons, "detail": details}
        columns = {name: batch.column(name) for name in OUTPUT.names}
        columns |= {name: pa.array(some, pa.string()) for name, some in faults.items()}
        yield from _kept(columns, kinds)


def _open_events(batch: pa.RecordBatch, kinds: Sequence[str | None]) -> int:
    """How many rows of a batch, known or new, are of a transaction that their window does not hold whole."""
    transactions = batch.column("transaction")
    if transactions.null_count == len(transactions):
        return 0
    is_kept = pc.is_in(pa.array(kinds, pa.string()), pa.array([CHANGES, IN_BASE]))
    is_open = pc.and_(
        pc.is_valid(transactions), pc.is_null(pc.struct_field(transactions, "commit"))
    )
    return pc.sum(pc.and_(is_kept, is_open)).as_py() or 0


def _kind_of_covered(one: OutputRow, outcome: str | None) -> str | None:
    if outcome is None:
        return CHANGES
    if outcome == DUPLICATE:
        return IN_BASE
    # A key change deletes the old key: that half is reported with the other one.
    return None if one.derived == KEY_CHANGE else TO_QUARANTINE


def _kept(columns: Mapping[str, pa.Array], kinds: Sequence[str | None]) -> Batches:
    """The rows that are not dropped, as ``OUTPUT``."""
    kind = pa.array(kinds, pa.string())
    arrays = [kind if name == "kind" else columns[name] for name in OUTPUT.names]
    whole = pa.RecordBatch.from_arrays(arrays, schema=OUTPUT)
    yield whole.filter(pc.is_valid(kind)) if kind.null_count else whole
