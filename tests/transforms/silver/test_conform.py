"""What is declared of how values are written holds for every image, for keys and earlier names, and in every format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.record import BronzeRecord
from transforms.silver.changes import Row
from transforms.silver.conform import Conformer

COLUMNS = {"code": "decimal(10,2)", "at": "timestamp", "day": "date"}
ENCODINGS = {"code": "base64", "at": "millis", "day": "days"}
AT, SPELLED = 1_529_507_596_945, "2018-06-20 15:13:16.945"
SOURCE = {"connector": "mysql", "db": "d", "table": "t", "file": "bin.1", "pos": 1, "row": 0}


def rows(payload: bytes, name: str = "debezium", key: bytes | None = None) -> list[Row]:
    """The rows of one record of the table ``t``, of which ``was`` is an earlier name of ``at``."""
    table = Table(
        *("t", ("code",), COLUMNS, tuple(COLUMNS)),
        path="**",
        renamed={"was": "at"},
        encodings=ENCODINGS,
    )
    landing = "/landing" if key is None else "kafka://broker:9092/t"
    feed = Feed("f", name, landing, tables={"t": table})
    place = ("2026-11-20T03", "t/a", "g", 1, 0, None, payload, None, 0, key)
    record = BronzeRecord(*place, path_table="t")
    events = [*FORMATS[name].decoder(feed, {})(record)]
    return Conformer(feed, describes_tables=True)(record, events)  # type: ignore[arg-type]


def message(op: str, schema: object = None, **images: Any) -> bytes:
    body = {"op": op, "source": SOURCE, "before": None, "after": None, **images}
    return json.dumps({"schema": schema, "payload": body} if schema else body).encode()


def only(found: list[Row]) -> Row:
    (row,) = found
    assert row.fault is None, row.fault
    return row


def test_keys_and_old_images_are_read_as_new_ones_are() -> None:
    old, new = {"code": "AJw=", "at": AT, "day": 1}, {"code": "nA==", "at": AT, "day": 2}
    removed, made = rows(message("u", before=old, after=new))
    assert (removed.key, made.key) == (("1.56",), ("-1.00",))
    assert removed.before == {"code": "1.56", "at": SPELLED, "day": "1970-01-02"}
    assert made.after == {"code": "-1.00", "at": SPELLED, "day": "1970-01-03"}
    assert only(rows(message("d", before={"code": "AJw="}))).key == ("1.56",)
    # The key of the message, where no image has it; and an earlier name.
    found = only(rows(message("u", after={"was": AT}), key=json.dumps({"code": "AJw="}).encode()))
    assert (found.key, found.after["at"]) == (("1.56",), SPELLED)


@pytest.mark.parametrize(
    ("value", "text"), [(1234, "1234.00"), (-5, "-5.00"), (1.5, "1.50"), ("AJw=", "1.56")]
)
def test_a_number_of_json_is_itself_and_no_base64(value: object, text: str) -> None:
    assert only(rows(message("c", after={"code": value}))).key == (text,)


def said(name: str, kind: str, logical: str | None = None, **parameters: str) -> dict[str, Any]:
    return {"field": name, "type": kind, "name": logical, "parameters": parameters}


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        # The schema has the last word: it says the scale, and what is counted.
        (
            said("code", "bytes", "org.apache.kafka.connect.data.Decimal", scale="1"),
            "AJw=",
            "15.60",
        ),
        # A decimal without a point is no base64 either.
        (
            said("code", "bytes", "org.apache.kafka.connect.data.Decimal", scale="0"),
            "BNI=",
            "1234.00",
        ),
        (said("code", "string"), "1234", "1234.00"),
        # It says nothing of plain bytes.
        (said("code", "bytes"), "AJw=", "1.56"),
    ],
)
@pytest.mark.parametrize("with_key", [False, True])
def test_a_schema_decides_where_it_says_what_a_value_is(
    column: Mapping[str, Any], value: object, expected: str, *, with_key: bool
) -> None:
    fields = [column, said("at", "int64", "io.debezium.time.MicroTimestamp"), said("day", "int32")]
    sides = [{"field": side, "type": "struct", "fields": fields} for side in ("before", "after")]
    after = {"code": value, "at": AT * 1000, "day": 1}
    key = None
    if with_key:
        del after["code"]
        of_key = {"type": "struct", "fields": [column]}
        key = json.dumps({"schema": of_key, "payload": {"code": value}}).encode()
    found = only(rows(message("c", {"type": "struct", "fields": sides}, after=after), key=key))
    assert found.key == (expected,)
    assert found.after == {"code": expected, "at": SPELLED, "day": "1970-01-02"}


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("arcion_s3_json", json.dumps({"code": "AJw=", "at": AT, "day": 1}).encode()),
        ("arcion_s3_csv", f"AJw=,{AT},1".encode()),
    ],
)
def test_it_holds_in_other_formats_too(name: str, payload: bytes) -> None:
    found = only(rows(payload, name))
    assert (found.key, found.after["at"], found.after["day"]) == (("1.56",), SPELLED, "1970-01-02")
