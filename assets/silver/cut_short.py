"""Damaged records that stand whole in a later generation of their object, which has grown since it was first read.

A file that is read while it is written ends within a record. Written to its end it lands as another generation, in
which the record at the same place begins with what was there before. So nobody has to look at the first one: it is
dismissed. Not here: what a person dismisses (``assets/upkeep/dismissing``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping import decisions, ledger
from assets.bookkeeping.decisions import Signature
from assets.bookkeeping.quarantine.repaired_records import source_location_of
from assets.columns.bronze import BRONZE_ARROW
from assets.lake import Lake
from assets.layers import Layer
from assets.silver.plan import SilverPlan
from transforms.feed.decisions import Dismissal
from transforms.record import SOURCE_LOCATION

DAMAGED = "damaged_record"
WHY = "its object landed again, longer, and has the record whole"

_COLUMNS = pa.schema([BRONZE_ARROW.field(name) for name in (*SOURCE_LOCATION, "window", "payload")])


def given_up(lake: Lake, plan: SilverPlan) -> SilverPlan:
    """The same plan, with a decision for each damaged record of its windows that landed again whole.

    Costs nothing where no record of these windows is damaged, or none of their objects landed again.
    """
    known = {*plan.feed.decisions.dismissed(), *plan.feed.decisions.replaced()}
    faults = plan.quarantined.filter(pc.equal(plan.quarantined["reason"], DAMAGED)).to_pylist()
    damaged = [row for row in faults if source_location_of(row) not in known]
    if not damaged or plan.is_proof or plan.feed.reads_topics:
        return plan
    names = {row["object"] for row in damaged}
    objects = ledger.read_objects(lake, plan.feed, names=[*names])
    again = {name for name, landed in Counter(one.name for one in objects).items() if landed > 1}
    if not again:
        return plan
    windows = {one.window for one in objects if one.name in again}
    whole = _whole(
        [row for row in damaged if row["object"] in again], _read(lake, plan, windows, again)
    )
    if not whole:
        return plan
    decisions.dismiss(lake, plan.feed, whole, Signature(datetime.now(UTC), None, WHY))
    return replace(plan, feed=decisions.with_recorded(lake, plan.feed))


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
