"""The stages of silver: from bronze's records to the rows of silver and quarantine, and the accounts of them.

A stage is a plain callable from Arrow batches to Arrow batches. An executor runs it, in this process or in Spark's
tasks, and nothing here knows which. Every Python worker imports this module.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any, ClassVar, Final, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from transforms.change import CONTROL
from transforms.compaction_watermarks import CompactionWatermark
from transforms.errors import WeirError
from transforms.event import Event, Pending, Transaction
from transforms.feed.erasures import ErasedKeys, erased_keys, erased_record, hashed_event
from transforms.feed.feed import Feed
from transforms.feed.masks import MaskKey
from transforms.record import BronzeRecord
from transforms.silver import duplicates, faults, snapshots, transactions
from transforms.silver.accounting import (
    DUPLICATE,
    LANDED_AGAIN,
    QUARANTINED,
    TOO_LATE,
    AccountKey,
    Accounts,
    counted_as,
)
from transforms.silver.changes import CHANGE, ERASED, KEY_CHANGE, Row
from transforms.silver.conform import Conform, Conformer
from transforms.silver.frames import (
    ACCOUNT,
    CHANGES,
    COVERED,
    IN_BASE,
    OF_ERASED,
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
from transforms.silver.keys_beside import KeysBeside, is_of_erased
from transforms.silver.plain_counts import count_plain
from transforms.silver.plain_rows import (
    Sort,
    in_steps,
    may_meet_another,
    output_of,
    rows_of,
    sorted_in_memory,
)
from transforms.silver.record_batches import bounded, groups, reading_of
from transforms.silver.shapes import ShapedRows
from transforms.silver.source_repairs import but_source_rows, with_source_rows
from transforms.silver.trails import Deliveries, Point, TrailKey, part_of_source, point_of
from transforms.source_format import Decode, Resolve, SourceFormat
from transforms.task_errors import failed_at, naming_record, with_clear_errors

Batches = Iterator[pa.RecordBatch]
Surveyed = Mapping[str, frozenset[tuple[object, ...]]]

_FACTS: Final = pa.schema([("window", pa.string()), ("fact", pa.binary())])
_COMMITS: Final = pa.schema([("transaction", pa.binary()), ("commit", pa.list_(pa.int64()))])
_GROUP_ROWS: Final = 5_000
_COMMIT_ROWS: Final = 5_000

# From records to rows.


@dataclass(frozen=True, slots=True)
class DecodeRows:
    """Bronze records to rows: decoded by the format, and conformed to the feed's declarations.

    An insert whose record says beside its values that it is the second half of an erased key's change has that key in
    ``moved_from``, and comes no further. ``names_notes``: whether notes that hold a row's key say it; else those of
    erased keys alone do.
    """

    feed: Feed
    format: SourceFormat
    surveyed: Surveyed = field(default_factory=dict)
    compaction_watermarks: Mapping[str, CompactionWatermark] = field(default_factory=dict)
    shards: Shards = field(default_factory=Shards)
    names_notes: bool = False
    schema: ClassVar[pa.Schema] = ROWS

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``ROWS`` from batches of bronze."""
        feed, source = self.feed, self.format
        beside = _Beside.of(self)
        conform = Conformer(
            feed,
            describes_tables=source.describes_tables,
            compaction_watermarks=self.compaction_watermarks,
        )
        decode = partial(_events_of, feed, with_source_rows(source.decoder(feed, self.surveyed)))
        read = None if source.shapes is None else but_source_rows(source.shapes(feed))
        shaped = ShapedRows(read, decode, conform, self.shards)
        with with_clear_errors(feed):
            erased: list[BronzeRecord] = []
            for records in bounded(feed, batches, erased):
                collected = snapshots.Collected()
                many, alone = (records, []) if beside is None else beside.parted(records)
                with naming_record(reading_of(feed, records[0])):
                    made, rest = shaped(many, collected)
                yield from made
                rest += [(one, decode(one)) for one in alone]
                rows = _rows(
                    feed, rest, conform, collected, None if beside is None else beside.name
                )
                rows += collected.rows(records[0])
                with naming_record(reading_of(feed, records[0])):
                    yield from row_batches(rows, self.shards)
            yield from row_batches(_rows_of_erased(erased), self.shards)


@dataclass(frozen=True, slots=True)
class _Beside:
    """Has rows say the keys that stand beside their values: ``erased`` are those that are erased, if any is."""

    keys: KeysBeside
    erased: ErasedKeys | None
    names_notes: bool

    @classmethod
    def of(cls, stage: DecodeRows) -> _Beside | None:
        """None where nobody asks for such keys, or records hold none."""
        feed, erased = stage.feed, None
        if feed.erasure_key is not None:
            erased = erased_keys(feed.name, feed.decisions.erasures, feed.erasure_key)
        is_asked = stage.names_notes or erased is not None
        keys = KeysBeside.of(feed, stage.format) if is_asked else None
        return None if keys is None else cls(keys, erased, stage.names_notes)

    def parted(self, records: list[BronzeRecord]) -> tuple[list[BronzeRecord], list[BronzeRecord]]:
        """The records, without those that have to be looked at one by one; and these."""
        if self.erased is None:
            return records, []
        found = [self.keys.may_link(one) for one in records]
        if not any(found):
            return records, []
        parts = list[BronzeRecord](), list[BronzeRecord]()
        for one, is_alone in zip(records, found, strict=True):
            parts[is_alone].append(one)
        return parts

    def name(self, record: BronzeRecord, rows: Sequence[Row]) -> None:
        """Have notes say the key that they hold, and inserts the erased key that they come from."""
        for row in rows:
            if row.fault is not None:
                continue
            if row.effect == "note" and row.key is None:
                self.keys.name(row, record, None if self.names_notes else self.erased)
            elif self.erased is not None and row.key is not None and row.moved_from is None:
                self.keys.trace(row, record, self.erased)


class SourceLocation(NamedTuple):
    """Which record of which object a row is from."""

    object: str
    generation: str
    line: int
    byte_offset: int


def _rows_of_erased(records: Iterable[BronzeRecord]) -> Iterator[Row]:
    """A row for each event of erased records: for the accounts, and for the transactions that they were part of."""
    for record in records:
        known = erased_record(record.defect or "")
        place = SourceLocation(record.object, record.generation, record.line, record.byte_offset)
        for source_table, declared, facts in known.stretches:
            yield Row(
                *(record.window, known.table, source_table, declared),
                **place._asdict(),
                derived=snapshots.STRETCH,
                kept_as=snapshots.STRETCH,
                facts=facts,
            )
        others = [None] * max(0, max(1, known.events) - len(known.of_transactions))
        for ordinal, event in enumerate([*known.of_transactions, *others]):
            row = Row(
                window=record.window,
                table=known.table,
                source_table=known.table,
                declared=None,
                **place._asdict(),
                ordinal=ordinal,
                kept_as=ERASED,
                is_first=ordinal == 0,
            )
            if event is not None:
                row.event_id, row.effect = event.event_id, event.effect
                row.log_position, row.dedup_prefix = event.log_position, len(event.log_position)
                name, expected, has_begin = event.transaction
                row.transaction = Transaction(name, expected, bool(has_begin))
                row.event_at = event.event_at
            yield row


@dataclass(frozen=True, slots=True)
class Survey:
    """Bronze records to facts that other records of their window have to be decoded with."""

    feed: Feed
    format: SourceFormat
    schema: ClassVar[pa.Schema] = _FACTS

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


@dataclass(frozen=True, slots=True)
class NamedSchemas:
    """Bronze records to the ids of the schemas that they were written with, each once in a batch."""

    feed: Feed
    format: SourceFormat
    schema: ClassVar[pa.Schema] = pa.schema([("id", pa.string())])

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``id`` from batches of bronze."""
        ids_of = self.format.schema_ids
        assert ids_of is not None  # only formats with such records are asked
        with with_clear_errors(self.feed):
            for records in bounded(self.feed, batches):
                found = {one for record in records for one in ids_of(self.feed, record)}
                yield pa.RecordBatch.from_pydict({"id": sorted(found)}, schema=self.schema)


def _events_of(feed: Feed, decode: Decode, record: BronzeRecord) -> Sequence[Event]:
    return cast("Sequence[Event]", _decoded(feed, record, decode))


def _rows(
    feed: Feed,
    decoded: Sequence[tuple[BronzeRecord, Sequence[Event]]],
    conform: Conform,
    collected: snapshots.Collected,
    name: Callable[[BronzeRecord, Sequence[Row]], None] | None = None,
) -> list[Row]:
    """The rows of some records, one by one."""
    rows: list[Row] = []
    for record, events in decoded:
        try:
            made = conform(record, events)
        except WeirError:
            raise
        except Exception as fault:
            raise failed_at(reading_of(feed, record), fault) from fault
        for ordinal, event in enumerate(events):
            if event.snapshot is not None and event.fault is None:
                collected.add(event, next(row for row in made if row.ordinal == ordinal))
        if name is not None:
            name(record, made)
        rows += made
    return rows


@dataclass(frozen=True, slots=True)
class DecodePending:
    """Bronze records to pending records: what each says by itself, pickled, with its group and its place there."""

    feed: Feed
    format: SourceFormat
    surveyed: Surveyed = field(default_factory=dict)
    schema: ClassVar[pa.Schema] = PENDING

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
    schema: ClassVar[pa.Schema] = ROWS

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``ROWS`` from batches of ``PENDING`` that are sorted by group and order."""
        conform = Conformer(
            self.feed,
            describes_tables=self.format.describes_tables,
            compaction_watermarks=self.compaction_watermarks,
        )
        resolver = self.format.resolver
        assert resolver is not None  # only such formats have pending records
        resolve = resolver(self.feed)
        with with_clear_errors(self.feed):
            for group in groups(self.feed, batches):
                for rows in _resolved(self.feed, group, resolve, conform):
                    with naming_record(reading_of(self.feed, group[0][0])):
                        yield from row_batches(rows, self.shards)


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


@dataclass(frozen=True, slots=True)
class Commits:
    """The stage that finds the commit of each transaction that its window holds whole."""

    schema: ClassVar[pa.Schema] = _COMMITS

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row per such transaction, from ``transaction`` and ``part`` of ``ROWS``, sorted by the first."""
        found: list[tuple[bytes, list[int]]] = []
        for packed, parts in groupby(_parts(batches), key=lambda one: one[0]):
            events = (transaction_part(part) for _, part in parts)
            commit = transactions.state_of("", events, None).commit
            if commit is not None:
                found.append((packed, list(commit)))
            if len(found) >= _COMMIT_ROWS:
                yield _commit_batch(found)
                found = []
        if found:
            yield _commit_batch(found)


def _commit_batch(found: Sequence[tuple[bytes, list[int]]]) -> pa.RecordBatch:
    columns = {"transaction": [one[0] for one in found], "commit": [one[1] for one in found]}
    return pa.RecordBatch.from_pydict(columns, schema=_COMMITS)


def _parts(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[bytes, bytes]]:
    for batch in batches:
        cells = (batch.column(name).to_pylist() for name in ("transaction", "part"))
        yield from zip(*cells, strict=True)


# From rows to their outcomes, and the accounts.


def _key(one: Row | OutputRow) -> AccountKey:
    return AccountKey(one.window, one.table, one.source_table, one.declared)


def count_row(accounts: Accounts, one: Row | OutputRow, outcome: str | None) -> None:
    """Count a row under its outcome; None for one that silver keeps."""
    sums = accounts.of[_key(one)]
    facts = one.facts if outcome is None else None
    sums.count(counted_as(one.kept_as, one.derived, outcome), facts, is_first=one.is_first)
    if outcome is not None:
        return
    if one.stream is not None:
        sums.note_stream(one.stream)
    if one.kept_as == CHANGE:
        position: Any = one.log_position
        sums.note_time(one.event_at)
        sums.note_position(tuple(position[: one.dedup_prefix]))
        if one.segment is not None:
            sums.note_segment(position[0], one.segment, one.event_at, one.extracted_at)


def told_batch(pickled: bytes) -> pa.RecordBatch:
    """One row of ``OUTPUT`` that holds a task's accounts, or what else it has to tell, in ``payload``."""
    values = {"kind": ACCOUNT, "payload": pickled}
    return pa.RecordBatch.from_arrays(
        [pa.array([values.get(one.name)], one.type) for one in OUTPUT], schema=OUTPUT
    )


@dataclass(frozen=True, slots=True)
class Classify:
    """The stage that gives sorted rows their outcome: changes that count, quarantined events, and accounts.

    Changes at or below their table's compaction watermark are left to ``JudgeCovered``. ``arrives_by``: as in
    ``SourceFormat``.
    """

    feed: Feed
    compaction_watermarks: Mapping[str, CompactionWatermark] = field(default_factory=dict)
    arrives_by: str | None = None
    sort: Sort = sorted_in_memory
    schema: ClassVar[pa.Schema] = OUTPUT

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``OUTPUT`` from batches of ``ROWS`` in the order of ``sort_key``; the last has the accounts."""
        erased = erased_keys(self.feed.name, self.feed.decisions.erasures, self.feed.erasure_key)
        of_erased = None if erased is None else (erased, cast("MaskKey", self.feed.erasure_key))
        seen = _Seen(self.compaction_watermarks, self.arrives_by, of_erased)
        with with_clear_errors(self.feed):
            for plain, others in in_steps(batches, self.sort):
                if plain is None:
                    assert others is not None  # a step has rows
                    yield _classified(_members(others), seen)
                else:
                    yield _classified_beside(plain, others, seen)
            seen.trails.end()
            yield told_batch(pickle.dumps(seen.accounts))


class _Seen:
    """What is remembered of the rows before: which events there were, what the last one said, and where they stood."""

    def __init__(
        self,
        compaction_watermarks: Mapping[str, CompactionWatermark],
        arrives_by: str | None,
        of_erased: tuple[ErasedKeys, MaskKey] | None = None,
    ) -> None:
        self.accounts = Accounts()
        self.trails = _SeenTrails(self.accounts, arrives_by)
        self._compaction_watermarks, self._arrives_by = compaction_watermarks, arrives_by
        self._of_erased = of_erased
        self._deliveries, self._conflicts = duplicates.Deliveries(), duplicates.Conflicts()

    def may_meet_another(
        self, plain: pa.RecordBatch, others: pa.RecordBatch | None
    ) -> NDArray[np.bool_]:
        """``plain_rows.may_meet_another``; all are looked at where the order of arrival counts, or keys are erased."""
        if self._arrives_by is not None or self._of_erased is not None:
            return np.ones(plain.num_rows, np.bool_)
        return may_meet_another(plain, others)

    def kind_of(self, group: bytes, row: Row, *, is_open: bool) -> str | None:
        """Which kind of row of ``OUTPUT`` it is, once it is counted; None for one that is not kept.

        ``is_open``: nothing tells yet where the transaction ends that it may be part of.
        """
        accounts = self.accounts
        if row.kept_as == snapshots.STRETCH:
            accounts.of[_key(row)].note_stretches(*snapshots.read(row.facts or ""))
            return None
        if row.kept_as == ERASED:
            return self._erased(row, is_open=is_open)
        if self._of_erased is not None:
            erased, secret = self._of_erased
            if is_of_erased(erased, row):
                accounts.of[_key(row)].warnings[LANDED_AGAIN] += row.derived is None
                row.event_id = hashed_event(secret, row.event_id or "")
                return self._erased(row, is_open=is_open)
        if row.fault is not None:
            count_row(accounts, row, QUARANTINED)
            return TO_QUARANTINE
        log_position: Any = row.log_position
        if self._deliveries.is_repeat(group, row.event_id or "", log_position[: row.dedup_prefix]):
            count_row(accounts, row, DUPLICATE)
            self.trails.add(group, row)
            return None
        if row.effect not in CONTROL and faults.is_covered(
            self._compaction_watermarks.get(row.table or ""), log_position, row.dedup_prefix
        ):
            accounts.left_out += 1
            return COVERED
        count_row(accounts, row, None)
        self.trails.add(group, row)
        other = self._conflicts.other_of(group, row)
        if other is not None:
            words = duplicates.conflict_in_words(other, row)
            accounts.of[_key(row)].warn(duplicates.CONFLICT, words)
        if row.transaction is not None and is_open:
            accounts.open_events += 1
        return CHANGES

    def _erased(self, row: Row, *, is_open: bool) -> str | None:
        """Count a row of an erased key. Only its transaction may have to know that there was one."""
        count_row(self.accounts, row, ERASED)
        if row.transaction is None or row.fault is not None or not is_open:
            return None
        row.key = row.moved_from = row.scope = row.payload = row.facts = None
        row.before, row.after, row.attribute_ops = {}, {}, {}
        self.accounts.open_events += 1
        return OF_ERASED


class _SeenTrails:
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
            self._note(self._deliveries.add(group, _key(row), *found))

    def _is_between(self, row: Row) -> bool:
        made, position = row.event_at, row.log_position
        sums = self._accounts.of.get(_key(row))
        if made is None or position is None or sums is None:
            return False
        trail = sums.trails.of.get(TrailKey(*part_of_source(row, position)))
        return trail is not None and trail.has_between(made, position[1 : row.dedup_prefix])

    def end(self) -> None:
        """No more rows come."""
        self._note(self._deliveries.rest())

    def _note(self, points: Iterable[tuple[AccountKey, TrailKey, Point]]) -> None:
        for account_key, trail_key, point in points:
            self._accounts.of[account_key].trails.add(trail_key, point)


class _Member(NamedTuple):
    """A row that is looked at by itself, with what ``ROWS`` says beside it; ``at``: where a plain one stands."""

    sort_key: bytes
    group: bytes
    row: Row
    commit: Sequence[int] | None
    at: int | None = None


def _members(batch: pa.RecordBatch) -> list[_Member]:
    cells = (batch[name].to_pylist() for name in ("sort_key", "group", "commit"))
    return [
        _Member(sort_key, group, row, commit or None)
        for row, sort_key, group, commit in zip(unpacked(batch), *cells, strict=True)
    ]


def _plain_members(plain: pa.RecordBatch, places: NDArray[np.int64]) -> list[_Member]:
    some = plain.take(pa.array(places))
    cells = (some[name].to_pylist() for name in ("sort_key", "group"))
    return [
        _Member(sort_key, group, row, None, at)
        for row, at, sort_key, group in zip(rows_of(some), places.tolist(), *cells, strict=True)
    ]


def _classified(members: Sequence[_Member], seen: _Seen) -> pa.RecordBatch:
    """Some rows with their outcome, without duplicates; counts all of them."""
    kept: list[tuple[Row, str, Sequence[int] | None]] = []
    for one in members:
        kind = seen.kind_of(one.group, one.row, is_open=not one.commit)
        if kind is not None:
            kept.append((one.row, kind, one.commit))
    rows, kinds, commits = zip(*kept, strict=True) if kept else ((), (), ())
    return output_batch(rows, kinds, commits)


def _classified_beside(
    plain: pa.RecordBatch, others: pa.RecordBatch | None, seen: _Seen
) -> pa.RecordBatch:
    """Plain rows, and rows beside them, with their outcome: only those are looked at that may meet another one."""
    meets = seen.may_meet_another(plain, others)
    members = _plain_members(plain, np.flatnonzero(meets))
    if others is not None:
        members = sorted([*members, *_members(others)], key=lambda one: one.sort_key)
    is_kept = np.ones(plain.num_rows, np.bool_)
    kept: list[tuple[bytes, Row, str, Sequence[int] | None]] = []
    for one in members:
        kind = seen.kind_of(one.group, one.row, is_open=not one.commit)
        if one.at is not None:
            is_kept[one.at] = kind == CHANGES
        if kind is not None and (one.at is None or kind != CHANGES):
            kept.append((one.sort_key, one.row, kind, one.commit))
    count_plain(seen.accounts, plain.filter(pa.array(~meets)))
    mine = plain if is_kept.all() else plain.filter(pa.array(is_kept))
    if not kept:
        return output_of(mine)
    sort_keys, *cells = zip(*kept, strict=True)
    # Files of silver are in the order of their keys.
    keys = pa.concat_arrays([mine["sort_key"], pa.array(sort_keys, pa.binary())])
    both = pa.concat_batches([output_of(mine), output_batch(*cells)])
    return both.take(pc.sort_indices(keys))


class OutputRow(NamedTuple):
    """What has to be read of a row of ``OUTPUT`` to count it."""

    window: str
    table: str | None
    source_table: str
    declared: str | None
    event_id: str
    effect: str
    derived: str | None
    kept_as: str
    facts: str | None
    is_first: bool
    stream: str | None
    log_position: list[int]
    dedup_prefix: int
    reason: str | None
    segment: int | None
    event_at: int | None
    extracted_at: int | None


@dataclass(frozen=True, slots=True)
class JudgeCovered:
    """The stage that sorts changes at or below a watermark, each with ``is_known``, into repeats and late ones.

    ``keeps_known``: known ones stay changes, for a proof that makes gold from the first event on.
    """

    feed: Feed
    keeps_known: bool
    schema: ClassVar[pa.Schema] = OUTPUT

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``OUTPUT`` from batches of it with ``is_known``; the last has the accounts."""
        accounts = Accounts()
        with with_clear_errors(self.feed):
            for batch in batches:
                if batch.num_rows:
                    yield self._judged(batch, accounts)
            yield told_batch(pickle.dumps(accounts))

    def _judged(self, batch: pa.RecordBatch, accounts: Accounts) -> pa.RecordBatch:
        names = (*OutputRow._fields, "is_known")
        kinds: list[str | None] = []
        reasons: list[str | None] = []
        details: list[str | None] = []
        for *cells, is_known in zip(*(batch.column(one).to_pylist() for one in names), strict=True):
            one = OutputRow._make(cells)
            of_known = None if self.keeps_known else DUPLICATE
            outcome = of_known if is_known else TOO_LATE
            count_row(accounts, one, outcome)
            fault = (
                faults.too_late_fault(one.table, one.log_position) if outcome == TOO_LATE else None
            )
            kinds.append(_kind_of_covered(one, outcome))
            reasons.append(fault and fault.reason)
            details.append(fault and fault.detail)
        accounts.open_events += _open_events(batch, kinds)
        columns = {name: batch.column(name) for name in OUTPUT.names}
        made = {"kind": kinds, "reason": reasons, "detail": details}
        columns |= {name: pa.array(some, pa.string()) for name, some in made.items()}
        whole = pa.RecordBatch.from_arrays([columns[one] for one in OUTPUT.names], schema=OUTPUT)
        return whole.filter(pc.is_valid(columns["kind"]))


def _open_events(batch: pa.RecordBatch, kinds: Sequence[str | None]) -> int:
    """How many rows of a batch, known or new, are of a transaction that their window does not hold whole."""
    parts = batch.column("transaction")
    if parts.null_count == len(parts):
        return 0
    is_kept = pc.is_in(pa.array(kinds, pa.string()), pa.array([CHANGES, IN_BASE]))
    is_open = pc.and_(pc.is_valid(parts), pc.is_null(pc.struct_field(parts, "commit")))
    return pc.sum(pc.and_(is_kept, is_open)).as_py() or 0


def _kind_of_covered(one: OutputRow, outcome: str | None) -> str | None:
    if outcome is None:
        return CHANGES
    if outcome == DUPLICATE:
        return IN_BASE
    # A key change deletes the old key: that half is reported with the other one.
    return None if one.derived == KEY_CHANGE else TO_QUARANTINE
