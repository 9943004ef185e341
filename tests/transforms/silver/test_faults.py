"""Values that their columns cannot hold: an event's fault names all of them, and a summary reads them back."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from transforms.event import Event, StreamSchema, Value
from transforms.feed.feed import Feed, Table
from transforms.silver.declarations import Declaration, Declarations
from transforms.silver.faults import MISFIT, Misfit, key_fault, misfits, misfits_told

COLUMNS = {
    **{"amount": "decimal(10,2)", "at": "timestamp", "on": "date", "local": "timestamp_ntz"},
    **{"id": "int", "total": "decimal(12,2)", "since": "date", "tags": "array<string>"},
}


def declared(columns: Mapping[str, str], **encodings: str) -> Declaration:
    """A table of these columns, as the feed file declares it."""
    table = Table("orders", ("id",), columns, tuple(columns), encodings=encodings)
    feed = Feed("shop", "debezium", "/landing", tables={"orders": table})
    return Declarations(feed, describes_tables=True).of(None, None, "orders", None)


@pytest.mark.parametrize(
    ("values", "detail", "told"),
    [
        ({"total": "twelve"}, "total is twelve, which is no decimal(12,2)", [("total", "twelve")]),
        (
            {"id": "x", "since": "a; b is c, which is odd", "tags": b"ab"},
            "id is x, which is no int; since is a; b is c, which is odd, which is no date;"
            " tags is 2 bytes, which is no array<string>",
            [("id", "x"), ("since", "a; b is c, which is odd"), ("tags", "2 bytes")],
        ),
    ],
)
def test_all_misfits_of_an_event_are_told(
    values: dict[str, Value], detail: str, told: list[tuple[str, str]]
) -> None:
    found = misfits(values, declared(COLUMNS))
    assert (found.reason, found.detail) == (MISFIT, detail)
    assert misfits_told(detail) == [Misfit(name, value, COLUMNS[name]) for name, value in told]


def test_of_very_many_misfits_some_are_told() -> None:
    columns = dict.fromkeys((f"c{at}" for at in range(25)), "int")
    found = misfits(dict.fromkeys(columns, "x"), declared(columns))
    assert found.detail.endswith("c19 is x, which is no int; 5 more")
    assert len(misfits_told(found.detail)) == 20


def test_a_key_in_capital_letters_is_named_beside_the_one_that_is_missing() -> None:
    said = "key column id is absent or null"
    hint = "; it has ID, in other letters, which `renamed` in the feed file can say"
    for after, detail in (({"ID": "1"}, said + hint), ({"idea": "1", "id": None}, said)):
        event = Event(operation="insert", effect="replace", name="orders", after=after)
        found = key_fault(event, declared(COLUMNS), (None,))
        assert found is not None
        assert found.detail == detail


WAY_OUT = ", as Debezium sends by default without a schema, add a line to the table in the feed file: encoded: "


@pytest.mark.parametrize(
    ("values", "seen", "line"),
    [
        ({"amount": "AMk="}, "base64", "{amount: base64}"),
        ({"amount": '{"scale":2,"value":"AMk="}'}, "base64", "{amount: base64}"),
        ({"on": "20415"}, "days since 1970", '{"on": days}'),
        ({"at": "1795000000"}, "seconds since 1970", "{at: seconds}"),
        ({"at": "1795000000000"}, "milliseconds since 1970", "{at: millis}"),
        ({"local": "1795000000000000"}, "microseconds since 1970", "{local: micros}"),
        ({"at": "1795000000000000000"}, "nanoseconds since 1970", "{at: nanos}"),
        (
            {"amount": "AMk=", "id": "x", "at": "1795000000000000"},
            "base64 and microseconds since 1970",
            "{amount: base64, at: micros}",
        ),
    ],
)
def test_what_debezium_writes_without_a_schema_is_told_with_the_line_that_a_feed_file_lacks(
    values: dict[str, Value], seen: str, line: str
) -> None:
    found = misfits(values, declared(COLUMNS))
    assert found.detail.endswith(f". If that is {seen}{WAY_OUT}{line}")
    told = misfits_told(found.detail)
    assert [one.kind for one in told] == [COLUMNS[name] for name in values]


@pytest.mark.parametrize(
    "values",
    [
        {"amount": "12.345"},
        {"amount": "twelve"},
        {"amount": "Free"},
        {"amount": "AAAB"},  # Java writes as few bytes as the number needs.
        {"at": "yesterday"},
        {"at": "7"},
        {"on": "1795000000"},
        {"id": "1795000000000"},
        {"on": b"\x01"},
    ],
)
def test_nothing_is_suggested_for_other_values(values: dict[str, Value]) -> None:
    assert "encoded" not in misfits(values, declared(COLUMNS)).detail


def test_of_a_column_that_is_declared_so_already_it_is_said_how() -> None:
    table = declared({"id": "int", "amount": "decimal(4,2)"}, amount="base64")
    found = misfits({"amount": "AMk="}, table)
    assert found.detail == "amount is AMk=, which is no decimal(4,2) in base64"
    assert misfits_told(found.detail) == [Misfit("amount", "AMk=", "decimal(4,2) in base64")]


@pytest.mark.parametrize(
    ("value", "encoding", "number"),
    [
        ("AAALOnPOL/I=", "base64(2)", "123456789012.34"),
        ("AAALOnPOL/I=", "base64", "123456789012.34"),
        # With a scale of its own.
        ('{"scale": 4, "value": "MDk="}', "base64", "1.2345"),
    ],
)
def test_a_decimal_in_base64_that_is_too_long_is_told_as_the_number_that_it_is(
    value: str, encoding: str, number: str
) -> None:
    table = declared({"id": "int", "amount": "decimal(10,2)"}, amount=encoding)
    detail = misfits({"amount": value, "id": "x"}, table).detail
    assert f"in {encoding}: it is {number}, which has too many digits; id is x" in detail
    assert misfits_told(detail) == [
        Misfit("amount", value, f"decimal(10,2) in {encoding}"),
        Misfit("id", "x", "int"),
    ]


@pytest.mark.parametrize(
    "value", ["infinity", "-infinity", "0000-00-00", "0044-03-15 BC", "+12026-01-01", "-0043-03-15"]
)
def test_a_day_that_no_column_can_hold_is_told_with_what_a_feed_file_may_say(value: str) -> None:
    found = misfits({"since": value, "on": "never"}, declared(COLUMNS))
    assert f"since is {value}, which is no date; on is never, which is no date. " in found.detail
    assert "out_of_range: {since: null} (or clamp" in found.detail
    assert [one.column for one in misfits_told(found.detail)] == ["since", "on"]
    said = StreamSchema(("id",), (("id", "int"), ("since", "date")))
    table = Declarations(Feed("shop", "debezium", "/landing"), describes_tables=True)
    of_stream = misfits({"since": value}, table.of(None, None, "orders", said))
    assert "give the feed file the line out_of_range: null" in of_stream.detail


def test_a_policy_of_the_whole_feed_makes_no_key_null() -> None:
    said = StreamSchema(("id", "on"), (("id", "int"), ("on", "date"), ("since", "date")))
    feed = Feed("shop", "debezium", "/landing", out_of_range="null")
    table = Declarations(feed, describes_tables=True).of(None, None, "orders", said)
    assert table.out_of_range == {"since": "null"}


def test_a_table_that_the_stream_describes_has_no_line_in_a_feed_file() -> None:
    said = StreamSchema(("id",), (("id", "int"), ("at", "timestamp")))
    feed = Feed("shop", "debezium", "/landing")
    table = Declarations(feed, describes_tables=True).of(None, None, "orders", said)
    assert misfits({"at": "1795000000000000"}, table).detail.endswith("which is no timestamp")
