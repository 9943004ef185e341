"""Drops of Arcion's S3 JSON, written by hand: what an extractor at MySQL would put into an object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

FIRST_SECOND = 1_763_600_000

Image = Mapping[str, str | None]


def change(
    table: str,
    op: str,
    position: int,
    before: Image | None = None,
    after: Image | None = None,
    *,
    log: int = 7,
) -> str:
    """One record on one line: ``position`` in the log is also the minute at which the source made the change."""
    before, after = before or {}, after or {}
    names = sorted({*before, *after})
    cursor = {
        "extractorId": 0,
        "timestamp": (FIRST_SECOND + 60 * position) * 1000,
        "extractionTimestamp": (FIRST_SECOND + 60 * position + 1) * 1000,
        "log": f"mysql-bin.{log:06}",
        "position": position,
        "logSeqNum": 1,
        "slaveServerId": 1,
        "v": 2,
    }
    record = {
        "tableName": {"namespace": {"catalog": "zoo", "schema": "default_schema"}, "name": table},
        "opType": op,
        "cursor": json.dumps(cursor),
        "before": {name: before.get(name) or "null" for name in names},
        "after": {name: after.get(name) or "null" for name in names},
        "exists": {name: str((name in after) + 2 * (name in before)) for name in names},
        "operationcount": "{}",
    }
    return json.dumps(record)


def lay(landing: Path, name: str, *records: str) -> Path:
    """Put an object with one record a line into a landing."""
    file = landing / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{record}\n" for record in records), encoding="utf-8")
    return file
