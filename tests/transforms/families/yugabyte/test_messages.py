from __future__ import annotations

from typing import Any

import pytest

from transforms.families.yugabyte.messages import (
    UnreadableResponse,
    field_names,
    filled,
    message_fields,
    message_of_record,
    unsigned,
    whole,
)
from transforms.json_values import Number, as_text
from transforms.record import BronzeRecord

OP_ID = field_names("term", "write_id")


def record(payload: bytes | None, defect: str | None = None) -> BronzeRecord:
    return BronzeRecord("w", "tablet=t1/a.json", "g", 1, 0, None, payload, defect, 0)


@pytest.mark.parametrize(
    "message",
    [
        {"term": 1, "write_id": 2, "other": {}},
        {"term": 1, "writeId": 2, "other": {}},
        {"term": 1, "write_id": None, "writeId": 2},
    ],
)
def test_a_field_has_its_value_in_either_spelling(message: dict[str, Any]) -> None:
    said = message_fields(message, OP_ID, "op id")
    assert (said.get("term"), said.get("write_id")) == (1, 2)


@pytest.mark.parametrize("message", [5, [], "{}", True, {"write_id": 1, "writeId": 1}])
def test_a_message_of_another_shape_is_refused(message: object) -> None:
    with pytest.raises(UnreadableResponse, match="another shape than its message: op id") as found:
        message_fields(message, OP_ID, "op id")
    assert found.value.fault.reason == "malformed_json"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None),
        ("", ""),
        ("5", "5"),
        (5, "5"),
        (Number("1.50"), "1.50"),
        (True, "true"),
        (False, "false"),
        ({"a": [1, Number("1e3")]}, '{"a":[1,1e3]}'),
    ],
)
def test_a_scalar_is_the_text_that_it_is_written_as(value: object, written: str | None) -> None:
    assert as_text(value) == written
    assert type(as_text(value)) in (str, type(None))
    assert filled(value) == (written or None)


@pytest.mark.parametrize(
    ("value", "signed", "without_sign"),
    [
        (2**63 - 1, 2**63 - 1, 2**63 - 1),
        ("9223372036854775808", None, 2**63),
        (2**64 - 1, None, 2**64 - 1),
        (str(2**64), None, None),
        (-(2**63), -(2**63), None),
        ("-1", -1, None),
        ("007", 7, 7),
        ("1.0", None, None),
        (Number("1.0"), None, None),
        (True, None, None),
        ("٣", None, None),
        ("9" * 5000, None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_numbers_of_64_bits(value: object, signed: int | None, without_sign: int | None) -> None:
    assert (whole(value), unsigned(value)) == (signed, without_sign)


@pytest.mark.parametrize(
    ("payload", "defect", "reason", "part"),
    [
        (b'{"a":', "cut in two", "damaged_record", "cut in two"),
        (b'{"term":"\xff"}', None, "invalid_utf8", "not valid UTF-8"),
        (b'{"term":1', None, "malformed_json", "not JSON"),
        (b'{"term":1,"term":2}', None, "malformed_json", "stands twice in one object: term"),
        (b"[1]", None, "malformed_json", "no JSON object: [1]"),
        (None, None, "malformed_json", "not JSON"),
    ],
)
def test_bytes_that_are_no_message(
    payload: bytes | None, defect: str | None, reason: str, part: str
) -> None:
    with pytest.raises(UnreadableResponse) as found:
        message_of_record(record(payload, defect), OP_ID)
    assert found.value.fault.reason == reason
    assert part in found.value.fault.detail
