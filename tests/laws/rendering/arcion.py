"""Events as Arcion writes them to S3 (https://docs.arcion.io, "Arcion Internal CDC Format for S3")."""

from __future__ import annotations

import json
from random import Random
from typing import Literal

from tests.laws.oracle.oracle import Event, Image
from tests.laws.rendering.spelling import printed

# The document shows I, U and D; R comes from its replaceCount. A snapshot row is an insert to it.
OP_TYPES = {"insert": "I", "update": "U", "delete": "D", "replace": "R", "read": "I"}
UNKNOWN = "X"
"""What an operation is written as that the format does not have."""
# The document's own samples break these names.
STRAY_NAMES = {
    "extractionTimestamp": ["extraction Timestamp"],
    "partNum": ["partNu m", "partN um"],
    "dscId": ["dscI"],
}


def exists_flag(event: Event, column: str) -> int:
    """Which images mention the column: 0 none, 1 after, 2 before, 3 both."""
    return (column in event.after) + 2 * (column in event.before)


def to_json(
    event: Event,
    columns: list[str],
    *,
    seed: int,
    snapshot_form: Literal["envelope", "bare"] = "envelope",
) -> str:
    """One JSON record; a snapshot row is a bare object, or an envelope whose cursor is null."""
    rng = Random(f"json {seed}")
    shuffled = rng.sample(columns, len(columns))
    document: dict[str, object] = {
        "tableName": {
            # One namespace for all sources: rows of a snapshot and of a log are one table.
            "namespace": {"catalog": "shop", "schema": "default_schema", "hash": -27122659},
            "name": event.table,
            "hash": -1893420405,
        },
        "opType": OP_TYPES.get(event.operation, UNKNOWN),
        "cursor": None if event.source == "snapshot" else _compact(_cursor(event, rng)),
        "before": _json_image(event.before, shuffled),
        "after": _json_image(event.after, shuffled),
        "exists": {column: str(exists_flag(event, column)) for column in shuffled},
        "operationcount": _compact(_operation_count(rng)),
    }
    if event.source == "snapshot" and snapshot_form == "bare":
        document = dict(_json_image(event.after, columns))
    return printed(document, rng)


def to_csv(
    event: Event,
    columns: list[str],
    *,
    seed: int,
    quoting: Literal["doubled", "backslash"] = "doubled",
    eager: bool = False,
) -> str:
    r"""One CSV record: NEW, OLD and EXISTS per column, then opType, cursor and operationcount.

    A snapshot row has just its columns. Without a cursor nothing in the record tells the quoting,
    and a quoted backslash can then be read both ways: "a,\\b" is a,\\b doubled and a,\b backslash.
    ``eager``: some fields have quotes that need none.
    """
    rng = Random(f"csv {seed}")
    quotes_more = rng if eager else None
    if event.source == "snapshot":
        found = [event.after.get(column) for column in columns]
        return ",".join(_csv_field(field, quoting, quotes_more) for field in found)
    fields: list[str | None] = []
    for column in columns:
        flag = str(exists_flag(event, column))
        fields += [event.after.get(column), event.before.get(column), flag]
    fields += [
        OP_TYPES.get(event.operation, UNKNOWN),
        _compact(_cursor(event, rng)),
        _compact(_operation_count(rng)),
    ]
    return ",".join(_csv_field(field, quoting, quotes_more) for field in fields)


def _json_image(image: Image, columns: list[str]) -> dict[str, str]:
    values = {column: image.get(column) for column in columns}
    return {column: "null" if value is None else value for column, value in values.items()}


def _csv_field(
    text: str | None, quoting: Literal["doubled", "backslash"], quotes_more: Random | None
) -> str:
    if text is None:
        return "NULL"
    # In the backslash style a bare backslash would already be an escape.
    special = ',"\r\n\\' if quoting == "backslash" else ',"\r\n'
    is_plain = text not in ("", "NULL") and text == text.strip() and not set(text) & set(special)
    if is_plain and (quotes_more is None or quotes_more.random() < 0.8):
        return text
    if quoting == "backslash":
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return '"' + text.replace('"', '""') + '"'


def _cursor(event: Event, rng: Random) -> dict[str, object]:
    """The cursor of the delivery, with the document's stray names in one delivery of four."""
    extracted_at_ms = (event.event_at_ms or 0) + rng.randint(0, 20_000_000)
    cursor: dict[str, object] = {"extractorId": rng.randint(0, 3)}
    if event.source == "mysql":
        _, _, log_number, log_position, log_seq_num = event.log_position
        cursor |= {
            "timestamp": event.event_at_ms,
            "extractionTimestamp": extracted_at_ms,
            "log": f"log-bin.{log_number:06d}",
            "position": log_position,
            "logSeqNum": log_seq_num,
            "slaveServerId": 1,
            "v": 2,
        }
    else:
        _, _, timestamp_ms, dsc_id, mut_id, part_num = event.log_position
        cursor |= {
            "nodeID": f"node{rng.randint(1, 3)}",
            "timestamp": timestamp_ms,
            "extractionTimestamp": extracted_at_ms,
            "dscId": dsc_id,
            "mutId": mut_id,
            "partNum": part_num,
            "v": 2,
        }
    stray = {name: rng.choice(names) for name, names in STRAY_NAMES.items()}
    is_stray = rng.random() < 0.25
    return {stray.get(name, name) if is_stray else name: cursor[name] for name in cursor}


def _operation_count(rng: Random) -> dict[str, int]:
    names = ["insertCount", "updateCount", "deleteCount", "replaceCount"]
    return {name: rng.randint(0, 50) for name in names}


def _compact(document: object) -> str:
    return json.dumps(document, separators=(",", ":"))
