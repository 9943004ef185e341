"""Records of objects that landed again, about which nobody has to decide, or has to decide once more.

A file that is read while it is written ends within a record. Written to its end it lands as another generation, in
which the record at the same place begins with what was there before. So nobody has to look at the first one: it is
dismissed. And a record that a person has dismissed or repaired may come again, as it was and where it was, when its
file has grown or was written over: it is dismissed, too. Not here: what a person dismisses
(``assets/upkeep/dismissing``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping import decisions, ledger
from assets.bookkeeping.decisions import Signature
from assets.bookkeeping.quarantine import source_locations
from assets.bookkeeping.quarantine.payloads import maybe_among
from assets.bookkeeping.quarantine.repaired_records import source_location_of
from assets.columns.bronze import BRONZE_ARROW
from assets.lake import Lake
from assets.layers import Layer
from assets.silver.plan import SilverPlan
from transforms.feed.decisions import Decisions, Dismissal, SourceLocation
from transforms.record import SOURCE_LOCATION

DAMAGED = "damaged_record"
WHY = "its object landed again, longer, and has the record whole"

_COLUMNS = pa.schema([BRONZE_ARROW.field(name) for name in (*SOURCE_LOCATION, "window", "payload")])
_COMPARED = pa.schema([*_COLUMNS, *(BRONZE_ARROW.field(name) for name in ("header", "landed_at"))])


def given_up(lake: Lake, plan: SilverPlan) -> SilverPlan:
    """The same plan, with a decision for each damaged record of its windows that landed again whole.

    Costs nothing where no record of these windows is damaged, or none of their objects landed again.
    """
    known = {*plan.feed.decisions.dismissed(), *plan.feed.decisions.replaced()}
    faults = plan.quarantined.filter(pc.equal(plan.quarantined["reason"], DAMAGED)).to_pylist()
    damaged = [row for row in faults if source_location_of(row) not in known]
    if not damaged or plan.is_proof or plan.feed.reads_topics:
        return plan
    windows, again = _again(lake, plan, {row["object"] for row in damaged})
    if not again:
        return plan
    whole = _whole(
        [row for row in damaged if row["object"] in again], _read(lake, plan, windows, again)
    )
    if not whole:
        return plan
    decisions.dismiss(lake, plan.feed, whole, Signature(datetime.now(UTC), None, WHY))
    return replace(plan, feed=decisions.with_recorded(lake, plan.feed))


def decided_before(
    lake: Lake, plan: SilverPlan, in_quarantine: Callable[[pa.Table], pa.Table]
) -> SilverPlan:
    """The same plan, with a decision for each record in quarantine that was decided when its object landed before.

    It is the same record where object, line, bytes and CSV header are the same. Anything else stays open. Gold lacks
    nothing for it: the events of a repaired record are there by the payload that is read in place of the earlier one,
    and they stand where the source says, whichever landing brought them; and what a person gave up, no gold has.

    Costs nothing where no record of these windows was ever decided, or none of their objects landed again.

    Args:
        lake: the warehouse.
        plan: what is known of the windows.
        in_quarantine: which of some records these windows have in quarantine now: rows with their source locations.
    """
    replaced = {
        where for where, one in plan.feed.decisions.replaced().items() if one.window in plan.windows
    }
    decided = replaced | plan.feed.decisions.dismissed(plan.windows)
    if not decided or plan.is_proof or plan.feed.reads_topics:
        return plan
    windows, again = _again(lake, plan, {name for name, *_ in decided})
    decided = {one for one in decided if one[0] in again}
    if not decided:
        return plan
    table = lake.in_process_table(Layer.BRONZE, plan.feed.name)
    records = [
        row
        for rows in table.each(_COMPARED, {"window": windows & {*plan.windows}})
        for row in maybe_among(rows, decided).to_pylist()
    ]
    same = _same(records, decided)
    asked = source_locations.source_locations_of({*same, *decided})
    there = source_locations.among(in_quarantine(asked), asked)
    quarantined = {source_location_of(row) for row in there.to_pylist()}
    # A payload that was recorded though it is refused, too, has repaired nothing.
    failed = (replaced & quarantined) - plan.feed.decisions.dismissed(plan.windows)
    found = {
        own: sources
        for own, some in same.items()
        if own in quarantined and (sources := [one for one in some if one not in failed])
    }
    if not found:
        return plan
    _dismiss(lake, plan, {own: sources[0] for own, sources in found.items()}, records)
    return replace(plan, feed=decisions.with_recorded(lake, plan.feed))


def _same(
    records: Sequence[Mapping[str, Any]], decided: Collection[SourceLocation]
) -> dict[SourceLocation, list[SourceLocation]]:
    """For each record that is not decided the decided ones that are the same, of earlier landings, the first first."""
    earlier: dict[tuple[str, int, bytes, str | None], list[SourceLocation]] = {}
    found: dict[SourceLocation, list[SourceLocation]] = {}
    for row in sorted(records, key=lambda row: (row["landed_at"], row["generation"])):
        if row["payload"] is None:
            continue
        own = source_location_of(dict(row))
        same = earlier.setdefault((own[0], own[2], row["payload"], row["header"]), [])
        if own in decided:
            same.append(own)
        elif same:
            found[own] = [*same]
    return found


def _dismiss(
    lake: Lake,
    plan: SilverPlan,
    found: Mapping[SourceLocation, SourceLocation],
    records: Sequence[Mapping[str, Any]],
) -> None:
    """Record that each of these records is given up, for the decision on the same one of an earlier landing."""
    windows = {source_location_of(dict(row)): row["window"] for row in records}
    dismissed = decisions.dismissed_by(lake, plan.feed)
    by_reason: dict[str, list[Dismissal]] = {}
    for (name, generation, line, byte_offset), source in found.items():
        window = windows[name, generation, line, byte_offset]
        one = Dismissal(window, name, generation, ((line, byte_offset),))
        reason = _in_words(plan.feed.decisions, dismissed, source)
        by_reason.setdefault(reason, []).append(one)
    for reason, some in by_reason.items():
        decisions.dismiss(lake, plan.feed, some, Signature(datetime.now(UTC), None, reason))


def _in_words(
    known: Decisions, dismissed: Mapping[SourceLocation, Signature], source: SourceLocation
) -> str:
    given, was = known.replaced().get(source), "repaired"
    signed = Signature(given.at, given.by, given.reason) if given else None
    if signed is None:
        signed, was = dismissed.get(source), "dismissed"
    by = f" by {signed.by}" if signed and signed.by else ""
    why = f": {signed.reason}" if signed and signed.reason else ""
    return f"the same record of an earlier landing of this object was {was}{by}{why}"


def _again(lake: Lake, plan: SilverPlan, names: Collection[str]) -> tuple[set[str], set[str]]:
    """The windows and the names of those of these objects that landed more than once."""
    objects = ledger.read_objects(lake, plan.feed, names=[*names])
    again = {name for name, landed in Counter(one.name for one in objects).items() if landed > 1}
    return {one.window for one in objects if one.name in again}, again


def _read(lake: Lake, plan: SilverPlan, windows: set[str], names: set[str]) -> list[dict[str, Any]]:
    """The records of some objects as bronze has them, in all their generations."""
    wanted = pa.array(sorted(names))
    table = lake.in_process_table(Layer.BRONZE, plan.feed.name)
    return [
        row
        for rows in table.each(_COLUMNS, {"window": windows})
        for row in rows.filter(pc.is_in(rows["object"], wanted)).to_pylist()
    ]


def _whole(
    damaged: Sequence[Mapping[str, Any]], records: Sequence[Mapping[str, Any]]
) -> list[Dismissal]:
    """A decision for each damaged record that another generation has whole: one that begins with it, and is longer."""
    payloads = {source_location_of(dict(row)): row["payload"] for row in records}
    others: dict[tuple[str, int, int], list[tuple[str, bytes]]] = {}
    for (name, generation, line, byte_offset), payload in payloads.items():
        others.setdefault((name, line, byte_offset), []).append((generation, payload or b""))
    found = []
    for row in damaged:
        name, generation, line, byte_offset = source_location_of(dict(row))
        own = payloads.get((name, generation, line, byte_offset))
        if own and any(
            other != generation and len(payload) > len(own) and payload.startswith(own)
            for other, payload in others[name, line, byte_offset]
        ):
            found.append(Dismissal(row["window"], name, generation, ((line, byte_offset),)))
    return found
