"""Records of quarantine that a person mends: another payload is recorded, and read wherever the record is decoded.

Bronze stays as it is. The decision makes the record's window due, and the record goes through that window once, at its
own coordinates, as if the source had written it so. Put here what is looked at before such a decision is recorded. Not
here: the decision itself (``transforms/feed/decisions``), and the window's run (``orchestration/runs``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from assets.bookkeeping import decisions
from assets.bookkeeping.compacted import bases
from assets.bookkeeping.decisions import Signature
from assets.bookkeeping.quarantine.mended_records import coordinates_of
from assets.bookkeeping.quarantine.payloads import maybe_among
from assets.bookkeeping.quarantine.records import QuarantinedRecord
from assets.columns.bronze import BRONZE_ARROW
from assets.columns.silver import SILVER_ARROW
from assets.lake import Lake
from assets.layers import Layer
from assets.locks import writing
from assets.silver import classifying
from transforms.errors import DecisionRefused
from transforms.feed.decisions import Coordinates, Decisions, Replacement
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.record import COORDINATES
from transforms.silver.frames import CHANGES, REFUSED

BronzeRow = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mended:
    """A record and the payload that is to be read in its place."""

    record: QuarantinedRecord
    payload: bytes | None


def bronze_rows(
    lake: Lake, feed: Feed, wanted: Collection[QuarantinedRecord]
) -> dict[Coordinates, BronzeRow]:
    """These records as bronze has them, verbatim."""
    places, windows = {one.place for one in wanted}, {one.window for one in wanted}
    return {
        coordinates_of(row): row
        for rows in lake.in_process_table(Layer.BRONZE, feed.name).each(
            BRONZE_ARROW, {"window": windows}
        )
        for row in maybe_among(rows, places).to_pylist()
        if coordinates_of(row) in places
    }


def current_payload(record: QuarantinedRecord, row: BronzeRow) -> bytes | None:
    """What is read of a record now: what a person gave, or else what bronze has."""
    if record.replacement is not None:
        return record.replacement.payload
    payload: bytes | None = row["payload"]
    return payload


def mend(
    lake: Lake, feed: Feed, wanted: Sequence[Mended], signed: Signature, *, unseen: bool = False
) -> list[QuarantinedRecord]:
    """Record these payloads in one commit; returns the records of which another payload than before was given.

    Args:
        lake: the warehouse.
        feed: the feed as its file declares it; recorded decisions are added.
        wanted: the records with their payloads.
        signed: when that was decided, by whom and why.
        unseen: record also a payload that would be refused.

    Raises:
        DecisionRefused: a payload would be refused or is too large, or the record's events may be compacted.
        TableBusy: a run derives silver just now, so that nobody can say what counts already.
    """
    with writing(lake, Layer.SILVER, feed.name):
        feed = decisions.with_recorded(lake, feed)
        rows = bronze_rows(lake, feed, [one.record for one in wanted])
        for one in wanted:
            if one.record.place not in rows:
                raise DecisionRefused(
                    feed.name, f"bronze no longer has the record {one.record.where}"
                )
        changed = [
            one
            for one in wanted
            if one.payload != current_payload(one.record, rows[one.record.place])
        ]
        _refuse_unfit(lake, feed, changed, rows, unseen=unseen)
        counting = _counting(lake, feed, changed, rows)
        if counting and bases.horizons(lake, feed):
            raise DecisionRefused(
                feed.name,
                "history is compacted, and events of these records may be part of it. Nothing was recorded:"
                f" `weir rebuild {feed.name}` first, then mend them",
            )
        if changed:
            made = [
                _replacement(one, signed, alters=one.record.place in counting) for one in changed
            ]
            decisions.replace_records(lake, feed, made)
        return [one.record for one in changed]


def _replacement(one: Mended, signed: Signature, *, alters: bool) -> Replacement:
    return Replacement(
        window=one.record.window,
        place=one.record.place,
        payload=one.payload,
        at=signed.at,
        by=signed.by or "",
        reason=signed.reason or "",
        alters=alters,
    )


def _refuse_unfit(
    lake: Lake,
    feed: Feed,
    wanted: Sequence[Mended],
    rows: Mapping[Coordinates, BronzeRow],
    *,
    unseen: bool,
) -> None:
    most = lake.limits.largest_record
    for one in wanted:
        if len(one.payload or b"") > most:
            raise DecisionRefused(
                feed.name,
                f"{one.record.where}: the payload has {len(one.payload or b''):,} bytes, and a record has at most"
                f" {most:,}; raise WEIR_LARGEST_RECORD",
            )
    if unseen or neighbours_decide(feed):
        return
    tried = tried_alone(
        feed,
        [{**rows[one.record.place], "payload": one.payload, "defect": None} for one in wanted],
    )
    for one in wanted:
        if faults := tried.refused.get(one.record.place):
            raise DecisionRefused(
                feed.name,
                f"{one.record.where}: the mended record would be refused, too: {faults[0]}. Nothing was recorded",
            )


@dataclass(frozen=True, slots=True)
class Tried:
    """What records become alone: how many changes each makes, and with what it would be refused."""

    changes: Counter[Coordinates]
    refused: Mapping[Coordinates, Sequence[str]]


def tried_alone(feed: Feed, rows: Iterable[BronzeRow]) -> Tried:
    """Decode records of bronze as they are given, without others of their windows, and write nothing."""
    as_given = replace(feed, decisions=replace(feed.decisions, replacements=()))
    bronze = pa.RecordBatch.from_pylist([dict(row) for row in rows], BRONZE_ARROW)
    changes = Counter[Coordinates]()
    refused: dict[Coordinates, list[str]] = {}
    found = classifying.alone(as_given, bronze)
    for row in (
        found.of_kind(CHANGES, REFUSED)
        .select(["kind", *COORDINATES, "reason", "detail"])
        .to_pylist()
    ):
        if row["kind"] == CHANGES:
            changes[coordinates_of(row)] += 1
        elif row["kind"] == REFUSED:
            refused.setdefault(coordinates_of(row), []).append(f"{row['reason']}: {row['detail']}")
    return Tried(changes, refused)


def neighbours_decide(feed: Feed) -> bool:
    """Whether what a record means depends on other records, so that it cannot be judged alone."""
    source = FORMATS[feed.format]
    return bool(source.needs_whole_objects or source.resolver or source.surveyor)


def _counting(
    lake: Lake, feed: Feed, wanted: Sequence[Mended], rows: Mapping[Coordinates, BronzeRow]
) -> set[Coordinates]:
    """Those records of which an event may count already, so that another payload would take something back."""
    places = {one.record.place for one in wanted}
    if not places or neighbours_decide(feed):
        return places
    given = [_as_read_now(one.record, rows[one.record.place]) for one in wanted]
    found = {place for place, changes in tried_alone(feed, given).changes.items() if changes}
    found |= {place for place in places if _altered_before(feed.decisions, place)}
    windows = {one.record.window for one in wanted}
    for silver in lake.in_process_table(Layer.SILVER, feed.name).each(_PLACES, {"window": windows}):
        found |= places & {coordinates_of(row) for row in maybe_among(silver, places).to_pylist()}
    return found


def _as_read_now(record: QuarantinedRecord, row: BronzeRow) -> BronzeRow:
    if record.replacement is None:
        return row
    return {**row, "payload": record.replacement.payload, "defect": None}


def _altered_before(known: Decisions, place: Coordinates) -> bool:
    return any(one.place == place and one.alters for one in known.replacements)


_PLACES = pa.schema([SILVER_ARROW.field(name) for name in ("window", *COORDINATES)])
