"""Dgraph's records as they come from a topic, which no file of a golden case can hold, and events that few ever see."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from orchestration.feeds.load import load_feed
from tests.support.decoded import LANDED_AT, decoded, records_of
from transforms.event import Event, Pending
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.formats.dgraph.commit_positions import VERBS, awaited, waiting
from transforms.formats.dgraph.decode import decoder
from transforms.formats.dgraph.statements import TYPES, Statement
from transforms.record import BronzeRecord

NAMESPACE_0 = (0).to_bytes(8, "big")


@pytest.fixture(scope="module")
def feed(root: Path) -> Feed:
    return load_feed(root / "tests" / "cases" / "dgraph" / "feed" / "golden.yaml")


@pytest.fixture(scope="module")
def topic(feed: Feed) -> Feed:
    return replace(feed, landing="kafka://broker:9092/dgraph-cdc")


def record(offset: int, key: bytes | None, value: bytes | None, window: str = "w") -> BronzeRecord:
    """A record of one partition."""
    place = (window, "dgraph-cdc/0", "topic-id", offset + 1, offset)
    return BronzeRecord(*place, None, value, None, LANDED_AT, key)


def name(value: str, commit: int = 5) -> bytes:
    return event_of("name", f'"{value}"', "string", commit=commit)


def event_of(attr: str, value: str, kind: str, *, op: str = "set", commit: int = 5) -> bytes:
    """An event with a value as JSON has it."""
    event = f'"operation":"{op}","uid":3,"attr":"{attr}","value":{value},"value_type":"{kind}"'
    return f'{{"meta":{{"commit_ts":{commit}}},"type":"mutation","event":{{{event}}}}}'.encode()


def one_of(topic: Feed, key: bytes | None, value: bytes | None) -> Event:
    ((_, event),) = decoded(topic, [record(4, key, value)])
    return event


@pytest.mark.parametrize(
    ("key", "namespace"),
    [
        *((number.to_bytes(8, "big"), str(number)) for number in (0, 1, 233, 0xC3A9, 2**64 - 1)),
        *((b"12", "12"), (b"007", "7"), (b"12345678", "12345678")),
        (b"18446744073709551615", "18446744073709551615"),
    ],
)
def test_a_topics_key_is_the_namespace_in_eight_bytes(
    topic: Feed, key: bytes, namespace: str
) -> None:
    event = one_of(topic, key, name("Ann"))
    assert event.fault is None
    assert event.after["namespace"] == namespace
    assert "no_namespace" not in event.warnings


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        (b"abc", "the key is abc; known"),
        (b"\xff", "the key is FF; known"),
        (b"", "the key is ; known"),
        (b"18446744073709551616", "the key is 18446744073709551616; known"),
    ],
)
def test_another_key_goes_to_quarantine(topic: Feed, key: bytes, shown: str) -> None:
    event = one_of(topic, key, name("Ann"))
    assert event.fault is not None
    assert event.fault.reason == "unknown_namespace"
    assert shown in event.fault.detail
    assert event.after == {}
    assert event.operation == "set"


def test_without_a_key_it_is_namespace_0(topic: Feed) -> None:
    event = one_of(topic, None, name("Ann"))
    assert event.after["namespace"] == "0"
    assert event.warnings == ("no_namespace",)
    assert event.extracted_at == LANDED_AT


def test_a_commit_that_a_window_cuts_keeps_its_order_and_a_record_twice_is_one(topic: Feed) -> None:
    of_topic = [("03", 7, name("z", 4)), ("03", 8, name("a")), ("04", 9, name("b"))]
    of_topic += [("04", 10, name("c")), ("04", 11, name("y", 6))]
    records = [record(at, NAMESPACE_0, value, window) for window, at, value in of_topic]
    made = decoded(topic, records)
    ordered = sorted(made, key=lambda pair: pair[1].log_position or ())
    assert [one.byte_offset for one, _ in ordered] == [7, 8, 9, 10, 11]
    once = {one.byte_offset: (event.log_position, event.identity) for one, event in made}
    for one, event in decoded(topic, records * 2):
        assert (event.log_position, event.identity) == once[one.byte_offset]


def test_what_waits_is_small_and_of_plain_values(topic: Feed) -> None:
    (one,) = decoder(topic, {})(record(4, NAMESPACE_0, name("Ann")))
    assert isinstance(one, Pending)
    assert one.group == ("dgraph-cdc/0", "topic-id", "dgraph-cdc", 0)
    assert one.order == (4, 4)
    assert len(pickle.dumps(one.content)) < 100
    assert json.loads(json.dumps(one.content)) == list(one.content)  # type: ignore[call-overload]


def test_a_statement_that_waited_is_what_it_was() -> None:
    verbs = [*VERBS, ("mutation", "incr"), (None, None), ("schema", "set"), (None, "del")]
    for (kind, op), value_type in product(verbs, [*TYPES, "money", None]):
        for fault, has_key, has_offset in product(
            [None, Fault("missing_field", "it lacks all")], [False, True], [False, True]
        ):
            content = Statement(
                *("7", 5, kind, op, "3", "name", "a", value_type),
                **{"has_key": has_key, "sent_at": 9, "fault": fault},  # type: ignore[arg-type]
            )
            kept = pickle.loads(pickle.dumps(waiting(content, at=4, has_offset=has_offset)))
            assert awaited(kept) == content


@pytest.mark.parametrize(
    ("value", "reason", "detail"),
    [
        (None, "missing_field", "the record has no value"),
        (b"\xff", "invalid_utf8", "the record is not valid UTF-8"),
        (b"17", "malformed_json", "the record is no JSON object"),
        (b"", "malformed_json", "the record is no JSON object: not JSON"),
        (b'{"meta":5}', "missing_field", "lacks meta.commit_ts, type, event.operation"),
        (name("\\ud83d"), "malformed_json", "half of a surrogate pair"),
        (
            name("a").replace(b'"uid":3', b'"uid":3,"uid":4'),
            "malformed_json",
            "a name stands twice in one object: uid",
        ),
        (name("a").replace(b":5}", b":5.5}"), "unknown_position", "meta.commit_ts is 5.5"),
        (name("a").replace(b":5}", b":true}"), "unknown_position", "meta.commit_ts is true"),
        (
            name("a").replace(b":5}", b":9223372036854775808}"),
            "unknown_position",
            "meta.commit_ts is 9223372036854775808",
        ),
        (name("a").replace(b":3,", b":1e3,"), "value_does_not_fit", "uid is 1e3"),
        (name("a").replace(b":3,", b":{},"), "value_does_not_fit", "uid is {}"),
    ],
)
def test_a_record_that_is_no_event_goes_to_quarantine(
    topic: Feed, value: bytes | None, reason: str, detail: str
) -> None:
    event = one_of(topic, NAMESPACE_0, value)
    assert event.fault is not None
    assert event.fault.reason == reason
    assert detail in event.fault.detail
    assert (event.before, event.after, event.scope, event.warnings) == ({}, {}, None, ())


@pytest.mark.parametrize("written", ['"5"', "5"])
def test_a_timestamp_may_be_written_as_a_text(topic: Feed, written: str) -> None:
    event = one_of(topic, NAMESPACE_0, name("a").replace(b":5}", f":{written}}}".encode()))
    assert event.log_position == (0, 1, 5, 1, -1, 1, 4)


def test_a_fault_breaks_a_delivery_as_the_gap_that_it_may_be(feed: Feed) -> None:
    cut = b"\n".join([name("a"), b'{"meta":{', name("a")])
    identities = [event.identity[-1] for _, event in decoded(feed, records_of(feed, {"a": cut}))]
    assert identities == ["1", "1", "1"]
    whole = b"\n".join([name("a"), name("a")])
    identities = [event.identity[-1] for _, event in decoded(feed, records_of(feed, {"a": whole}))]
    assert identities == ["1", "2"]


def test_a_delete_of_an_empty_text_is_another_event_than_a_delete_of_all_values(
    topic: Feed,
) -> None:
    star = event_of("note", '"_STAR_ALL"', "default", op="del")
    empty = event_of("note", '""', "default", op="del")
    (_, first), (_, second) = decoded(
        topic, [record(4, NAMESPACE_0, star), record(5, NAMESPACE_0, empty)]
    )
    assert (first.effect, second.effect) == ("remove", "remove_if")
    assert first.identity != second.identity


@pytest.mark.parametrize(
    ("attr", "written", "kind", "value"),
    [
        ("age", '"7"', "int", "7"),
        ("age", "-0", "int", "0"),
        ("height", "-0", "float", "-0"),
        ("height", '"2.50"', "float", "2.5"),
        ("alive", '"true"', "bool", "true"),
        ("name", "1.50", "string", "1.50"),
        ("name", "5", "string", "5"),
        ("name", "false", "string", "false"),
        ("name", '{"b": [1.50, null]}', "string", '{"b":[1.50,null]}'),
        ("name", '"\\u2028\\u0000"', "string", "\u2028\0"),
        ("big", "1e400", "bigfloat", "1e400"),
        ("boss", '"0xFF"', "uid", "255"),
        ("boss", '"007"', "uid", "7"),
        ("emb", "[]", "float32vector", "[]"),
        ("emb", '"[1, 2]"', "float32vector", "[1,2]"),
    ],
)
def test_a_value_is_canonical_however_it_is_written(
    topic: Feed, attr: str, written: str, kind: str, value: str
) -> None:
    event = one_of(topic, NAMESPACE_0, event_of(attr, written, kind))
    assert event.fault is None
    assert event.after["value"] == value


@pytest.mark.parametrize(
    ("attr", "written", "kind"),
    [
        ("age", '"+7"', "int"),
        ("age", '"7\\n"', "int"),
        ("age", "1e2", "int"),
        ("height", "1e400", "float"),
        ("height", '"Infinity"', "float"),
        ("alive", '"TRUE"', "bool"),
        ("born", '"2006-01-02T00:00:00Z\\n"', "datetime"),
        ("born", '"2006-01-02"', "datetime"),
        ("boss", "-1", "uid"),
        ("boss", '"0x"', "uid"),
        ("emb", '["a"]', "float32vector"),
        ("emb", "[1,null]", "float32vector"),
        ("emb", "[[1]]", "float32vector"),
        ("emb", '"[1 2]"', "float32vector"),
        ("emb", '"[1,]"', "float32vector"),
        ("emb", "[1e39]", "float32vector"),
        ("emb", "[1e-9999]", "float32vector"),
        ("emb", '"["', "float32vector"),
    ],
)
def test_a_value_that_its_type_does_not_hold_goes_to_quarantine(
    topic: Feed, attr: str, written: str, kind: str
) -> None:
    event = one_of(topic, NAMESPACE_0, event_of(attr, written, kind))
    assert event.fault is not None
    assert event.fault.reason == "value_does_not_fit"
    assert event.fault.detail.startswith(f"{attr} is ")
    assert event.fault.detail.endswith(f", which is no {kind}")
