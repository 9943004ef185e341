"""What keys are by all their changes, as base rows keep it: the fold of a compaction, as Spark's tasks call it.

Put here how a key's state becomes a base row. Not here: the fold onto gold (``gold_fold``), and when a history is
compacted (``assets/upkeep``). What is imported here is imported by every Python worker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from assets.arrow.gold.key_groups import Folding, linked_key_groups
from assets.arrow.gold.ordered_changes import OrderedChanges, ordered_changes
from assets.arrow.record_batches import with_clear_errors
from assets.columns.base_rows import STATE
from transforms.gold.fold import Fold
from transforms.gold.scopes import Scopes
from transforms.gold.state import Last, State

BASE_COLUMNS = f"key array<string>, streams array<string>, state {STATE}"
"""One row per key that is present: the columns of ``assets.columns.base_rows.BASE`` that are about the key."""
_TEXTS = pa.list_(pa.field("element", pa.string()))
_LAST = pa.struct(
    [
        *[("position", pa.list_(pa.field("element", pa.int64()))), ("event_id", pa.string())],
        *[("event_at", pa.timestamp("us", "UTC")), ("is_scoped", pa.bool_())],
    ]
)
_STATE = pa.struct(
    [
        *[("effect", pa.string()), ("columns", pa.map_(pa.string(), pa.string()))],
        *[("copies", pa.int64()), ("last", _LAST)],
    ]
)
BASE_ROWS = pa.schema([("key", _TEXTS), ("streams", _TEXTS), ("state", _STATE)])
"""``BASE_COLUMNS`` as an Arrow schema."""

_BATCH_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class ToBase:
    """The stage that folds keys from all their changes, and gives a base row for each that is present."""

    folding: Folding

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of ``BASE_ROWS`` from batches that are sorted by group and position: of keys that are present."""
        folding, fold = self.folding, Fold.of(self.folding.table)
        scopes = Scopes(folding.scoped, fold.identity)
        rows: list[dict[str, object]] = []
        with with_clear_errors(folding.feed):
            for key_groups in linked_key_groups(folding, batches):
                for one in ordered_changes(folding, fold, scopes, list(key_groups)):
                    state = fold.after(one.changes, one.key.base)
                    if state.last is not None and state.effect != "remove":
                        rows.append(_base_row(one, state, state.last))
                if len(rows) >= _BATCH_ROWS:
                    yield pa.RecordBatch.from_pylist(rows, schema=BASE_ROWS)
                    rows = []
            yield pa.RecordBatch.from_pylist(rows, schema=BASE_ROWS)


def _base_row(one: OrderedChanges, state: State, last: Last) -> dict[str, object]:
    return {
        "key": one.key.key,
        "streams": sorted(stream for stream in one.streams if stream is not None),
        "state": {
            "effect": state.effect,
            "columns": [*state.columns.items()],
            "copies": state.copies,
            "last": last._asdict(),
        },
    }
