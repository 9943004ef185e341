"""Values of every type of TigerGraph's become texts that the declared types read, and others stay what they are."""

from __future__ import annotations

import pytest

from transforms.formats.tigergraph.texts import minus_speller, speller
from transforms.json_values import read

STRUCT = "struct<i:bigint,at:timestamp,on:boolean,s:string>"


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        *[("bigint", "3", "3"), ("bigint", "-9223372036854775808", "-9223372036854775808")],
        *[("bigint", "2.0", "2"), ("bigint", "2.50", "2.50"), ("bigint", '"7"', "7")],
        *[("decimal(20,0)", "18446744073709551615", "18446744073709551615")],
        *[("double", "1.50", "1.50"), ("double", "1E400", "1E400"), ("float", "3", "3")],
        *[("boolean", "1", "true"), ("boolean", "0", "false"), ("boolean", "true", "true")],
        *[("boolean", '"0"', "false"), ("boolean", "2", "2"), ("boolean", "1.0", "true")],
        *[("string", '"a\\n"', "a\n"), ("string", "1.0", "1.0"), ("string", "false", "false")],
        *[("string", "null", None), ("bigint", "null", None), ("array<bigint>", "null", None)],
        ("string", '{"b": [1.50, null], "a": "x"}', '{"b":[1.50,null],"a":"x"}'),
    ],
)
def test_simple_values_keep_their_digits(kind: str, value: str, text: str | None) -> None:
    assert speller(kind)(read(value)) == text


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("timestamp", '"2001-01-01 08:00:00"', "2001-01-01 08:00:00"),
        *[("timestamp", "1222819200", "2008-10-01 00:00:00")],
        *[
            ("timestamp", "-1", "1969-12-31 23:59:59"),
            ("timestamp_ntz", "0", "1970-01-01 00:00:00"),
        ],
        *[
            ("timestamp", '"0"', "1970-01-01 00:00:00"),
            ("timestamp", "60.0", "1970-01-01 00:01:00"),
        ],
        ("timestamp", "-62135596800", "0001-01-01 00:00:00"),
        ("timestamp", "253402300799", "9999-12-31 23:59:59"),
        *[("date", "1222819200", "2008-10-01"), ("date", "1222819201", "2008-10-01 00:00:01")],
        # Of milliseconds and microseconds nothing says that they are: they are no seconds of the years 1 to 9999.
        *[("timestamp", "1222819200000", "1222819200000")],
        *[("timestamp", "1222819200000000", "1222819200000000"), ("date", "9" * 30, "9" * 30)],
        ("timestamp", "-62135596801", "-62135596801"),
        ("timestamp", "0.5", "0.5"),
    ],
)
def test_a_datetime_is_a_text_or_a_number_of_seconds(kind: str, value: str, text: str) -> None:
    assert speller(kind)(read(value)) == text


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("array<bigint>", "[2, 3.0, -1, null]", "[2,3,-1,null]"),
        ("set<string>", '["b", "a", "b", 7, "\\"\\u00e9"]', '["7","\\"é","a","b","b"]'),
        ("array<timestamp>", '[0, "2001-01-01"]', '["1970-01-01 00:00:00","2001-01-01"]'),
        ("array<boolean>", "[1, 0, true, 5]", '[true,false,true,"5"]'),
        ("array<double>", '[1.50, 1E5, "NaN", "x"]', '[1.50,1E5,"NaN","x"]'),
        ("array<decimal(20,0)>", "[18446744073709551615]", "[18446744073709551615]"),
        *[("array<bigint>", '["5", "05"]', '[5,"05"]'), ("array<bigint>", "[]", "[]")],
        ("array<string>", '[{"keylist": ["i", "s"], "valuelist": [2, "m"]}]', '["i: 2, s: m"]'),
        *[("array<bigint>", "5", "5"), ("array<bigint>", '{"a": 1}', '{"a":1}')],
    ],
)
def test_lists_and_sets_are_json(kind: str, value: str, text: str) -> None:
    assert speller(kind)(read(value)) == text


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("map<string,bigint>", '{"a": 1, "b": null}', '{"a":1,"b":null}'),
        ("map<string,bigint>", '{"keylist": ["b", "a"], "valuelist": [1, 2]}', '{"a":2,"b":1}'),
        ("map<bigint,double>", '{"keylist": [1, 2.0], "valuelist": [1.50, 2]}', '{"1":1.50,"2":2}'),
        (
            "map<timestamp,string>",
            '{"keylist": [0], "valuelist": ["x"]}',
            '{"1970-01-01 00:00:00":"x"}',
        ),
        ("map<boolean,boolean>", '{"1": 0}', '{"true":false}'),
        ("map<string,bigint>", "{}", "{}"),
        ("map<string,bigint>", '{"keylist": [], "valuelist": []}', "{}"),
        # These are maps of the older form whose keys have these names.
        (
            "map<string,string>",
            '{"keylist": "a", "valuelist": "b"}',
            '{"keylist":"a","valuelist":"b"}',
        ),
        (
            "map<string,string>",
            '{"keylist": ["a"], "more": 1}',
            '{"keylist":"[\\"a\\"]","more":"1"}',
        ),
        (
            *("map<string,bigint>", '{"keylist": ["x", "y"], "valuelist": [1]}'),
            '{"keylist":"[\\"x\\",\\"y\\"]","valuelist":"[1]"}',
        ),
        *[("map<string,bigint>", "[2]", "[2]"), ("map<string,bigint>", '"x"', "x")],
        # No map: it is refused, and not taken without the entry.
        ("map<string,bigint>", '{"keylist": ["a", null], "valuelist": [1, 2]}', '{"a":1,null:2}'),
        ("map<string,bigint>", '{"keylist": ["a", "a"], "valuelist": [1, 2]}', '{"a":1,"a":2}'),
    ],
)
def test_a_map_is_an_object_or_two_lists(kind: str, value: str, text: str) -> None:
    assert speller(kind)(read(value)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('["a", 2]', '{"a":null,"2":null}'),
        ('{"keylist": ["a"]}', '{"a":null}'),
        ('{"keylist": ["a"], "valuelist": [5]}', '{"a":5}'),
        ('{"a": 0}', '{"a":0}'),
        ('{"keylist": 7}', '{"keylist":7}'),
        ("5", "5"),
    ],
)
def test_what_is_taken_from_a_map_may_be_keys_alone(value: str, text: str) -> None:
    assert minus_speller("map<string,bigint>")(read(value)) == text


def test_what_is_taken_from_others_is_as_it_is_for_all_operations() -> None:
    assert minus_speller("array<bigint>")([1, 2]) == "[1,2]"
    assert minus_speller("map<timestamp,string>")([0]) == '{"1970-01-01 00:00:00":null}'


WHOLE = '{"i":2,"at":"2008-10-01 00:00:00","on":true,"s":"m2"}'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('"i: 2, at: 1222819200, on: 1, s: m2"', WHOLE),
        ('" i:2,at : 1222819200 , on:  1,  s: m2"', WHOLE),
        ('{"keylist": ["i", "at", "on", "s"], "valuelist": [2, 1222819200, 1, "m2"]}', WHOLE),
        ('{"s": "m2", "on": true, "at": "2008-10-01 00:00:00", "i": 2.0}', WHOLE),
        (
            '"i: 2, at: 0, on: 0, s: a, i: 3,\\nb "',
            '{"i":2,"at":"1970-01-01 00:00:00","on":false,"s":"a, i: 3,\\nb "}',
        ),
        ('"i: x, at: , on: 7, s: "', '{"i":"x","at":"","on":"7","s":""}'),
        # These are no tuples of these fields.
        ('"i: 2, s: m2"', "i: 2, s: m2"),
        ('{"i": 2, "s": "m2"}', '"{\\"i\\":2,\\"s\\":\\"m2\\"}"'),
        (
            '{"keylist": ["i", "i", "at"], "valuelist": [1, 2, 0]}',
            '"{\\"keylist\\":[\\"i\\",\\"i\\",\\"at\\"],\\"valuelist\\":[1,2,0]}"',
        ),
        *[("7", "7"), ("null", None)],
    ],
)
def test_a_tuple_of_declared_fields_is_an_object(value: str, text: str | None) -> None:
    assert speller(STRUCT)(read(value)) == text


def test_tuples_stand_in_lists_and_maps() -> None:
    kind = "struct<of:string,w:bigint>"
    assert speller(f"array<{kind}>")(["of: x, y, w: 1"]) == '[{"of":"x, y","w":1}]'
    assert speller(f"map<string,{kind}>")({"k": "of: , w: 1"}) == '{"k":{"of":"","w":1}}'
    assert (
        speller(f"array<{kind}>")([{"of": "x"}, "x", None])
        == '["\\"{\\\\\\"of\\\\\\":\\\\\\"x\\\\\\"}\\"","x",null]'
    )


def test_a_tuple_without_its_last_field_is_recognised_at_once() -> None:
    # Trying every comma with every other one would take years.
    text = "a: 1" + ", b: , c: , d: , e: " * 20_000
    kind = f"struct<{','.join(f'{name}:string' for name in 'abcdefg')}>"
    assert speller(kind)(text) == text


def test_a_tuple_without_declared_fields_is_one_text() -> None:
    assert speller("string")("i: 2, s: a, b") == "i: 2, s: a, b"
    two_lists = {"keylist": ["i", "s", "n"], "valuelist": [2, "m2", None]}
    assert speller("string")(two_lists) == "i: 2, s: m2, n: null"
