"""What people decided about a feed, ``decisions.<feed>``: a row for each decision, signed, and never removed."""

from __future__ import annotations

import getpass
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from assets.control.schemas import with_kept
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
from transforms.feed.erasures import SECRET, Erasure, standing
from transforms.feed.feed import Feed


@dataclass(frozen=True, slots=True)
class Signature:
    """When something was decided, by whom, and why."""

    at: datetime
    by: str | None
    reason: str | None


def with_recorded(lake: Lake, feed: Feed) -> Feed:
    """The feed with all its decisions: those of its file, and the recorded ones. It may have these already.

    And with the schemas that are kept of it: both are what a record is decoded with and only tables know.
    """
    feed = with_kept(lake, feed)
    by_kind: dict[str, list[Any]] = defaultdict(list)
    for row in _recorded(lake, feed):
        by_kind[row["kind"]].append(_read(row))
    if not by_kind:
        return feed
    recorded = Decisions(*(tuple(by_kind[kind]) for kind in _KINDS))
    return replace(feed, decisions=feed.decisions.plus(recorded))


def _recorded(lake: Lake, feed: Feed) -> list[dict[str, Any]]:
    """All recorded decisions, the last one behind the others: of several about one thing it counts."""
    table = lake.in_process_table(Layer.DECISIONS, feed.name)
    return sorted(table.rows(), key=lambda row: row["decided_at"])


_KINDS: Final = {
    one.__name__.lower(): one for one in (Epoch, Release, Hold, Dismissal, Replacement, Erasure)
}
"""The kinds of decisions, in the order of ``Decisions``."""


def _read(row: Mapping[str, Any]) -> Any:
    return msgspec.json.decode(row["meaning"], type=_KINDS[row["kind"]])


def dismissed_by(lake: Lake, feed: Feed) -> dict[SourceLocation, Signature]:
    """Who dismissed each dismissed record, when and why; the last decision counts."""
    found: dict[SourceLocation, Signature] = {}
    for row in _recorded(lake, feed):
        if row["kind"] == "dismissal":
            one = _read(row)
            signature = Signature(row["decided_at"], row["decided_by"], row["reason"])
            for line, byte_offset in one.source_locations:
                found[one.object, one.generation, line, byte_offset] = signature
    return found


def open_epoch(lake: Lake, feed: Feed, epoch: Epoch, now: datetime, reason: str | None) -> None:
    """Record that an epoch begins."""
    _record(lake, feed, [_row(epoch, Signature(now, None, reason), epoch.table)])


def release(lake: Lake, feed: Feed, one: Release, now: datetime, reason: str | None) -> None:
    """Record that a held range delete may act."""
    _record(lake, feed, [_row(one, Signature(now, None, reason))])


def hold(lake: Lake, feed: Feed, holds: Iterable[Hold], signed: Signature) -> None:
    """Record, in one commit, which deletes gold has not applied, or never will.

    Tables of a feed are applied side by side, and each may have something to record at the same moment: who comes
    second tries again.
    """
    rows = [_row(one, signed, one.table) for one in holds]
    for _ in range(_TRIES):
        with suppress(TableBusy):
            _record(lake, feed, rows)
            return
    _record(lake, feed, rows)


_TRIES: Final = 20


def dismiss(lake: Lake, feed: Feed, dismissals: Iterable[Dismissal], signed: Signature) -> None:
    """Record, in one commit, that nobody will fix the quarantined events at these source locations."""
    rows = [_row(one, signed) for one in dismissals]
    _record(lake, feed, rows)


def replace_records(lake: Lake, feed: Feed, replacements: Iterable[Replacement]) -> None:
    """Record, in one commit, what is to be read in place of these records."""
    signed = ((one, Signature(one.at, one.by, one.reason)) for one in replacements)
    _record(lake, feed, [_row(*pair) for pair in signed])


def refuse_unknown_secret(feed: Feed) -> None:
    """Raise where keys are erased, and the secret that tells them is not at hand: what lands again would come back.

    Raises:
        DecisionRefused: the environment has none, or another one than they were erased with.
    """
    erased = standing(feed.decisions.erasures)
    own = feed.erasure_key and feed.erasure_key.fingerprint()
    if any(one.secret != own for one in erased):
        keys = len({(one.table, one.key_hash) for one in erased})
        found = "is not set" if own is None else "holds another secret than they were erased with"
        raise DecisionRefused(
            feed.name,
            f"keys are erased ({keys:,}), and without their secret nobody can tell what lands of them again:"
            f" {SECRET} {found}. Nothing was written: set it to the secret of the first `weir erase`",
        )


def erase(lake: Lake, feed: Feed, erasures: Iterable[Erasure], signed: Signature) -> None:
    """Record, in one commit, that keys are erased, or that their erasures are lifted."""
    _record(lake, feed, [_row(one, signed, one.table) for one in erasures])


def _record(lake: Lake, feed: Feed, rows: Sequence[Mapping[str, object]]) -> None:
    lake.in_process_table(Layer.DECISIONS, feed.name).append(rows)


def _row(decision: object, signed: Signature, table: str | None = None) -> dict[str, object]:
    return {
        "decided_at": signed.at,
        "kind": type(decision).__name__.lower(),
        "table": table,
        "meaning": msgspec.json.encode(decision, order="sorted").decode(),
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
