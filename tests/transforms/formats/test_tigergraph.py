"""What TigerGraph's messages become, where the golden cases have no room for it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from transforms.event import Event
from transforms.feed.feed import EdgeType, Feed, VertexType
from transforms.formats.tigergraph.decode import decoder
from transforms.formats.tigergraph.texts import minus_speller, speller
from transforms.json_values import read
from transforms.record import BronzeRecord

PERSON, COMPANY = ("Person",), ("Company",)
FEED = Feed(
    "social",
    "tigergraph",
    "/drops",
    vertices={
        "Person": VertexType(
            "Person", {"id": "bigint", "n": "bigint", "born": "timestamp"}, ("id",)
        ),
        "Company": VertexType(
            "Company", {"country": "string", "number": "bigint"}, ("country", "area", "number")
        ),
        "Thing": VertexType("Thing", {"size": "decimal(20,0)"}, graphs=("GLOBAL",)),
    },
    edges={
        "Likes": EdgeType("Likes", PERSON, PERSON, {"w": "bigint"}, graphs=("Social", "Work")),
        "Works": EdgeType("Works", PERSON, COMPANY, {}, reverse="Employs"),
        "Knows": EdgeType("Knows", PERSON, PERSON, {"w": "bigint"}, directed=False),
        "Pays": EdgeType(
            *("Pays", PERSON, ("Person", "Company"), {"day": "timestamp", "of": "bigint"}),
            discriminator=("day", "of"),
        ),
        "Has": EdgeType("Has", ("*",), ("Thing",), {}, graphs=("Social", "Work")),
    },
    baseline={"7": 86},
)


def events(message: object, feed: Feed = FEED, defect: str | None = None) -> list[Event]:
    """What a record becomes that is this message, or these bytes."""
    payload = message if isinstance(message, bytes) else json.dumps(message).encode()
    record = BronzeRecord("2026-11-20T04", "a.jsonl", "g", 1, 0, None, payload, defect, 0)
    return decoder(feed, {})(record)


def vertex(uid: str = "1", operator: str = "insert", **more: object) -> dict[str, object]:
    """A message on a vertex, of a Person if nothing else is said."""
    head = {"mid": "1|1700000000001|5|0", "operator": operator, "timestamp": 1700000000001}
    named = {"type": "vertex", "typename": "Person", "vid": 7, "uid": uid, "content": {}}
    return {**head, **named, **more}


def edge(
    source: str, target: str, typename: str = "Likes", operator: str = "insert", **more: object
) -> dict[str, object]:
    """A message on an edge between two Persons if nothing else is said: an end is ``Type/uid``, or the uid alone."""
    head = {"mid": "1|1700000000001|5|0", "operator": operator, "timestamp": 1700000000001}
    ends = {"from": end(source), "to": end(target)}
    return {**head, "type": "edge", "typename": typename, **ends, "content": {}, **more}


def end(text: str) -> dict[str, object]:
    kind, _, uid = text.rpartition("/")
    return {"type": kind or "Person", "vid": 7, "uid": uid}


STRUCT = "struct<i:bigint,at:timestamp,on:boolean,s:string>"


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        *[("bigint", "2.0", "2"), ("bigint", "2.50", "2.50"), ("double", "1E400", "1E400")],
        *[("boolean", '"0"', "false"), ("boolean", "2", "2"), ("string", "1.0", "1.0")],
        ("string", '{"b": [1.50, null], "a": "x"}', '{"b":[1.50,null],"a":"x"}'),
        *[("timestamp", "-1", "1969-12-31 23:59:59"), ("date", "1222819200", "2008-10-01")],
        *[("date", "1222819201", "2008-10-01 00:00:01"), ("timestamp", "0.5", "0.5")],
        # Of milliseconds nothing says that they are: they are no seconds of the years 1 to 9999.
        ("timestamp", "1222819200000", "1222819200000"),
        ("timestamp", "-62135596801", "-62135596801"),
        ("array<bigint>", "[2, 3.0, -1, null]", "[2,3,-1,null]"),
        ("set<string>", '["b", "a", "b", 7, "\\"\\u00e9"]', '["7","\\"é","a","b","b"]'),
        ("array<boolean>", "[1, 0, true, 5]", '[true,false,true,"5"]'),
        ("array<string>", '[{"keylist": ["i", "s"], "valuelist": [2, "m"]}]', '["i: 2, s: m"]'),
        *[("array<bigint>", '["5", "05"]', '[5,"05"]'), ("array<bigint>", '{"a": 1}', '{"a":1}')],
    ],
)
def test_values_lists_and_sets_are_texts_that_the_declared_types_read(
    kind: str, value: str, text: str
) -> None:
    assert speller(kind)(read(value)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('["a", 2]', '{"a":null,"2":null}'),
        ('{"keylist": ["a"]}', '{"a":null}'),
        ('{"a": 0}', '{"a":0}'),
        ("5", "5"),
    ],
)
def test_what_is_taken_from_a_map_may_be_keys_alone(value: str, text: str) -> None:
    assert minus_speller("map<string,bigint>")(read(value)) == text


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
        # No map: it is quarantined, and not taken without the entry.
        ("map<string,bigint>", '{"keylist": ["a", null], "valuelist": [1, 2]}', '{"a":1,null:2}'),
        ("map<string,bigint>", '{"keylist": ["a", "a"], "valuelist": [1, 2]}', '{"a":1,"a":2}'),
    ],
)
def test_a_map_is_an_object_or_two_lists(kind: str, value: str, text: str) -> None:
    assert speller(kind)(read(value)) == text


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


def test_a_tuple_without_its_last_field_is_recognised_at_once() -> None:
    # Trying every comma with every other one would take years.
    text = "a: 1" + ", b: , c: , d: , e: " * 20_000
    kind = f"struct<{','.join(f'{name}:string' for name in 'abcdefg')}>"
    assert speller(kind)(text) == text


def in_short(found: list[Event]) -> list[tuple[object, ...]]:
    """Table, effect, why it follows, and what it is for."""
    return [
        (one.name, one.effect, one.derived, one.scope if one.scope is not None else one.before)
        for one in found
    ]


def test_a_delete_all_is_for_every_direction_in_which_an_edge_is_stored() -> None:
    def delete_all(**more: object) -> list[tuple[object, ...]]:
        message = {**edge("a", "b", operator="delete-all"), **more}
        return in_short(events({key: value for key, value in message.items() if key != "to"}))

    begins = {"from_type": "Person", "from_uid": "a"}
    ends = {"to_type": "Person", "to_uid": "a"}
    assert delete_all() == [("edge_Likes", "remove", None, begins)]
    assert delete_all(typename="Unheard") == [("edge_Unheard", "remove", None, begins)]
    assert delete_all(typename="Employs") == [
        ("edge_Works__mirror", "remove", None, ends),
        ("edge_Works", "remove", "delete_all", ends),
    ]
    both = [
        ("edge_Knows", "remove", "delete_all", begins),
        ("edge_Knows", "remove", "delete_all", ends),
        ("edge_Knows__mirror", "remove", "delete_all", begins),
        ("edge_Knows__mirror", "remove", "delete_all", ends),
    ]
    assert delete_all(typename="Knows") == [(*both[0][:2], None, begins), *both[1:]]
    works = [
        (name, "remove", "delete_all", begins) for name in ("edge_Works", "edge_Works__mirror")
    ]
    others = [(name, "remove", "delete_all", begins) for name in ("edge_Pays", "edge_Has")]
    every = [("edge_Likes", "remove", None, begins), *works, *both, *others]
    assert delete_all(typename="") == every


@pytest.mark.parametrize(
    ("timestamp", "at"),
    [
        *[(1_700_000_000_005, 1_700_000_000_005_000), ("1700000000005", 1_700_000_000_005_000)],
        *[
            (None, 1_700_000_000_001_000),
            (10**19, 1_700_000_000_001_000),
            (True, 1_700_000_000_001_000),
        ],
        *[("soon", 1_700_000_000_001_000), ({}, 1_700_000_000_001_000), (0, 0)],
    ],
)
def test_the_time_is_the_messages_own_or_that_of_its_mid(timestamp: object, at: int) -> None:
    (one,) = events(vertex(timestamp=timestamp))
    assert one.event_at == at


def test_what_is_noticed_stands_at_the_message_alone() -> None:
    def noticed(message: dict[str, object]) -> list[tuple[str, ...]]:
        return [one.warnings for one in events(message)]

    company = {"typename": "Company"}
    assert noticed(vertex("DE,x,7", **company)) == [()]
    assert noticed(vertex("DE,7", **company)) == [("key_not_split",)]
    assert noticed(vertex("DE,7", "delete", **company))[0] == ()
    assert noticed(edge("a", "b", "Pays", discriminator="a")) == [("key_not_split",), ()]
    restricted = {**edge("a", "b", "Pays", "delete-all"), "to": None}
    assert noticed(restricted) == [("delete_all_of_others",)]
    of_reverse = {**edge("a", "b", "Likes", "delete-all"), "to": None, "hasreverseedge": True}
    assert noticed(of_reverse) == [("delete_all_of_others", "reverse_not_declared")]
    assert noticed(edge("a", "b", hasreverseedge=True)) == [("reverse_not_declared",), ()]
    assert noticed(edge("a", "b", hasreverseedge=False)) == [(), ()]
    assert noticed(edge("a", "Company/c", "Works", hasreverseedge=True)) == [(), ()]


def test_a_record_of_a_topic_is_its_value() -> None:
    feed = replace(FEED, landing="kafka://broker:9092/cdc")
    assert events(vertex("1"), feed)[0].after == {"uid": "1", "id": "1"}
    assert events(edge("a", "b"), feed)[1].derived == "edge_source"
    as_dumped = {"partition": 0, "offset": 1, "value": vertex("1")}
    assert events(as_dumped)[0].after == {"uid": "1", "id": "1"}
    fault = events(as_dumped, feed)[0].fault
    assert fault is not None
    assert fault.reason == "missing_field"
    assert end("Company/a/b") == {"type": "Company/a", "vid": 7, "uid": "b"}


def without(message: dict[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in message.items() if name not in names}


BY_GRAPH = replace(FEED, table_names="schema")


def test_a_type_of_all_graphs_that_nothing_says_so_of_is_noticed() -> None:
    def noticed(message: dict[str, object], feed: Feed = BY_GRAPH) -> tuple[str, ...]:
        return events(message, feed)[0].warnings

    assert noticed(vertex(graph="GLOBAL")) == ("graph_not_declared",)
    assert noticed(vertex(graph="GLOBAL", typename="Thing")) == ()
    # The edges that touch it are of graphs that nobody has named.
    assert noticed(vertex("1", "delete", graph="GLOBAL", typename="Company")) == (
        "graph_not_declared",
    )
    assert noticed(vertex("1", "delete", graph="GLOBAL", typename="Thing")) == ()
    assert noticed(vertex(graph="Work")) == ()
    assert noticed(vertex(graph="GLOBAL"), FEED) == ()
