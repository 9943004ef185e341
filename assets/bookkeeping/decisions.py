"""What people decided about a feed, ``decisions.<feed>``: one row per decision, which nothing ever removes.

Put here how a decision is recorded and read. Not here: what it means (``transforms/feed/decisions.py``),
the commands that record them (``orchestration/cli``), and the events in quarantine that one is about (``dismissals``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

import pyarrow as pa

from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.decisions import Decisions, Dismissal, Epoch, Release
from transforms.feed.feed import Feed

DECISIONS = pa.schema(
    [
        pa.field("decided_at", pa.timestamp("us", "UTC")),
        pa.field("kind", pa.string()),
        pa.field("table", pa.string()),
        pa.field("meaning", pa.string()),
        pa.field("reason", pa.string()),
    ]
)
"""One row per decision. ``kind``: epoch, release or dismissal. ``table``: the feed file's name, null for all.

``meaning``: what was decided, as JSON. ``reason``: what the person who decided it wrote.
"""


def with_recorded(lake: Lake, feed: Feed) -> Feed:
    """The feed with all its decisions: those of its file, and the recorded ones.

    A feed that already has its recorded decisions is returned with the same ones, so this may be called twice.
    """
    table = lake.small_table(Layer.DECISIONS, feed.name, DECISIONS)
    rows = [(row["kind"], json.loads(row["meaning"])) for row in table.rows(["kind", "meaning"])]
    if not rows:
        return feed
    epochs = [_epoch(meaning) for kind, meaning in rows if kind == "epoch"]
    releases = [
        Release(meaning["event_id"], tuple(meaning["windows"]))
        for kind, meaning in rows
        if kind == "release"
    ]
    dismissals = [_dismissal(meaning) for kind, meaning in rows if kind == "dismissal"]
    recorded = Decisions(tuple(epochs), tuple(releases), tuple(dismissals))
    return replace(feed, decisions=feed.decisions.plus(recorded))


def _epoch(meaning: dict[str, object]) -> Epoch:
    time = meaning["time"]
    return Epoch(
        window=str(meaning["window"]),
        table=None if meaning["table"] is None else str(meaning["table"]),
        time=None if time is None else datetime.fromisoformat(str(time)),
        complete=bool(meaning["complete"]),
    )


def _dismissal(meaning: dict[str, Any]) -> Dismissal:
    return Dismissal(
        window=meaning["window"],
        object=meaning["object"],
        generation=meaning["generation"],
        places=tuple((line, byte_offset) for line, byte_offset in meaning["places"]),
    )


def open_epoch(lake: Lake, feed: Feed, epoch: Epoch, now: datetime, reason: str | None) -> None:
    """Record that an epoch begins.

    Args:
        lake: the warehouse.
        feed: the feed that it begins in.
        epoch: where it begins, and for which table.
        now: when that was decided.
        reason: what the person who decided it wrote.
    """
    time = None if epoch.time is None else epoch.time.isoformat()
    meaning: dict[str, object] = {"window": epoch.window, "table": epoch.table, "time": time}
    meaning["complete"] = epoch.complete
    _record(lake, feed, [_row("epoch", epoch.table, meaning, now, reason)])


def release(lake: Lake, feed: Feed, one: Release, now: datetime, reason: str | None) -> None:
    """Record that a held scoped delete may act.

    Args:
        lake: the warehouse.
        feed: the feed that it was held in.
        one: the delete, and the windows that hold it.
        now: when that was decided.
        reason: what the person who decided it wrote.
    """
    meaning = {"event_id": one.event_id, "windows": list(one.windows)}
    _record(lake, feed, [_row("release", None, meaning, now, reason)])


def dismiss(
    lake: Lake, feed: Feed, dismissals: Iterable[Dismissal], now: datetime, reason: str
) -> None:
    """Record, in one commit, that nobody will fix the quarantined events of these records.

    Args:
        lake: the warehouse.
        feed: the feed in whose quarantine they are.
        dismissals: the records, each by where it was read.
        now: when that was decided.
        reason: what the person who decided it wrote.
    """
    _record(lake, feed, [_row("dismissal", None, asdict(one), now, reason) for one in dismissals])


def _record(lake: Lake, feed: Feed, rows: Sequence[Mapping[str, object]]) -> None:
    lake.small_table(Layer.DECISIONS, feed.name, DECISIONS).append(rows)


def _row(
    kind: str, table: str | None, meaning: Mapping[str, object], now: datetime, reason: str | None
) -> dict[str, object]:
    return {
        "decided_at": now,
        "kind": kind,
        "table": table,
        "meaning": json.dumps(meaning, sort_keys=True),
        "reason": reason,
    }
