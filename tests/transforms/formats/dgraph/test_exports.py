"""What exports of Dgraph say is what its stream says of the same values, and what they cannot contain is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestration.feeds.load import load_feed
from tests.support.decoded import decoded, records_of
from transforms.event import Event
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.formats.dgraph import exports

FOLDER = "export/dgraph.r100.u1120.0300/"


@pytest.fixture(scope="module")
def feed(root: Path) -> Feed:
    return load_feed(root / "tests" / "cases" / "dgraph" / "feed" / "golden.yaml")


def read(feed: Feed, name: str, data: str) -> list[Event]:
    return [event for _, event in decoded(feed, records_of(feed, {name: data.encode()}))]


def one_of(feed: Feed, name: str, data: str) -> Event:
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
    stream = one_of(feed, "sink.log", event)
    of_rdf = one_of(feed, f"{FOLDER}g01.rdf", f"<0x3> <{predicate}> {in_rdf} <0x0> .")
    of_json = one_of(
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
    ("document", "reason", "detail"),
    [
        ('{"uid":"0x3","namespace":"0x0"}', "malformed_json", "not exactly one value"),
        (
            '{"uid":"0x3","namespace":"0x0","friend":[{"uid":"0x1"},{"uid":"0x2"}]}',
            "malformed_json",
            "not exactly one value",
        ),
        (
            '{"uid":"0x3","namespace":"0x0","friend":[{"uid":"alice"}]}',
            "value_does_not_fit",
            "a node is no number of the form 0x1",
        ),
        ('{"uid":"3","namespace":"0x0","age":1}', "value_does_not_fit", "a node is no number"),
        (
            '{"uid":"0x3","namespace":"home","age":1}',
            "unknown_namespace",
            "the namespace is home, which is no number of 64 bits",
        ),
        ('{"uid":"0x3","namespace":"0x0","age":null}', "missing_field", "lacks event.value"),
    ],
)
def test_a_document_that_is_no_triple_goes_to_quarantine(
    feed: Feed, document: str, reason: str, detail: str
) -> None:
    event = one_of(feed, f"{FOLDER}g01.json", document)
    assert event.fault is not None
    assert event.fault.reason == reason
    assert detail in event.fault.detail
    assert event.operation == "read"
    assert event.log_position == (0, 1, 100, 3)
    assert event.after == {}


@pytest.mark.parametrize(
    ("line", "reason", "detail"),
    [
        ('<0x3> <name> "\\ud83d" .', "malformed_rdf", "no triple"),
        ('<0x3> <name> "a" <0x10000000000000000> .', "unknown_namespace", "0x10000000000000000"),
        ('<0x3> <name> "a"', "malformed_rdf", "no triple"),
        ('<0x3> <name> "a" <0x0> (a=1 .', "malformed_rdf", "no triple"),
        ('<0x3> <> "a" <0x0> .', "missing_field", "lacks event.attr"),
        ("<0x3> <friend> <alice> <0x0> .", "value_does_not_fit", "a node is no number"),
    ],
)
def test_a_line_that_is_no_triple_goes_to_quarantine(
    feed: Feed, line: str, reason: str, detail: str
) -> None:
    event = one_of(feed, f"{FOLDER}g01.rdf", line)
    assert event.fault is not None
    assert event.fault.reason == reason
    assert detail in event.fault.detail


def test_a_line_that_is_no_utf8_goes_to_quarantine(feed: Feed) -> None:
    data = b'<0x3> <name> "\xff" .\n<0x3> <name> "a" .\n'
    first, second = decoded(feed, records_of(feed, {f"{FOLDER}g01.rdf": data}))
    assert first[1].fault is not None
    assert first[1].fault.reason == "invalid_utf8"
    assert second[1].fault is None


def test_what_dgraph_keeps_for_itself_is_noted_whatever_its_language_and_type(feed: Feed) -> None:
    lines = '<0x3> <dgraph.type> "Person"@en <0x0> .\n<0x3> <dgraph.xid> "1"^^<xs:string> .\n'
    for event in read(feed, f"{FOLDER}g01.rdf", lines):
        assert event.fault is None
        assert event.effect == "note"
        assert event.after == {}
        assert event.warnings == ()


def test_an_export_is_no_neighbour_of_events(feed: Feed) -> None:
    event = (
        '{"meta":{"commit_ts":5},"type":"mutation","event":{"operation":"set","uid":3,'
        '"attr":"name","value":"a","value_type":"string"}}'
    )
    document = '{"uid":"0x3","namespace":"0x0","name":"a"}'
    alone = one_of(feed, f"{FOLDER}a.json", event)
    both = read(feed, f"{FOLDER}a.json", f"{document}\n{event}\n{document}")
    assert sorted(one.log_position or () for one in both) == [
        alone.log_position,
        (0, 1, 100, 3),
        (0, 1, 100, 3),
    ]


def test_the_lines_of_an_export_are_found_again() -> None:
    data = b'# a comment\n\n<0x1> <a> "1" .\r\n  \n  # more\n<0x2> <a> "2" .'
    records = list(FORMATS["dgraph"].split(data, Feed("f", "dgraph", "/"), "g01.rdf.gz"))
    assert [(one.line, one.payload) for one in records] == [
        (3, b'<0x1> <a> "1" .'),
        (6, b'<0x2> <a> "2" .'),
    ]
    for one in records:
        assert data[one.byte_offset :].startswith(one.payload)


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
def test_a_line_without_an_end_is_refused_at_once(line: str) -> None:
    """What tries all ways in which such a line may be divided would not end."""
    assert exports.triple_of_line(line) is None
