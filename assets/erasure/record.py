"""What is recorded of erasures, ``erasures.<feed>``: the plan of each, and its steps as they are done.

Who comes after a crash goes on from there. No key stands in it, nor an id of an event: only keyed hashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

import msgspec

from assets.erasure.search import Found, FoundRecord, KeyToErase, LandedAgain
from assets.storage.lake import Lake, Layer
from transforms.feed.decisions import Replacement, SourceLocation
from transforms.feed.erasures import Erasure, hashed_event, hashed_key
from transforms.feed.feed import Feed

PLANNED: Final = "planned"
FINISHED: Final = "finished"
"""The first and the last step of each erasure."""

KEPT_OF_IDS: Final = 32
"""So many hexadecimal digits of an event's id are kept of it when it is compacted (``layers.Compacted``)."""


@dataclass(frozen=True, slots=True)
class PlannedRecord:
    """A record of bronze that goes, and what is to stand in its place (``ErasedRecord.mark``)."""

    window: str
    source_location: SourceLocation
    mark: str


@dataclass(frozen=True, slots=True)
class Plan:
    """One erasure, before anything is changed.

    ``table``: the gold table; empty where records are taken out that landed again. ``erasures``: the decisions that it
    records, one for each key. ``records``: those of bronze that go. ``events``: the hashes of what
    compaction keeps of their events' ids.
    ``left``: how many unreadable records hold the key's text and stay. ``payloads``: repaired payloads that go though
    their records stay, for later repairs took their place: of which record, and when they were given.
    """

    id: str
    table: str
    by: str
    reason: str
    at: datetime
    erasures: tuple[Erasure, ...]
    records: tuple[PlannedRecord, ...]
    events: tuple[str, ...]
    left: int = 0
    payloads: tuple[tuple[SourceLocation, datetime], ...] = ()

    @property
    def hashes(self) -> frozenset[str]:
        """The hashes of its keys."""
        return frozenset(one.key_hash for one in self.erasures)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found that would go."""
        return not self.records and not self.payloads

    @property
    def windows(self) -> list[str]:
        """The windows of its records."""
        return sorted({one.window for one in self.records})


@dataclass(frozen=True, slots=True)
class StepDone:
    """What a step did to one table: its versions, and how many files and rows it wrote anew or removed.

    ``files``: written anew because they had rows of the key; ``rows``: how many of these were there (those that were
    deleted before are in no count); ``old_files``: of older versions, or of none, that were removed.
    """

    table: str
    before: int
    after: int
    files: int
    rows: int
    old_files: int


@dataclass(frozen=True, slots=True)
class Progress:
    """An erasure and the steps of it that are done, by their names; ``finished_at``: None while some are not."""

    plan: Plan
    steps: Mapping[str, StepDone | None]
    finished_at: datetime | None


def planned(feed: Feed, what: KeyToErase, found: Found, signed: tuple[str, str]) -> Plan:
    """The plan to erase a key with what bronze holds of it; ``signed``: who decided it, and why."""
    assert feed.erasure_key is not None  # it was looked for with it
    secret, at = feed.erasure_key, datetime.now(UTC)
    erasures = tuple(
        Erasure(
            table=what.name,
            key_hash=hashed_key(secret, feed.name, what.name, key),
            reached=tuple(sorted(found.reached.items())),
            at=at,
            secret=secret.fingerprint(),
        )
        for key in sorted(found.keys, key=str)
    )
    also = found.unreadable if what.unreadable else ()
    plan = _of_records(feed, [*found.records, *also], found.payloads, signed, at)
    left = 0 if what.unreadable else len(found.unreadable)
    return _with_id(replace(plan, table=what.name, erasures=erasures, left=left))


def planned_again(feed: Feed, found: LandedAgain, signed: tuple[str, str]) -> Plan:
    """The plan to take records out of bronze that landed again."""
    at = datetime.now(UTC)
    return _with_id(_of_records(feed, found.records, found.payloads, signed, at))


def _of_records(
    feed: Feed,
    found: Iterable[FoundRecord],
    payloads: Iterable[Replacement],
    signed: tuple[str, str],
    at: datetime,
) -> Plan:
    assert feed.erasure_key is not None
    records, events = [], set[str]()
    for one in found:
        mark = one.judged.left.mark()
        records.append(PlannedRecord(one.window, one.source_location, mark))
        events |= {
            hashed_event(feed.erasure_key, own[:KEPT_OF_IDS]) for own in one.judged.event_ids
        }
    by, reason = signed
    return Plan(
        *("", "", by, reason, at, ()),
        records=tuple(records),
        events=tuple(sorted(events)),
        payloads=tuple((one.source_location, one.at) for one in payloads),
    )


def _with_id(plan: Plan) -> Plan:
    said = msgspec.json.encode([plan.table, plan.at, sorted(plan.hashes)])
    return replace(plan, id=sha256(said).hexdigest()[:12])


def note(lake: Lake, feed: Feed, erasure: str, step: str, meaning: object) -> None:
    """Record that a step is done, in one commit."""
    row = {
        "erasure": erasure,
        "step": step,
        "done_at": datetime.now(UTC),
        "meaning": msgspec.json.encode(meaning, order="sorted").decode(),
    }
    lake.in_process_table(Layer.ERASURES, feed.name).append([row])


def unfinished(lake: Lake, feed: Feed) -> list[Progress]:
    """The erasures of a feed that were begun and are not finished, the oldest first."""
    return [one for one in recorded(lake, feed) if one.finished_at is None]


def recorded(lake: Lake, feed: Feed) -> list[Progress]:
    """All erasures of a feed, the oldest first."""
    rows = lake.in_process_table(Layer.ERASURES, feed.name).rows()
    rows.sort(key=lambda row: row["done_at"])
    found: dict[str, Progress] = {}
    for row in rows:
        known = found.get(row["erasure"])
        if row["step"] == PLANNED:
            plan = msgspec.json.decode(row["meaning"], type=Plan)
            found[row["erasure"]] = Progress(plan, {}, None)
        elif known is not None and row["step"] == FINISHED:
            found[row["erasure"]] = replace(known, finished_at=row["done_at"])
        elif known is not None:
            done: Any = msgspec.json.decode(row["meaning"], type=StepDone | None)
            found[row["erasure"]] = replace(known, steps={**known.steps, row["step"]: done})
    return [*found.values()]
