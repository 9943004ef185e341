"""What people decided about a feed, ``decisions.<feed>``: a row for each decision, signed, and never removed."""

from __future__ import annotations

import base64
import getpass
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

import pyarrow as pa

from assets.storage.lake import Lake, Layer
from transforms.errors import DecisionRefused, TableBusy
from transforms.feed.decisions import (
    Decisions,
    Dismissal,
    Epoch,
    Hold,
    Release,
    Replacement,
    SourceLocation,
)
from transforms.feed.feed import Feed

DECISIONS = pa.schema(
    [
        ("decided_at", pa.timestamp("us", "UTC")),
        *((name, pa.string()) for name in ("kind", "table", "meaning", "reason", "decided_by")),
    ]
)
"""One row per decision. ``kind``: epoch, release, hold, dismissal or replacement.

``table``: the feed file's name (of a hold gold's), or null. ``meaning``: what was decided, as JSON.
``reason``: what the person who decided it wrote. ``decided_by``: who that was, where it is known.
"""


@dataclass(frozen=True, slots=True)
class Signature:
    """When something was decided, by whom, and why."""

    at: datetime
    by: str | None
    reason: str | None


def with_recorded(lake: Lake, feed: Feed) -> Feed:
    """The feed with all its decisions: those of its file, and the recorded ones. It may have these already."""
    by_kind: dict[str, list[Any]] = defaultdict(list)
    for row in _recorded(lake, feed):
        by_kind[row["kind"]].append(_READ[row["kind"]](json.loads(row["meaning"]), row))
    if not by_kind:
        return feed
    recorded = Decisions(*(tuple(by_kind[kind]) for kind in _READ))
    return replace(feed, decisions=feed.decisions.plus(recorded))


def _recorded(lake: Lake, feed: Feed) -> list[dict[str, Any]]:
    """All recorded decisions, the last one behind the others: of several about one thing it counts."""
    table = lake.in_process_table(Layer.DECISIONS, feed.name, columns=DECISIONS)
    return sorted(table.rows(), key=lambda row: row["decided_at"])


def _epoch(meaning: dict[str, Any], _: Mapping[str, Any]) -> Epoch:
    time = meaning["time"]
    return Epoch(**{**meaning, "time": None if time is None else datetime.fromisoformat(time)})


def _release(meaning: dict[str, Any], _: Mapping[str, Any]) -> Release:
    return Release(meaning["event_id"], tuple(meaning["windows"]))


def _hold(meaning: dict[str, Any], _: Mapping[str, Any]) -> Hold:
    lists = ("keys", "windows", "log_position")
    return Hold(**{**meaning, **{name: tuple(meaning[name]) for name in lists}})


def _dismissal(meaning: dict[str, Any], _: Mapping[str, Any]) -> Dismissal:
    pairs = tuple((line, byte_offset) for line, byte_offset in meaning["source_locations"])
    return Dismissal(**{**meaning, "source_locations": pairs})


def _replacement(meaning: dict[str, Any], row: Mapping[str, Any]) -> Replacement:
    payload = meaning["payload"]
    return Replacement(
        window=meaning["window"],
        source_location=tuple(meaning["source_location"]),
        payload=None if payload is None else base64.b64decode(payload),
        at=row["decided_at"],
        by=row["decided_by"] or "",
        reason=row["reason"] or "",
        alters=meaning["alters"],
    )


_READ: Final[Mapping[str, Callable[[dict[str, Any], Mapping[str, Any]], object]]] = {
    "epoch": _epoch,
    "release": _release,
    "hold": _hold,
    "dismissal": _dismissal,
    "replacement": _replacement,
}
"""How a decision of each kind is read of its meaning and its row, in the order of ``Decisions``."""


def dismissed_by(lake: Lake, feed: Feed) -> dict[SourceLocation, Signature]:
    """Who dismissed each dismissed record, when and why; the last decision counts."""
    found: dict[SourceLocation, Signature] = {}
    for row in _recorded(lake, feed):
        if row["kind"] == "dismissal":
            one = _dismissal(json.loads(row["meaning"]), row)
            signature = Signature(row["decided_at"], row["decided_by"], row["reason"])
            for line, byte_offset in one.source_locations:
                found[one.object, one.generation, line, byte_offset] = signature
    return found


def open_epoch(lake: Lake, feed: Feed, epoch: Epoch, now: datetime, reason: str | None) -> None:
    """Record that an epoch begins."""
    time = None if epoch.time is None else epoch.time.isoformat()
    meaning = {**asdict(epoch), "time": time}
    _record(lake, feed, [_row("epoch", epoch.table, meaning, Signature(now, None, reason))])


def release(lake: Lake, feed: Feed, one: Release, now: datetime, reason: str | None) -> None:
    """Record that a held range delete may act."""
    _record(lake, feed, [_row("release", None, asdict(one), Signature(now, None, reason))])


def hold(lake: Lake, feed: Feed, holds: Iterable[Hold], signed: Signature) -> None:
    """Record, in one commit, which deletes gold has not applied, or never will.

    Tables of a feed are applied side by side, and each may have something to record at the same moment: who comes
    second tries again.
    """
    rows = [_row("hold", one.table, asdict(one), signed) for one in holds]
    for _ in range(_TRIES):
        with suppress(TableBusy):
            _record(lake, feed, rows)
            return
    _record(lake, feed, rows)


_TRIES: Final = 20


def dismiss(lake: Lake, feed: Feed, dismissals: Iterable[Dismissal], signed: Signature) -> None:
    """Record, in one commit, that nobody will fix the quarantined events at these source locations."""
    rows = [_row("dismissal", None, asdict(one), signed) for one in dismissals]
    _record(lake, feed, rows)


def replace_records(lake: Lake, feed: Feed, replacements: Iterable[Replacement]) -> None:
    """Record, in one commit, what is to be read in place of these records."""
    rows = []
    for one in replacements:
        payload = None if one.payload is None else base64.b64encode(one.payload).decode()
        meaning = {
            "window": one.window,
            "source_location": list(one.source_location),
            "payload": payload,
            "alters": one.alters,
        }
        rows.append(_row("replacement", None, meaning, Signature(one.at, one.by, one.reason)))
    _record(lake, feed, rows)


def _record(lake: Lake, feed: Feed, rows: Sequence[Mapping[str, object]]) -> None:
    lake.in_process_table(Layer.DECISIONS, feed.name, columns=DECISIONS).append(rows)


def _row(
    kind: str, table: str | None, meaning: Mapping[str, object], signed: Signature
) -> dict[str, object]:
    return {
        "decided_at": signed.at,
        "kind": kind,
        "table": table,
        "meaning": json.dumps(meaning, sort_keys=True),
        "reason": signed.reason,
        "decided_by": signed.by,
    }


def signed(
    feed: Feed, reason: str | None, by: str | None, ask: str = "say why with --reason"
) -> Signature:
    """The signature of a decision that is made now; without a name it is the operating system's user.

    ``ask``: what to say to whoever gave no reason.

    Raises:
        DecisionRefused: no reason is given.
    """
    if not (reason or "").strip():
        raise DecisionRefused(feed.name, f"{ask}: whoever reads decisions later wants to know it")
    return Signature(datetime.now(UTC), by or _user(), reason)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user may have no name
        return "unknown"
