"""The records of a feed that are or were in quarantine, each with its state: read without Spark.

Put here what a person may ask about such a record. Not here: changing its state (``assets/upkeep/mending``,
``decisions.dismiss``), and how answers are printed (``orchestration/cli/quarantine``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping import decisions
from assets.bookkeeping.decisions import Signature
from assets.bookkeeping.quarantine import mended_records
from assets.bookkeeping.quarantine.mended_records import FAULTS, Cells, by_record, coordinates_of
from assets.bookkeeping.quarantine.totals import rows_to_decide
from assets.columns.silver import REFUSALS_ARROW
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.decisions import Coordinates, Replacement
from transforms.feed.feed import Feed
from transforms.record import COORDINATES
from transforms.silver.too_late import REASON

State = Literal["open", "mended", "dismissed", "too late"]
"""Where a record stands: it waits for somebody, its window takes it now, or somebody gave it up.

Or it came too late for compacted history, which nobody has to decide (``weir rebuild`` takes it in).
"""

STATES: Sequence[State] = get_args(State)


@dataclass(frozen=True, slots=True)
class QuarantinedRecord:
    """A record with ``events`` events that could not be taken, and the table, reason and detail of the first of them.

    ``decided``: when, by whom and why it came into its state, where a person did that. ``replacement``: what a person
    gave in its place, whether its window has been derived with it or not. ``left_at``: when it left quarantine, and
    ``how`` (``mended_records``); None and empty where it is there.
    """

    id: str
    state: State
    window: str
    place: Coordinates
    events: int
    table: str | None
    reason: str
    detail: str
    decided: Signature | None = None
    replacement: Replacement | None = None
    left_at: datetime | None = None
    how: str = ""
    is_of_topic: bool = False

    @property
    def where(self) -> str:
        """The object or partition of the topic, and the line or offset, as people say it."""
        object_name, _, line, byte_offset = self.place
        return f"{object_name} {f'offset {byte_offset}' if self.is_of_topic else f'line {line}'}"


def id_of(place: Coordinates) -> str:
    """The id of a record: the same for ever, and in every warehouse."""
    return hashlib.sha256(json.dumps(place).encode()).hexdigest()


def records(lake: Lake, feed: Feed) -> list[QuarantinedRecord]:
    """The records that are or were in quarantine, by window, object and line.

    ``feed``: with its recorded decisions.
    """
    there = mended_records.in_quarantine(lake, feed)
    left = mended_records.mended(lake, feed)
    replaced, dismissed = feed.decisions.replaced(), decisions.dismissed_by(lake, feed)
    found = [
        _in_quarantine(_facts(feed, place, row, replaced.get(place)), dismissed.get(place))
        for place, row in there.items()
    ]
    gone = dict.fromkeys((*left, *replaced))
    found += [
        _mended(_facts(feed, place, left.get(place), replaced.get(place)), left.get(place))
        for place in gone
        if place not in there
    ]
    return sorted(found, key=lambda one: (one.window, one.place))


def _facts(
    feed: Feed, place: Coordinates, row: Cells | None, replacement: Replacement | None
) -> QuarantinedRecord:
    """What is known of a record whatever its state is; without a row it never was in quarantine that anybody noted."""
    window = replacement.window if replacement is not None else ""
    known = row or {"window": window, "events": 0, "table": None, "reason": "", "detail": ""}
    return QuarantinedRecord(
        id=id_of(place),
        state="open",
        window=known["window"],
        place=place,
        events=known["events"],
        table=known["table"],
        reason=known["reason"],
        detail=known["detail"],
        replacement=replacement,
        is_of_topic=feed.reads_topics,
    )


def _in_quarantine(one: QuarantinedRecord, dismissed: Signature | None) -> QuarantinedRecord:
    if one.reason == REASON:
        return replace(one, state="too late")
    return replace(one, state="dismissed" if dismissed else "open", decided=dismissed)


def _mended(one: QuarantinedRecord, row: Cells | None) -> QuarantinedRecord:
    """A record that is not in quarantine now: it left, or a person's payload kept it out from the beginning."""
    given, decided = one.replacement, None
    if given is not None:
        decided = Signature(given.at, given.by, given.reason)
    how = row["how"] if row else mended_records.BY_PAYLOAD
    left_at = row["mended_at"] if row else None
    return replace(one, state="mended", decided=decided, left_at=left_at, how=how)


@dataclass(frozen=True, slots=True)
class Sampled:
    """Open records of some windows, in order; ``is_all``: whether these have no others."""

    records: Sequence[QuarantinedRecord]
    is_all: bool


def sampled(lake: Lake, feed: Feed, windows: Collection[str], most: int) -> Sampled:
    """The open records of these windows, or those of the first ``most`` events: a run has no time for millions.

    ``feed``: with its recorded decisions.
    """
    replaced, dismissed = feed.decisions.replaced(), feed.decisions.dismissed(windows)
    looked: list[pa.Table] = []
    events = 0
    for rows in lake.local_table(Layer.QUARANTINE, feed.name).batches_of(FAULTS, windows):
        looked.append(rows_to_decide(rows, dismissed))
        events += looked[-1].num_rows
        if events > most:
            looked[-1] = looked[-1].slice(0, looked[-1].num_rows - (events - most))
            break
    found = [
        _in_quarantine(_facts(feed, place, row, replaced.get(place)), None)
        for place, row in by_record(looked).items()
    ]
    return Sampled(sorted(found, key=lambda one: (one.window, one.place)), events <= most)


_PAYLOADS = pa.schema([REFUSALS_ARROW.field(one) for one in ("window", *COORDINATES, "payload")])


def payloads(
    lake: Lake, feed: Feed, wanted: Collection[QuarantinedRecord]
) -> Mapping[Coordinates, bytes | None]:
    """What quarantine has as the payload of some records that are in it."""
    places = {one.place for one in wanted}
    windows = {one.window for one in wanted}
    found: dict[Coordinates, bytes | None] = {}
    if not places:
        return found
    for rows in lake.local_table(Layer.QUARANTINE, feed.name).batches_of(_PAYLOADS, windows):
        for row in among(rows, places).to_pylist():
            if (place := coordinates_of(row)) in places:
                found[place] = row["payload"]
        if len(found) == len(places):
            break
    return found


def among(rows: pa.Table, places: Collection[Coordinates]) -> pa.Table:
    """Those rows that may be of one of these records: payloads of others need not become Python values."""
    is_of = pc.is_in(rows["object"], pa.array(sorted({one[0] for one in places}), pa.string()))
    lines = pa.array(sorted({one[2] for one in places}), pa.int64())
    return rows.filter(pc.and_(is_of, pc.is_in(rows["line"], lines)))
