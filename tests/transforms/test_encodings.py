"""Counts of time and decimals in base64, as a feed file declares them: golden values, refusals, and the way back."""

from __future__ import annotations

import base64
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.column_types.encodings import UnfitEncoding, check, judge_of_encoded
from transforms.column_types.registry import column_type


@pytest.mark.parametrize(
    ("kind", "encoding", "value", "text"),
    [
        # Kafka's JsonConverterTest, decimalToConnect, and a message that a user of Debezium read:
        # https://stackoverflow.com/questions/46884487
        ("decimal(10,2)", "base64", "AJw=", "1.56"),
        ("decimal(38,9)", "base64(9)", "GZ6ZFQvYpA==", "7211254.738049188"),
        # Two's complement: what begins with a high bit is negative.
        ("decimal(10,2)", "base64", "nA==", "-1.00"),
        ("decimal(10,2)", "base64", "/w==", "-0.01"),
        ("decimal(10,2)", "base64", "AP8=", "2.55"),
        ("decimal(10,2)", "base64", "AA==", "0.00"),
        ("decimal(10,0)", "base64", "g2Q=", "-31900"),
        ("decimal(10,4)", "base64(2)", "AJw=", "1.5600"),
        ("decimal(10,2)", "base64", b"\x00\x9c", "1.56"),
        ("decimal(10,2)", "base64", '{"scale":1,"value":"AJw="}', "15.60"),
        ("decimal(10,2)", "base64", '{"value":"AJw=","scale":-2}', "15600.00"),
        # Four digits are base64 like any others; a point is in none.
        ("decimal(10,0)", "base64", "1234", "-2658824"),
        ("decimal(10,2)", "base64", "12.34", "12.34"),
        ("decimal(10,2)", "base64", "-1234.0", "-1234.00"),
        # Debezium's documentation, "Temporal types" of the connectors for MySQL and Postgres.
        ("timestamp", "millis", "1529507596945", "2018-06-20 15:13:16.945"),
        ("timestamp_ntz", "micros", "1529507596945104", "2018-06-20 15:13:16.945104"),
        ("timestamp", "nanos", "1529507596945104000", "2018-06-20 15:13:16.945104"),
        ("timestamp", "seconds", "-1", "1969-12-31 23:59:59"),
        ("timestamp", "micros", "-1", "1969-12-31 23:59:59.999999"),
        ("timestamp", "micros", "2026-11-20T03:04:05Z", "2026-11-20 03:04:05"),
        ("date", "days", "10000", "1997-05-19"),
        ("date", "days", "-1", "1969-12-31"),
        ("date", "days", "2026-11-20", "2026-11-20"),
        ("string", "micros_of_day", "30600000000", "08:30:00"),
        ("string", "millis_of_day", "-3600001", "-01:00:00.001"),
        ("string", "nanos_of_day", "1", "00:00:00.000000001"),
        ("string", "micros_of_day", "08:30:00", "08:30:00"),
        # Debezium's binary.handling.mode; a canonical text of bytes is base64.
        ("binary", "hex", "00ff", "AP8="),
        ("binary", "base64", "+/8", "+/8="),
        ("binary", "base64-url-safe", "-_8=", "+/8="),
        ("binary", "hex", b"\x00", "AA=="),
    ],
)
def test_a_value_is_read_as_it_is_declared_to_be_written(
    kind: str, encoding: str, value: str | bytes, text: str
) -> None:
    check(kind, encoding)
    assert judge_of_encoded(kind, encoding)(value) == text


@pytest.mark.parametrize(
    ("kind", "encoding", "value"),
    [
        ("decimal(3,2)", "base64", "JxA="),  # 100.00
        ("decimal(38,0)", "base64", base64.b64encode(b"\x7f" * 17).decode()),
        ("decimal(38,0)", "base64", base64.b64encode(b"\x7f" * 500).decode()),
        ("decimal(10,1)", "base64", '{"scale":2,"value":"AJw="}'),
        ("decimal(10,2)", "base64", '{"scale":2}'),
        ("decimal(10,2)", "base64", '{"scale":2,"value":'),
        ("decimal(10,2)", "base64", ""),
        ("decimal(10,2)", "base64", "123"),
        ("decimal(10,2)", "base64", "-1234"),
        ("decimal(10,2)", "base64", "AJw"),
        ("decimal(10,2)", "base64", "gift!"),
        ("timestamp", "nanos", "1529507596945104001"),
        ("timestamp", "micros", "253402300800000000"),
        ("timestamp", "micros", "15295075969451041529507596945104"),
        ("timestamp", "micros", "1.5"),
        ("date", "days", "2932897"),
        ("date", "days", "2026" * 6),
    ],
)
def test_what_is_not_exact_does_not_fit(kind: str, encoding: str, value: str) -> None:
    assert judge_of_encoded(kind, encoding)(value) is None


@pytest.mark.parametrize(
    ("kind", "encoding", "fault"),
    [
        ("int", "micros", "is for columns of type decimal, date, .* and this one is a int"),
        ("array<date>", "days", "is for columns of type decimal"),
        ("timestamp", "days", "'days' is no way in which a timestamp is written"),
        ("date", "micros", "'micros' is no way in which a date is written"),
        ("string", "base64", "'base64' is no way"),
        ("decimal(10,2)", "hex", "'hex' is no way"),
        ("decimal(10,2)", "base64(scale)", "is no way"),
        ("decimal(10,2)", "base64(-1)", "is no way"),
        ("decimal(10,2)", "base64(3)", "has more digits behind the point than decimal.10,2. keeps"),
    ],
)
def test_an_encoding_that_a_type_has_not_is_refused(kind: str, encoding: str, fault: str) -> None:
    with pytest.raises(UnfitEncoding, match=fault):
        check(kind, encoding)


def java_bytes(number: int) -> bytes:
    """What ``BigInteger.toByteArray`` gives: two's complement in as few bytes as the number and its sign need."""
    size = 1
    while not -(1 << (8 * size - 1)) <= number < 1 << (8 * size - 1):
        size += 1
    return bytes((number >> (8 * (size - 1 - at))) & 0xFF for at in range(size))


@given(st.data())
def test_every_decimal_comes_back(data: st.DataObject) -> None:
    precision = data.draw(st.integers(1, 38))
    scale = data.draw(st.integers(0, precision))
    number = data.draw(st.integers(-(10**precision) + 1, 10**precision - 1))
    written = base64.b64encode(java_bytes(number)).decode()
    kind = f"decimal({precision},{scale})"
    found = judge_of_encoded(kind, f"base64({scale})")(written)
    assert found is not None
    with localcontext(prec=80):
        assert Decimal(found) == Decimal(number).scaleb(-scale)
    assert found == column_type(kind).judge(found)


@given(st.integers(1, 37), st.integers(0, 3))
def test_a_number_with_one_digit_too_many_does_not_fit(precision: int, more: int) -> None:
    for number in (10**precision + more, -(10**precision) - more):
        written = base64.b64encode(java_bytes(number)).decode()
        assert judge_of_encoded(f"decimal({precision},0)", "base64")(written) is None


@given(
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999)),
    st.sampled_from(["seconds", "millis", "micros", "nanos"]),
)
def test_every_moment_comes_back(moment: datetime, unit: str) -> None:
    per = {"seconds": 1_000_000, "millis": 1_000, "micros": 1, "nanos": 0}[unit]
    microseconds = (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    count = microseconds // per if per else microseconds * 1_000
    whole = count * per if per else microseconds
    found = judge_of_encoded("timestamp", unit)(str(count))
    assert found is not None
    expected = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=whole)
    assert datetime.fromisoformat(found).replace(tzinfo=UTC) == expected


@given(st.dates())
def test_every_day_comes_back(day: date) -> None:
    count = (day - date(1970, 1, 1)).days
    assert judge_of_encoded("date", "days")(str(count)) == day.isoformat()
