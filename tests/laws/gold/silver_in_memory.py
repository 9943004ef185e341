"""Silver in memory: what the product derives from each window, read once, and which transactions are complete.

Not here: what becomes of gold (``in_memory``).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns import silver
from assets.columns.silver import SILVER_ARROW
from assets.silver import classify
from tests.laws.drawn import model_histories
from tests.laws.oracle.oracle import Event
from tests.transforms.formats.in_process import ARROW
from transforms.feed.feed import Feed
from transforms.silver.frames import CHANGES
from transforms.silver.transactions import TransactionEvent, state_of

LANDED_AT = datetime(2024, 11, 20, tzinfo=UTC)


@dataclass
class Silver:
    """The windows that were derived: as the stages gave them, and as silver stores them (``stored``)."""

    feed: Feed
    windows: dict[str, pa.Table] = field(default_factory=dict)
    stored: dict[str, pa.Table] = field(default_factory=dict)
    _parts: dict[str, list[tuple[dict[str, Any], TransactionEvent]]] = field(default_factory=dict)

    def derive(self, window: str, events: Iterable[Event]) -> None:
        """Have the window; a function of its own events: a second time would make the same."""
        if window not in self.windows:
            self.windows[window] = derived(self.feed, window, events)
            rows = silver.written_in_process(self.windows[window], self.feed, SILVER_ARROW)
            self.stored[window] = rows.combine_chunks()

    def released(
        self, every: Sequence[str], in_gold: Collection[str]
    ) -> dict[str, tuple[tuple[int, ...], bool]]:
        """The complete transactions, of which some window holds a part: the commit, and whether it is complete now.

        ``every``: all windows there are; ``in_gold``: those that gold had before this run.
        """
        events: dict[str, list[TransactionEvent]] = defaultdict(list)
        whole_in: dict[str, dict[str, tuple[int, ...]]] = defaultdict(dict)
        for window in self.windows:
            for transaction, event in self._in_transactions(window):
                if transaction["commit"] is None:
                    events[transaction["id"]].append(event)
                else:
                    whole_in[transaction["id"]][window] = tuple(transaction["commit"])
        unread_now = [one for one in every if one not in self.windows]
        before = [one for one in every if one not in in_gold]
        found = {}
        for name, some in events.items():
            with_warehouse = whole_in[name]
            commit = state_of(name, some, unread_now).commit or next(
                iter(with_warehouse.values()), None
            )
            if commit is not None:
                earlier = [one for one in some if one.window in in_gold]
                was = state_of(name, earlier, before).commit if earlier else None
                was_whole = any(window in in_gold for window in with_warehouse)
                found[name] = (tuple(commit), was is None and not was_whole)
        return found

    def _in_transactions(self, window: str) -> list[tuple[dict[str, Any], TransactionEvent]]:
        """The window's events that are parts of a transaction, and what silver says of this."""
        if window not in self._parts:
            rows = self.windows[window]
            rows = rows.filter(pc.is_valid(rows["transaction"]))
            names = ("event_id", "effect", "derived", "log_position", "event_at")
            cells = zip(*(rows[one].to_pylist() for one in names), strict=True)
            found = []
            for transaction, (event_id, effect, derived_of, log_position, at) in zip(
                rows["transaction"].to_pylist(), cells, strict=True
            ):
                of_event = {
                    **{"window": window, "event_id": event_id, "effect": effect},
                    **{"is_derived": derived_of is not None, "expected": transaction["expected"]},
                    **{"has_begin": transaction["has_begin"], "log_position": tuple(log_position)},
                    "event_at": at,
                }
                found.append((transaction, TransactionEvent(**of_event)))
            self._parts[window] = found
        return self._parts[window]


def derived(feed: Feed, window: str, events: Iterable[Event]) -> pa.Table:
    """A window's silver."""
    rows = [
        {
            **{"window": window, "object": "part_1", "generation": "g", "line": number},
            **{"byte_offset": number, "landed_at": LANDED_AT},
            "payload": json.dumps(model_histories.to_record(event)).encode(),
        }
        for number, event in enumerate(events, start=1)
    ]
    bronze = pa.RecordBatch.from_pylist(rows, schema=ARROW)
    return classify.alone(feed, bronze).of_kind(CHANGES)
