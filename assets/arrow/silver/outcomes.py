"""The outcome of rows, over Arrow batches: changes that count, duplicates, refused events, and the accounts of them.

Put here what decides a row's outcome. Not here: the rules themselves (``transforms/silver``), how rows come to be
(``silver_stages``), changes at or below a horizon (``covered_changes``), and how outcomes are counted (``counting``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from assets.arrow.record_batches import with_clear_errors
from assets.arrow.silver.counting import account_batch, count_conflict, count_row
from assets.arrow.silver.output_rows import output_batch
from assets.arrow.silver.packed_rows import unpacked
from assets.columns.silver import CHANGES, COVERED, REFUSED
from transforms.change import CONTROL
from transforms.feed.feed import Feed
from transforms.horizons import Horizon
from transforms.silver import duplicates
from transforms.silver.accounting import (
    DUPLICATE,
    QUARANTINED,
    Accounts,
)
from transforms.silver.conflicts import Conflicts
from transforms.silver.conforming.changes import Row
from transforms.silver.too_late import is_covered

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Classify:
    """The stage that gives sorted rows their outcome: changes that count, refused events, and accounts.

    Changes at or below their table's horizon are left to ``covered_changes.JudgeCovered``.
    """

    feed: Feed
    horizons: Mapping[str, Horizon] = field(default_factory=dict)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``OUTPUT`` from batches of ``ROWS`` in the order of ``sort_key``; the last has the accounts."""
        seen, accounts = _Seen(duplicates.Deliveries(), Conflicts()), Accounts()
        with with_clear_errors(self.feed):
            for batch in batches:
                if batch.num_rows:
                    yield _classified(batch, seen, accounts, self.horizons)
            yield account_batch(accounts)


class _Seen(NamedTuple):
    """What is remembered of the rows before: which events there were, and what the last one said."""

    deliveries: duplicates.Deliveries
    conflicts: Conflicts


def _classified(
    batch: pa.RecordBatch,
    seen: _Seen,
    accounts: Accounts,
    horizons: Mapping[str, Horizon],
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
        outcome, kind = None, CHANGES
        position: Any = row.position
        if row.fault is not None:
            outcome, kind = QUARANTINED, REFUSED
        elif seen.deliveries.is_repeat(group, row.event_id or "", position[: row.stable_prefix]):
            count_row(accounts, row, DUPLICATE)
            continue
        elif row.effect not in CONTROL and is_covered(
            horizons.get(row.table or ""), position, row.stable_prefix
        ):
            kind = COVERED
            accounts.left_out += 1
        if kind != COVERED:
            count_row(accounts, row, outcome)
        if kind == CHANGES:
            other = seen.conflicts.other_of(group, row)
            if other is not None:
                count_conflict(accounts, other, row)
        if kind == CHANGES and row.transaction is not None and not commit:
            accounts.open_events += 1
        rows.append(row)
        kinds.append(kind)
        commits.append(commit or None)
    return output_batch(rows, kinds, commits)
