"""What is in records of quarantine: the payloads of those that are shown, and of no others."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping.quarantine.records import QuarantinedRecord
from assets.bookkeeping.quarantine.repaired_records import source_location_of
from assets.columns.silver import QUARANTINE_ARROW
from assets.delta.in_process_table import InProcessTable
from transforms.feed.decisions import SourceLocation
from transforms.record import SOURCE_LOCATION

_PAYLOADS = pa.schema(
    [QUARANTINE_ARROW.field(one) for one in ("window", *SOURCE_LOCATION, "payload")]
)


def payloads(
    quarantine: InProcessTable, wanted: Collection[QuarantinedRecord]
) -> Mapping[SourceLocation, bytes | None]:
    """What quarantine, as it is now, has as the payload of some records that are in it."""
    asked = {one.source_location for one in wanted}
    windows = {one.window for one in wanted}
    found: dict[SourceLocation, bytes | None] = {}
    if not asked:
        return found
    for rows in quarantine.batches(_PAYLOADS, {"window": windows}):
        for row in maybe_among(rows, asked).to_pylist():
            if (source_location := source_location_of(row)) in asked:
                found[source_location] = row["payload"]
        if len(found) == len(asked):
            break
    return found


def maybe_among(rows: pa.Table, asked: Collection[SourceLocation]) -> pa.Table:
    """Those rows that may be of one of these records: payloads of others need not become Python values."""
    is_of = pc.is_in(rows["object"], pa.array(sorted({one[0] for one in asked}), pa.string()))
    lines = pa.array(sorted({one[2] for one in asked}), pa.int64())
    return rows.filter(pc.and_(is_of, pc.is_in(rows["line"], lines)))
