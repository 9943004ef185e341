"""Recorded decisions: ``decisions.<feed>``, one row per decision, which nothing ever removes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from assets.columns.silver import CHANGE
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

    A feed that has them already stays as it is: whoever asks need not know who asked before.
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
    """Record that an epoch begins."""
    time = None if epoch.time is None else epoch.time.isoformat()
    meaning = {"window": epoch.window, "table": epoch.table, "time": time}
    _record(lake, feed, "epoch", epoch.table, {**meaning, "complete": epoch.complete}, now, reason)


def release(lake: Lake, feed: Feed, one: Release, now: datetime, reason: str | None) -> None:
    """Record that a held scoped delete may act."""
    meaning = {"event_id": one.event_id, "windows": list(one.windows)}
    _record(lake, feed, "release", None, meaning, now, reason)


def dismiss(lake: Lake, feed: Feed, those: Iterable[Dismissal], now: datetime, reason: str) -> None:
    """Record that nobody will mend what stands in quarantine of these records, in one commit."""
    rows = [_row("dismissal", None, asdict(one), now, reason) for one in those]
    lake.small_table(Layer.DECISIONS, feed.name, DECISIONS).append(rows)


def _record(
    lake: Lake,
    feed: Feed,
    kind: str,
    table: str | None,
    meaning: Mapping[str, object],
    now: datetime,
    reason: str | None,
) -> None:
    row = _row(kind, table, meaning, now, reason)
    lake.small_table(Layer.DECISIONS, feed.name, DECISIONS).append([row])


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


def scoped_by(lake: Lake, feed: Feed, declared: str, name: str) -> DataFrame | None:
    """``scoped_rows`` as a frame; None without any."""
    rows = scoped_rows(feed, declared, name)
    cells = [tuple(row.get(field.name) for field in CHANGE.fields) for row in rows]
    return lake.spark.createDataFrame(cells, CHANGE) if cells else None


def scoped_rows(feed: Feed, declared: str, name: str) -> list[dict[str, Any]]:
    """The scoped deletes that complete snapshots are for one gold table (``name``), as silver's rows.

    Each stands at the very beginning of its epoch: before the snapshot, and after everything older.
    """
    rows: list[dict[str, Any]] = []
    for at, epoch in enumerate(feed.decisions.for_table(declared), start=1):
        if epoch.complete:
            told = f"{feed.name} {name} epoch {at} {epoch}"
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
                    "position": [at],
                    "stable_prefix": 1,
                    "event_id": sha256(told.encode()).hexdigest(),
                    "event_at": epoch.time,
                    "object": "a recorded decision",
                    "generation": "",
                    "line": 0,
                    "byte_offset": 0,
                    "ordinal": 0,
                }
            )
    return rows
