"""Records of quarantine that a person settles: repaired with another payload and tried, or given up.

Bronze stays as it is. The decision makes the record's window due, and the record goes through that window once, at
its own source location, as if the source had written it so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from assets.columns import layers
from assets.control import compacted, decisions
from assets.control.decisions import Signature
from assets.quarantine import words
from assets.quarantine.records import (
    QuarantinedRecord,
    Records,
    maybe_among,
    payloads_of,
    source_location_of,
)
from assets.quarantine.words import record_line
from assets.silver import classify
from assets.storage.lake import Lake, Layer
from assets.storage.locks import writing
from assets.wording import counted
from transforms.errors import DecisionRefused
from transforms.feed.decisions import Dismissal, Replacement, SourceLocation
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.record import SOURCE_LOCATION
from transforms.silver.frames import CHANGES, TO_QUARANTINE

BronzeRow = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Repaired:
    """A record and the payload that is to be read in its place."""

    record: QuarantinedRecord
    payload: bytes | None


def bronze_rows(
    lake: Lake, feed: Feed, wanted: Collection[QuarantinedRecord]
) -> dict[SourceLocation, BronzeRow]:
    """These records as bronze has them, verbatim."""
    asked = {one.source_location for one in wanted}
    where = {"window": {one.window for one in wanted}}
    return {
        source_location_of(row): row
        for rows in lake.in_process_table(Layer.BRONZE, feed.name).each(None, where)
        for row in maybe_among(rows, asked).to_pylist()
        if source_location_of(row) in asked
    }


def current_payload(record: QuarantinedRecord, row: BronzeRow) -> bytes | None:
    """What is read of a record now: what a person gave, or else what bronze has."""
    if record.replacement is not None:
        return record.replacement.payload
    payload: bytes | None = row["payload"]
    return payload


def repair_records(
    lake: Lake, feed: Feed, wanted: Sequence[Repaired], signed: Signature, *, unseen: bool = False
) -> list[QuarantinedRecord]:
    """Record these payloads in one commit; returns the records of which another payload than before was given.

    ``unseen``: record also a payload that would be quarantined.

    Raises:
        DecisionRefused: a payload would be quarantined or is too large, or the record's events may be compacted.
        TableBusy: a run derives silver just now, so that nobody can say what counts already.
    """
    with writing(lake, Layer.SILVER, feed.name):
        feed = decisions.with_recorded(lake, feed)
        rows = bronze_rows(lake, feed, [one.record for one in wanted])
        for one in wanted:
            if one.record.source_location not in rows:
                raise DecisionRefused(
                    feed.name, f"bronze no longer has the record {one.record.where}"
                )
        changed = [
            one
            for one in wanted
            if one.payload != current_payload(one.record, rows[one.record.source_location])
        ]
        _refuse_too_large(lake, feed, changed)
        if not unseen and not neighbours_decide(feed):
            _refuse_unfit(feed, changed, rows)
        counting = _counting(lake, feed, changed, rows)
        if counting and compacted.compaction_watermarks(lake, feed):
            raise DecisionRefused(
                feed.name,
                "history is compacted, and events of these records may be part of it. Nothing was recorded:"
                f" `weir rebuild {feed.name}` first, then repair them",
            )
        if changed:
            made = [
                Replacement(
                    window=one.record.window,
                    source_location=one.record.source_location,
                    payload=one.payload,
                    at=signed.at,
                    by=signed.by or "",
                    reason=signed.reason or "",
                    alters=one.record.source_location in counting,
                )
                for one in changed
            ]
            decisions.replace_records(lake, feed, made)
        return [one.record for one in changed]


def _refuse_too_large(lake: Lake, feed: Feed, wanted: Sequence[Repaired]) -> None:
    most = lake.limits.largest_record
    for one in wanted:
        if len(one.payload or b"") > most:
            raise DecisionRefused(
                feed.name,
                f"{one.record.where}: the payload has {len(one.payload or b''):,} bytes, and a record has at most"
                f" {most:,}; raise WEIR_LARGEST_RECORD",
            )


def _refuse_unfit(
    feed: Feed, wanted: Sequence[Repaired], rows: Mapping[SourceLocation, BronzeRow]
) -> None:
    given = [
        {**rows[one.record.source_location], "payload": one.payload, "defect": None}
        for one in wanted
    ]
    tried = tried_alone(feed, given)
    for one in wanted:
        if faults := tried.quarantined.get(one.record.source_location):
            raise DecisionRefused(
                feed.name,
                f"{one.record.where}: the repaired record would be quarantined, too: {faults[0]}. Nothing was recorded",
            )


@dataclass(frozen=True, slots=True)
class Tried:
    """What records become alone: how many changes each makes, and with what it would be quarantined."""

    changes: Counter[SourceLocation]
    quarantined: Mapping[SourceLocation, Sequence[str]]


def tried_alone(feed: Feed, rows: Iterable[BronzeRow]) -> Tried:
    """Decode records of bronze as they are given, without others of their windows, and write nothing."""
    as_given = replace(feed, decisions=replace(feed.decisions, replacements=()))
    bronze = pa.RecordBatch.from_pylist([dict(row) for row in rows], layers.Bronze.schema)
    quarantined: dict[SourceLocation, list[str]] = {}
    found = classify.alone(as_given, bronze)
    changes = Counter(map(source_location_of, _located(found.of_kind(CHANGES))))
    for row in _located(found.of_kind(TO_QUARANTINE), "reason", "detail"):
        fault = f"{row['reason']}: {row['detail']}"
        quarantined.setdefault(source_location_of(row), []).append(fault)
    return Tried(changes, quarantined)


def _located(rows: pa.Table, *others: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rows.select([*SOURCE_LOCATION, *others]).to_pylist()
    return found


def neighbours_decide(feed: Feed) -> bool:
    """Whether what a record means depends on other records, so that it cannot be judged alone."""
    source = FORMATS[feed.format]
    return bool(source.needs_whole_objects or source.resolver or source.surveyor)


def _counting(
    lake: Lake, feed: Feed, wanted: Sequence[Repaired], rows: Mapping[SourceLocation, BronzeRow]
) -> set[SourceLocation]:
    """Those records of which an event may count already, so that another payload would take something back."""
    asked = {one.record.source_location for one in wanted}
    if not asked or neighbours_decide(feed):
        return asked
    given = [_as_read_now(one.record, rows[one.record.source_location]) for one in wanted]
    altered = {one.source_location for one in feed.decisions.replacements if one.alters}
    found = asked & {*tried_alone(feed, given).changes, *altered}
    columns = ("window", *SOURCE_LOCATION)
    where = {"window": {one.record.window for one in wanted}}
    for silver in lake.in_process_table(Layer.SILVER, feed.name).each(columns, where):
        found |= asked.intersection(map(source_location_of, _located(maybe_among(silver, asked))))
    return found


def _as_read_now(record: QuarantinedRecord, row: BronzeRow) -> BronzeRow:
    if record.replacement is None:
        return row
    return {**row, "payload": record.replacement.payload, "defect": None}


def contents_of(
    lake: Lake, feed: Feed, shown: Sequence[QuarantinedRecord]
) -> Mapping[SourceLocation, bytes | None]:
    """The payloads of records: what quarantine has of those that are there, and what was given for the others.

    Those of a feed that masks columns are not shown.
    """
    if feed.masks_columns:
        return words.hidden(shown)
    there = [one for one in shown if one.state != "repaired"]
    rest = [one for one in shown if one.state == "repaired" and one.replacement is None]
    of_bronze = bronze_rows(lake, feed, rest) if rest else {}
    return {
        **{source_location: row["payload"] for source_location, row in of_bronze.items()},
        **{one.source_location: one.replacement.payload for one in shown if one.replacement},
        **payloads_of(lake.in_process_table(Layer.QUARANTINE, feed.name), there),
    }


SHOWN = 50
"""Maximum number of records that are named."""


def dismiss_records(lake: Lake, feed: Feed, given_up: Records, signature: Signature) -> list[str]:
    """Record that these records are given up; the lines to be shown.

    Raises:
        DecisionRefused: one of the records is in no quarantine, or needs no decision.
    """
    waiting, before = (given_up.where(state=one) for one in ("open", "dismissed"))
    if rest := given_up.without(waiting).without(before)[:1]:
        (record,) = rest
        raise DecisionRefused(
            feed.name, f"{record_line(record)}: it is {record.state}, so that nothing waits for it"
        )
    if waiting:
        decisions.dismiss(lake, feed, dismissals_by_object(waiting), signature)
    lines = [f"{feed.name}: dismissed: {record_line(one)}" for one in waiting[:SHOWN]]
    others = f" ({counted(len(before), 'other')} had been before)" if before else ""
    which = "it" if len(waiting) == 1 else "them"
    total = f"{feed.name}: {counted(len(waiting), 'record')} dismissed{others}; nothing waits for {which} now"
    return [*lines, total]


def dismissals_by_object(records: Records) -> list[Dismissal]:
    """One decision for all records of one object, however many these are."""
    found: dict[tuple[str, str, str], set[tuple[int, int]]] = {}
    for batch in records.rows.select(["window", *SOURCE_LOCATION]).to_batches(10_000):
        for window, name, *rest in zip(*batch.to_pydict().values(), strict=True):
            generation, line, byte_offset = rest
            found.setdefault((window, name, generation), set()).add((line, byte_offset))
    return [Dismissal(*key, tuple(sorted(places))) for key, places in found.items()]
