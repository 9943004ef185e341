"""The server's own values, as Go's encoding/json and as protojson write them."""

from __future__ import annotations

import base64
import json
from datetime import UTC, date, datetime, timedelta
from random import Random

import pytest

from transforms.event import Value
from transforms.families.yugabyte import values
from transforms.families.yugabyte.messages import UnreadableResponse
from transforms.families.yugabyte.values import (
    NULL,
    ServerValue,
    day_text,
    instant_of,
    moment_of,
    timestamp_text,
    transaction_id,
)
from transforms.json_values import Number


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


UUID = b64(bytes(range(16)))
GO_LIST = {"elems": [{"Value": {"Int32Value": 4}}, {"Value": None}]}
GO_MAP = {
    "keys": [{"Value": {"Int32Value": 4}}],
    "values": [{"Value": {"BinaryValue": "3q0="}}],
}
MAP = {"keys": [{"int32_value": 4}], "values": [{"binary_value": "3q0="}]}


@pytest.mark.parametrize(
    ("kind", "go", "protojson", "value"),
    [
        ("int64_value", 9007199254740993, "9007199254740993", "9007199254740993"),
        ("uint64_value", 2**64 - 1, str(2**64 - 1), "18446744073709551615"),
        ("double_value", Number("1.10"), Number("1.10"), "1.10"),
        ("bool_value", False, False, "false"),
        ("time_value", 86_399_999_999_999, "86399999999999", "86399999999999"),
        ("string_value", "Z3LDtsOfZQ==", "Z3LDtsOfZQ==", "größe"),
        ("string_value", "", "", ""),
        ("binary_value", "3q0=", "3q0=", b"\xde\xad"),
        ("timeuuid_value", UUID, UUID, "00010203-0405-0607-0809-0a0b0c0d0e0f"),
        ("inetaddress_value", "fwAAAQ==", "fwAAAQ==", "127.0.0.1"),
        ("inetaddress_value", UUID, UUID, "1:203:405:607:809:a0b:c0d:e0f"),
        ("timestamp_value", 1_500_000_000_000_000, "1500000000000000", "2017-07-14 02:40:00"),
        ("timestamp_value", -1, "-1", "1969-12-31 23:59:59.999999"),
        ("date_value", 2_147_500_980, 2_147_500_980, "2017-06-15"),
        ("list_value", GO_LIST, {"elems": [{"int32Value": 4}, {}]}, "[4,null]"),
        ("map_value", GO_MAP, MAP, '{"4":"\\\\xdead"}'),
    ],
)
def test_both_encodings_say_the_same(
    kind: str, go: object, protojson: object, value: Value
) -> None:
    words = kind.split("_")
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    written = [
        {"Value": {"".join(word.capitalize() for word in words): go}},
        {kind: protojson},
        {camel: protojson},
    ]
    assert [values.read_value(one) for one in written] == [ServerValue(kind, value)] * 3


@pytest.mark.parametrize("value", [None, {}, {"Value": None}, {"Value": {}}, {"int32Value": None}])
def test_a_value_without_a_member_is_null(value: object) -> None:
    assert values.read_value(value) == NULL


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"Value": {"VarintValue": "gQ=="}}, "varint_value"),
        ({"decimalValue": "gQ=="}, "decimal_value"),
        ({"Value": {"OtherValue": 1}}, "OtherValue"),
        ({"other_value": 1}, "other_value"),
        ({"list_value": {"elems": [{"set_value": {}}]}}, "collection_of_collections"),
        ({"map_value": {"keys": [{"jsonb_value": ""}], "values": [{}]}}, "jsonb_value"),
    ],
)
def test_what_is_not_read_is_not_taken_for_null(value: object, kind: str) -> None:
    own = values.read_value(value)
    assert (own.kind, own.is_read) == (kind, False)


@pytest.mark.parametrize(
    "value",
    [
        5,
        {"Value": 5},
        {"list_value": []},
        {"list_value": {"elems": {}}},
        {"list_value": {"elems": [5]}},
        {"map_value": {"keys": [{}], "values": []}},
    ],
)
def test_a_value_of_another_shape_is_refused(value: object) -> None:
    with pytest.raises(UnreadableResponse, match="another shape"):
        values.read_value(value)


def test_a_collection_is_json_whatever_is_in_it() -> None:
    texts = ['a"b', "\\", "\n", "ß", ""]
    numbers: list[object] = [Number("0.10"), "NaN", "-Infinity", "5"]
    elements: list[object] = [{"string_value": b64(one.encode())} for one in texts]
    elements += [{"double_value": one} for one in numbers]
    written = values.read_value({"set_value": {"elems": elements}}).value
    assert isinstance(written, str)
    assert json.loads(written) == [*texts, 0.1, "NaN", "-Infinity", 5]
    assert "0.10" in written


def test_a_text_that_is_no_base64_is_taken_as_it_stands() -> None:
    assert values.read_value({"string_value": "Österreich"}) == ServerValue(
        "string_value", "Österreich", is_base64=False
    )
    # Base64 of bytes that are no text.
    assert values.read_value({"string_value": "/w=="}) == ServerValue(
        "string_value", "/w==", is_base64=False
    )
    assert [values.text_of_base64(one) for one in ("YQ", "YQ=", "Y Q==", "Y_-=")] == [None] * 4


def test_a_day_is_the_calendars_far_beyond_the_years_of_a_date() -> None:
    known = [date.min, date(1969, 12, 31), date(1970, 1, 1), date(2000, 2, 29), date.max]
    days = [(one - date(1970, 1, 1)).days for one in known]
    assert [day_text(one) for one in days] == [one.isoformat() for one in known]
    assert day_text(days[-1] + 1) == "+10000-01-01"
    assert day_text(days[0] - 1) == "+0000-12-31"
    assert day_text(days[0] - 367) == "-0001-12-31"
    # The first and the last day that an unsigned number of 32 bits can say.
    assert day_text(-(2**31)) == "-5877641-06-23"
    assert day_text(2**31 - 1) == "+5881580-07-11"


def test_dates_and_moments_that_no_column_can_hold_say_what_the_source_has() -> None:
    by_kind = {
        "date_value": [4_294_967_295, 4_294_967_296, -1, "9223372036854775808", "x"],
        "timestamp_value": [2**63 - 1, -(2**63), 2**63, "x"],
    }
    found = {
        kind: [values.read_value({kind: one}).value for one in ones]
        for kind, ones in by_kind.items()
    }
    assert found == {
        "date_value": ["+5881580-07-11", "4294967296", "-1", "9223372036854775808", "x"],
        "timestamp_value": [
            *("+294247-01-10 04:00:54.775807", "-290308-12-21 19:59:05.224192"),
            *("9223372036854775808", "x"),
        ],
    }


def test_moments_are_those_of_the_calendar() -> None:
    rng = Random(7)
    start = datetime(1970, 1, 1, tzinfo=UTC)
    for _ in range(2_000):
        micros = rng.randint(-62_135_596_800_000_000, 253_402_300_799_999_999)
        found = start + timedelta(microseconds=micros)
        expected = found.replace(tzinfo=None).isoformat(" ")
        assert timestamp_text(micros) == (expected.rstrip("0") if "." in expected else expected)


def test_hybrid_times_are_unsigned() -> None:
    assert instant_of(6896904354349305856) == (1683814539636061, 0)
    assert instant_of(str(2**63 + 4097)) == (2**51 + 1, 1)
    assert instant_of(2**64 - 1) == (2**52 - 1, 4095)
    assert instant_of(-1) == instant_of(None) == instant_of("x") == (None, None)
    assert moment_of(6896904354349305856) == 1683814539636061
    assert moment_of(2**64 - 1) == 2**52 - 1


@pytest.mark.parametrize(
    "spelling",
    [
        "51034ee3-25da-4adc-beb2-60ff70678a33",
        "51034EE3-25DA-4ADC-BEB2-60FF70678A33",
        "NTEwMzRlZTMtMjVkYS00YWRjLWJlYjItNjBmZjcwNjc4YTMz",
        "UQNO4yXaSty+smD/cGeKMw==",
    ],
)
def test_a_transactions_id_is_a_uuid_in_every_spelling(spelling: str) -> None:
    assert transaction_id(spelling) == "51034ee3-25da-4adc-beb2-60ff70678a33"


def test_a_transactions_id_that_is_no_uuid_stays_as_it_is() -> None:
    assert [transaction_id(one) for one in ("MQ==", "t 1", 7)] == ["MQ==", "t 1", "7"]
    assert transaction_id("") is transaction_id(None) is None
