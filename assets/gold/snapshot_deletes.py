"""The deletes that complete snapshots stand for: what a snapshot does not name is gone.

The source sends no delete events for these rows. That a snapshot is complete is proved by its own marks and offsets
(``transforms/silver/snapshots.py``), or known from a recorded decision or the feed file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from assets.wording import spanned
from transforms.change import LogPosition
from transforms.feed.feed import Feed
from transforms.silver import snapshots

Account = Mapping[str, Any]
"""One account of a gold table: ``window``, ``changes``, ``snapshots``, ``first_position``, ``last_position``."""


def of_epochs(feed: Feed, declared: str, name: str) -> list[dict[str, Any]]:
    """The range deletes of complete snapshots that begin an epoch of one gold table (``name``), as silver's rows.

    Each stands at the very beginning of its epoch: before the snapshot, and after everything older. Gold is made from
    all of silver for every epoch, so that these deletes are never new.
    """
    return [
        {
            **_row(feed, declared, name, (at,), f"epoch {at} {epoch}"),
            "window": epoch.window,
            "derived": "epoch",
            "event_at": epoch.time,
            "object": "a recorded decision",
            "is_new": False,
        }
        for at, epoch in enumerate(feed.decisions.for_table(declared), start=1)
        if epoch.complete
    ]


class Unproved(NamedTuple):
    """A snapshot that is not known to be complete: what it does not name stays until somebody releases it."""

    event_id: str
    removes_at: LogPosition
    windows: frozenset[str]
    source_location: str


def in_chunks(accounts: Sequence[Account], brought: frozenset[str]) -> list[snapshots.Snapshot]:
    """The snapshots in chunks of which the run brings rows, where older changes of the table are known."""
    first = _first_position(accounts)
    some = snapshots.in_chunks((str(row["window"]), row["snapshots"]) for row in accounts)
    return [
        one
        for one in some
        if one.windows & brought and first is not None and first < one.removes_at
    ]


def of_stream(
    feed: Feed, declared: str, name: str, accounts: Sequence[Account], brought: frozenset[str]
) -> tuple[list[dict[str, Any]], list[Unproved]]:
    """The range deletes of the complete snapshots that the table's windows hold together, and the other snapshots.

    Left out are those before which nothing of the table stands, as the first snapshot of most tables. A delete is new
    of which the windows that the run brings (``brought``) hold a part.
    """
    found, unproved = [], []
    first = _first_position(accounts)
    released = {one.event_id for one in feed.decisions.releases}
    for one in _snapshots_of(feed, accounts):
        if first is None or first >= one.removes_at:
            continue
        row = _row(feed, declared, name, one.removes_at, f"snapshot {one.removes_at}")
        location = f"the snapshot in {spanned(one.windows)}"
        if not one.is_complete and row["event_id"] not in released:
            unproved.append(Unproved(row["event_id"], one.removes_at, one.windows, location))
            continue
        found.append(
            {
                **row,
                "window": max(one.windows),
                "derived": "snapshot",
                "event_at": None,
                "object": location,
                "is_new": bool(one.windows & brought),
            }
        )
    return found, unproved


def first_unfinished(feed: Feed, accounts: Sequence[Account]) -> LogPosition | None:
    """Where the first snapshot of a table stands that is not known to be complete and may go on in a window to come.

    That is: no later window of the table has come, or no change that stands behind the snapshot. All rows of one may
    stand at one place.
    """
    newest = max((str(row["window"]) for row in accounts if row["changes"]), default=None)
    end = _last_position(accounts)
    found = [
        one.removes_at
        for one in _snapshots_of(feed, accounts)
        if not one.is_complete and (newest in one.windows or _is_last(one.removes_at, end))
    ]
    for row in accounts:
        parts = snapshots.parts_in(row["snapshots"])
        found += [one for one in parts if row["window"] == newest or _is_last(one, end)]
    return min(found, default=None)


def _is_last(removes_at: LogPosition, end: tuple[int, ...] | None) -> bool:
    """Whether no change stands behind the rows of a snapshot; ``end``: where the table's last change stands."""
    # What goes directly before some rows has -1 where they have numbers of their own.
    own = removes_at[: removes_at.index(-1)] if -1 in removes_at else removes_at
    return end is not None and end[: len(own)] <= own


def _snapshots_of(feed: Feed, accounts: Sequence[Account]) -> Sequence[snapshots.Snapshot]:
    return snapshots.snapshots_of(
        ((str(row["window"]), row["snapshots"]) for row in accounts if row["snapshots"]),
        may_be_parted=feed.reads_topics,
    )


def _first_position(accounts: Sequence[Account]) -> tuple[int, ...] | None:
    """Where the table's oldest change stands; the least of all where that is not known of an account with changes."""
    known = [tuple(row["first_position"]) for row in accounts if row["first_position"]]
    return min(known, default=None)


def _last_position(accounts: Sequence[Account]) -> tuple[int, ...] | None:
    """Where the table's newest change stands; None where changes of several streams do not compare."""
    known = [tuple(row["last_position"]) for row in accounts if row["last_position"]]
    return None if any(len(one) <= _EPOCH_AND_PHASE for one in known) else max(known, default=None)


_EPOCH_AND_PHASE = 2


def _row(
    feed: Feed, declared: str, name: str, log_position: tuple[int, ...], spoken: str
) -> dict[str, Any]:
    return {
        "feed": feed.name,
        "table": name,
        "source_table": declared,
        "declared": declared,
        "operation": "complete snapshot",
        "effect": "remove",
        "before": {},
        "after": {},
        "attribute_ops": {},
        "scope": {},
        "log_position": [*log_position],
        "dedup_prefix": len(log_position),
        "event_id": sha256(f"{feed.name} {name} {spoken}".encode()).hexdigest(),
        "generation": "",
        "line": 0,
        "byte_offset": 0,
        "ordinal": 0,
    }
