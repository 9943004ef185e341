"""What becomes of rows, over Arrow batches: changes that count, repeats, refused events, and the accounts of them.

Not here: the rules themselves (``transforms/silver``), and how rows come to be (``silver_stages``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from assets.arrow.packed_rows import output_batch, rows_of
from assets.arrow.record_batches import told_clearly
from assets.columns.silver import ACCOUNT, CHANGES, COVERED, IN_BASE, OUTPUT, REFUSED
from transforms.change import CONTROL
from transforms.feed.feed import Feed
from transforms.horizons import Horizon
from transforms.silver import duplicates, too_late
from transforms.silver.accounting import (
    DUPLICATE,
    QUARANTINED,
    TOO_LATE,
    Accounts,
    Moment,
    Whose,
    counted_as,
)
from transforms.silver.conforming.changes import CHANGE, KEY_CHANGE, Row
from transforms.silver.too_late import is_covered

Batches = Iterator[pa.RecordBatch]


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
                    yield _classified(batch, deliveries, accounts, self.horizons)
            yield _account_batch(accounts)


def _classified(
    batch: pa.RecordBatch,
    deliveries: duplicates.Deliveries,
    accounts: Accounts,
    horizons: Mapping[str, Horizon],
) -> pa.RecordBatch:
    """What becomes of the rows of a batch, without those that are duplicates."""
    rows: list[Row] = []
    kinds: list[str] = []
    commits: list[Sequence[int] | None] = []
    told = zip(
        rows_of(batch),
        batch.column("group").to_pylist(),
        batch.column("commit").to_pylist(),
        strict=True,
    )
    for row, group, commit in told:
        outcome, kind = None, CHANGES
        position: Any = row.position
        if row.fault is not None:
            outcome, kind = QUARANTINED, REFUSED
        elif deliveries.is_repeat(group, row.event_id or "", position[: row.stable_prefix]):
            count(accounts, row, DUPLICATE)
            continue
        elif row.effect not in CONTROL and is_covered(
            horizons.get(row.table or ""), position, row.stable_prefix
        ):
            kind = COVERED
            accounts.left_out += 1
        if kind != COVERED:
            count(accounts, row, outcome)
        if kind == CHANGES and row.transaction is not None and not commit:
            accounts.open_events += 1
        rows.append(row)
        kinds.append(kind)
        commits.append(commit or None)
    return output_batch(rows, kinds, commits)


class _Looked(NamedTuple):
    """What is looked at of a row of ``OUTPUT``."""

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
    position: list[int]
    stable_prefix: int
    reason: str | None
    segment: int | None
    event_at: int | None
    extracted_at: int | None


def _looked_at(batch: pa.RecordBatch) -> Iterator[_Looked]:
    cells = zip(*(batch.column(name).to_pylist() for name in _Looked._fields), strict=True)
    return map(_Looked._make, cells)


def count(accounts: Accounts, one: Row | _Looked, outcome: str | None) -> None:
    """Count a row as what became of it; None for one that silver keeps."""
    whose = Whose(one.window, one.table, one.source_table, one.declared)
    accounts.add(
        whose,
        counted_as(one.tally, one.derived, outcome),
        one.facts if outcome is None else None,
        is_first=one.is_first,
    )
    if outcome is None and one.stream is not None:
        accounts.hear(whose, one.stream)
    if outcome is None and one.segment is not None and one.tally == CHANGE:
        position: Any = one.position
        moment = Moment(position[0], one.segment, one.event_at, one.extracted_at)
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
        accounts.open_events += _open_events(batch, kinds)
        told = {"reason": reasons, "detail": details}
        columns = {name: batch.column(name) for name in OUTPUT.names}
        columns |= {name: pa.array(some, pa.string()) for name, some in told.items()}
        yield from _kept(columns, kinds)


def _open_events(batch: pa.RecordBatch, kinds: Sequence[str | None]) -> int:
    """How many of a batch's rows are, known or new, of a transaction that their window does not hold whole."""
    told = batch.column("transaction")
    if told.null_count == len(told):
        return 0
    is_kept = pc.is_in(pa.array(kinds, pa.string()), pa.array([CHANGES, IN_BASE]))
    is_open = pc.and_(pc.is_valid(told), pc.is_null(pc.struct_field(told, "commit")))
    return pc.sum(pc.and_(is_kept, is_open)).as_py() or 0


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
