"""Rows that were read again in the live source, added to bronze as records of Weir's own; and who had them read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from assets.bronze.from_objects import append_new
from assets.columns import layers
from assets.control import ledger
from assets.storage.lake import Lake, Layer
from assets.storage.locks import writing
from transforms.feed.erasures import is_erased
from transforms.feed.feed import Feed
from transforms.feed.windows import window_at
from transforms.silver.source_repairs import (
    FOLDER,
    GENERATION,
    SourceRow,
    is_of_source,
    row_in,
    written,
)


def as_bronze(feed: Feed, rows: Sequence[SourceRow], now: datetime) -> pa.Table:
    """The records of these rows: one object, in the window of ``now`` (UTC)."""
    place = {
        "window": window_at(now, feed.window),
        "object": f"{FOLDER}{now:%Y%m%dT%H%M%S.%fZ}.jsonl",
        "generation": GENERATION,
        "landed_at": now,
    }
    found, offset = [], 0
    for line, row in enumerate(rows, start=1):
        payload = written(row)
        found.append({**place, "line": line, "byte_offset": offset, "payload": payload})
        offset += len(payload) + 1
    return pa.Table.from_pylist(found, schema=layers.Bronze.schema)


def add(lake: Lake, feed: Feed, records: pa.Table) -> str:
    """Add such records to bronze in one commit; returns their window.

    Raises:
        WindowSizeChanged: bronze has windows of another length.
    """
    with writing(lake, Layer.BRONZE, feed.name):
        held = ledger.catch_up(lake, feed)
        ledger.refuse_other_size(feed, ledger.other_windows(held.rows, feed))
        append_new(
            *(lake, feed, held.version),
            lambda: records,
            lambda _: lake.spark.createDataFrame(records, layers.Bronze.spark),
        )
        ledger.catch_up(lake, feed)
    window: str = records["window"][0].as_py()
    return window


def notes_on(lake: Lake, feed: Feed, rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Who had the rows of these objects read, when and why, by the object's name; ``rows`` of silver may be of any."""
    asked = {
        row["object"]: row["window"]
        for row in rows
        if is_of_source(row["object"], row["generation"])
    }
    if not asked:
        return {}
    found: dict[str, str] = {}
    columns = ("object", "generation", "payload", "defect", "landed_at")
    bronze = lake.in_process_table(Layer.BRONZE, feed.name)
    for records in bronze.each(columns, {"window": {*asked.values()}}):
        for record in records.to_pylist():
            name = record["object"]
            if name not in asked or name in found or is_erased(record["defect"]):
                continue
            row = row_in(record["payload"])
            found[name] = (
                f"read again in the source by {row.by} at {record['landed_at']:%Y-%m-%d %H:%M} UTC: {row.reason}"
            )
    return found
