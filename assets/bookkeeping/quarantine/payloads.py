"""What is in records of quarantine: the payloads of those that are shown, and of no others."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping.quarantine.mended_records import coordinates_of
from assets.bookkeeping.quarantine.records import QuarantinedRecord
from assets.columns.silver import REFUSALS_ARROW
from assets.delta.in_process_table import InProcessTable
from transforms.feed.decisions import Coordinates
from transforms.record import COORDINATES

_PAYLOADS = pa.schema([REFUSALS_ARROW.field(one) for one in ("window", *COORDINATES, "payload")])


def payloads(
    quarantine: InProcessTable, wanted: Collection[QuarantinedRecord]
) -> Mapping[Coordinates, bytes | None]:
    """What quarantine, as it is now, has as the payload of some records that are in it."""
    asked = {one.place for one in wanted}
    windows = {one.window for one in wanted}
    found: dict[Coordinates, bytes | None] = {}
    if not asked:
        return found
    for rows in quarantine.batches(_PAYLOADS, {"window": windows}):
        for row in maybe_among(rows, asked).to_pylist():
            if (place := coordinates_of(row)) in asked:
                found[place] = row["payload"]
        if len(found) == len(asked):
            break
    return found


def maybe_among(rows: pa.Table, asked: Collection[Coordinates]) -> pa.Table:
    """Those rows that may be of one of these records: payloads of others need not become Python values."""
    is_of = pc.is_in(rows["object"], pa.array(sorted({one[0] for one in asked}), pa.string()))
    lines = pa.array(sorted({one[2] for one in asked}), pa.int64())
    return rows.filter(pc.and_(is_of, pc.is_in(rows["line"], lines)))
