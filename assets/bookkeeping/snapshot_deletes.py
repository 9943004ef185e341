"""The deletes that complete snapshots stand for: what an epoch's snapshot does not have is gone.

The source sends no delete events for these rows: that the snapshot is complete is known from a recorded decision or the
feed file. Put here how such a delete is made a row of silver. Not here: recording an epoch (``decisions``), and what a
delete of a scope does to gold (``transforms/gold``).
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from transforms.feed.feed import Feed


def range_delete_rows(feed: Feed, declared: str, name: str) -> list[dict[str, Any]]:
    """The range deletes that complete snapshots are for one gold table (``name``), as silver's rows.

    Each stands at the very beginning of its epoch: before the snapshot, and after everything older.
    """
    rows: list[dict[str, Any]] = []
    for at, epoch in enumerate(feed.decisions.for_table(declared), start=1):
        if epoch.complete:
            named = f"{feed.name} {name} epoch {at} {epoch}"
            rows.append(
                {
                    "window": epoch.window,
                    "feed": feed.name,
                    "table": name,
                    "source_table": declared,
                    "declared": declared,
                    "operation": "complete snapshot",
                    "effect": "remove",
                    "derived": "epoch",
                    "before": {},
                    "after": {},
                    "attribute_ops": {},
                    "scope": {},
                    "log_position": [at],
                    "dedup_prefix": 1,
                    "event_id": sha256(named.encode()).hexdigest(),
                    "event_at": epoch.time,
                    "object": "a recorded decision",
                    "generation": "",
                    "line": 0,
                    "byte_offset": 0,
                    "ordinal": 0,
                }
            )
    return rows
