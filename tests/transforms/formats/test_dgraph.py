"""What Dgraph's events and exports say, where the golden cases have no room for it, and where events stand."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from orchestration.feeds.load import load_feed
from tests.support.decoded import LANDED_AT, decoded, records_of
from transforms.event import Event
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.formats.dgraph import exports
from transforms.formats.dgraph.commit_positions import (
    VERBS,
    Waiting,
    awaited,
    commit_positions,
    waiting,
)
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


def test_a_fault_breaks_a_delivery_as_the_gap_that_it_may_be(feed: Feed) -> None:
    cut = b"\n".join([name("a"), b'{"meta":{', name("a")])
    identities = [event.identity[-1] for _, event in decoded(feed, records_of(feed, {"a": cut}))]
    assert identities == ["1", "1", "1"]
    whole = b"\n".join([name("a"), name("a")])
    identities = [event.identity[-1] for _, event in decoded(feed, records_of(feed, {"a": whole}))]
    assert identities == ["1", "2"]


FOLDER = "export/dgraph.r100.u1120.0300/"


def read(feed: Feed, name: str, data: str) -> list[Event]:
    return [event for _, event in decoded(feed, records_of(feed, {name: data.encode()}))]


def exported(feed: Feed, name: str, data: str) -> Event:
    (event,) = read(feed, name, data)
    return event


@pytest.mark.parametrize(
    ("predicate", "in_stream", "in_rdf", "in_json", "value"),
    [
        # As Go's encoding/json, its format G and Dgraph's FloatArrayAsString write the same number.
        ("height", "1", '"1"^^<xs:float>', "1", "1"),
        ("height", "1000000", '"1E+06"^^<xs:float>', "1E+06", "1E+06"),
        ("height", "1234567.891", '"1.234567891E+06"^^<xs:float>', "1.234567891E+06", None),
        ("height", "1e+21", '"1E+21"^^<xs:float>', "1E+21", "1E+21"),
        ("height", "0.00001", '"1E-05"^^<xs:float>', "1E-05", "1E-05"),
        ("height", "1e-7", '"1E-07"^^<xs:float>', "1E-07", "1E-07"),
        ("height", "-0", '"-0"^^<xs:float>', "-0", "-0"),
        ("emb", "[1e-7,0.25]", '"[0.0000001,0.25]"^^<xs:[]float32>', '"[0.0000001,0.25]"', None),
        ("emb", "[1.5e+21]", '"[1500000000000000000000]"^^<xs:[]float32>', '"[15e20]"', None),
        ("emb", "[-0, 3]", '"[-0,3]"^^<xs:[]float32>', '"[-0,3]"', "[-0,3]"),
        (
            "emb",
            "[1.17549435e-38]",
            f'"[0.{"0" * 37}117549435]"^^<xs:[]float32>',
            "[1.17549435e-38]",
            None,
        ),
        ("age", "9007199254740993", '"9007199254740993"^^<xs:int>', "9007199254740993", None),
        ("alive", "true", '"true"^^<xs:boolean>', '"true"', "true"),
        ("name", '"\\u003ca\\u003e\\n"', '"\\u003ca\\u003e\\n"^^<xs:string>', '"<a>\\n"', "<a>\n"),
        ("note", '"3"', '"3"', '"3"', "3"),
        (
            "boss",
            "9223372036854775809",
            "<0x8000000000000001>",
            '[{"uid":"0x8000000000000001"}]',
            None,
        ),
    ],
)
def test_a_value_is_one_text_in_the_stream_and_in_both_exports(
    feed: Feed, predicate: str, in_stream: str, in_rdf: str, in_json: str, value: str | None
) -> None:
    kind = feed.predicates[predicate].type
    event = (
        f'{{"meta":{{"commit_ts":5}},"type":"mutation","event":{{"operation":"set","uid":3,'
        f'"attr":"{predicate}","value":{in_stream},"value_type":"{kind}"}}}}'
    )
    stream = exported(feed, "sink.log", event)
    of_rdf = exported(feed, f"{FOLDER}g01.rdf", f"<0x3> <{predicate}> {in_rdf} <0x0> .")
    of_json = exported(
        feed, f"{FOLDER}g01.json", f'[{{"uid":"0x3","namespace":"0x0","{predicate}":{in_json}}}]'
    )
    for one in (stream, of_rdf, of_json):
        assert one.fault is None
        assert one.after == stream.after
    assert stream.after["value"] == (value or stream.after["value"])
    assert stream.after["value_type"] == kind
    assert of_rdf.identity == of_json.identity
    assert of_rdf.log_position == of_json.log_position == (0, 1, 100, 3)


@pytest.mark.parametrize(
    "line",
    [
        '<0x3> <name> "a" <0x0>' + " " * 200_000,
        '<0x3> <name> "a"' + " " * 200_000,
        '<0x3> <name> "' + "a" * 200_000,
        '<0x3> <name> "a" (' + ") " * 100_000,
        '<0x3> <name> "a" (' + ")" * 200_000,
    ],
)
def test_a_line_without_an_end_is_quarantined_at_once(line: str) -> None:
    """What tries all ways in which such a line may be divided would not end."""
    assert exports.triple_of_line(line) is None


def test_a_delivery_that_may_be_the_rest_of_one_stands_behind_the_whole(feed: Feed) -> None:
    rest = [name("b"), name("c"), name("y", 6)]
    drop = {"1.log": b"\n".join(rest), "2.log": b"\n".join([name("a"), name("b"), name("c")])}
    first: dict[object, tuple[int | None, ...]] = {}
    for _, event in decoded(feed, records_of(feed, drop)):
        assert event.log_position is not None
        value = event.after["value"]
        first[value] = min(first.get(value, event.log_position), event.log_position)
    assert sorted(first, key=lambda value: first[value]) == ["a", "b", "c", "y"]


def test_only_sets_make_a_value_ambiguous(feed: Feed) -> None:
    def warned(*lines: bytes) -> set[str]:
        made = decoded(feed, records_of(feed, {"a.log": b"\n".join(lines)}))
        return {word for _, event in made for word in event.warnings}

    deleted = event_of("name", '"a"', "string", op="del")
    assert "ambiguous_language" not in warned(deleted, name("b"))
    assert "ambiguous_language" in warned(name("a"), name("b"))


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_hundred_thousand_events_of_one_value_in_one_commit_take_their_positions(
    is_cut: bool,
) -> None:
    """What looks at an event's neighbours again for each event would not end."""

    def kept(at: int, commit_ts: int, uid: str, value: str) -> Waiting:
        said = Statement("0", commit_ts, "mutation", "set", uid, "name", value, "string")
        return waiting(said, at=at, has_offset=True)

    size = 100_000
    events = [kept(at, 5, "3", str(at % 1_000)) for at in range(size)]
    if is_cut:
        other = kept(0, 4, "9", "z")
        events = [one for mine in events for one in (mine, other)]
    last = list(commit_positions(events))[-2 if is_cut else -1]
    assert last.within == ((0, -1, 1, size - 1) if is_cut else (1, -size, size, size - 1))
