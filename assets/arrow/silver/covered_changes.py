"""Changes at or below their table's horizon: known ones are repeats, and unknown ones came too late.

Put here the outcome of such changes, over Arrow batches. Not here: how it is found out which are known
(``assets/silver``), and the outcomes of all other rows (``outcomes``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from assets.arrow.record_batches import with_clear_errors
from assets.arrow.silver.counting import OutputRow, account_batch, count_row, output_rows
from assets.columns.silver import CHANGES, IN_BASE, OUTPUT, REFUSED
from transforms.feed.feed import Feed
from transforms.silver import too_late
from transforms.silver.accounting import DUPLICATE, TOO_LATE, Accounts
from transforms.silver.conforming.changes import KEY_CHANGE

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class JudgeCovered:
    """The stage that sorts changes at or below a horizon, each with ``is_known``, into repeats and late ones.

    ``keeps_known``: known ones stay changes, for a proof that makes gold from the first event on.
    """

    feed: Feed
    keeps_known: bool

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
            fault = too_late.fault(one.table, one.position) if outcome == TOO_LATE else None
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
    return None if one.derived == KEY_CHANGE else REFUSED


def _kept(columns: Mapping[str, pa.Array], kinds: Sequence[str | None]) -> Batches:
    """The rows that are not dropped, as ``OUTPUT``."""
    kind = pa.array(kinds, pa.string())
    arrays = [kind if name == "kind" else columns[name] for name in OUTPUT.names]
    whole = pa.RecordBatch.from_arrays(arrays, schema=OUTPUT)
    yield whole.filter(pc.is_valid(kind)) if kind.null_count else whole
