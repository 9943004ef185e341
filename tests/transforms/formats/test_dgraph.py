"""What Dgraph's events and exports say, where the golden cases have no room for it, and where events stand."""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from random import Random

import pytest

from orchestration.feeds.load import load_feed
from tests.support.decoded import LANDED_AT, decoded, records_of
from transforms.event import Event
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.formats.dgraph import exports
from transforms.formats.dgraph.commit_positions import (
    VERBS,
    CommitPosition,
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
def test_a_line_without_an_end_is_refused_at_once(line: str) -> None:
    """What tries all ways in which such a line may be divided would not end."""
    assert exports.triple_of_line(line) is None


SEED = os.environ.get("WEIR_LAW_SEED", "1")
OBJECTS = 4_000


@dataclass(frozen=True)
class Said:
    """An event of an object, at its offset in the topic."""

    at: int
    namespace: str
    commit_ts: int | None
    kind: str
    op: str
    uid: str | None
    attr: str | None
    value: str | None

    @property
    def commit(self) -> tuple[str, int | None]:
        return self.namespace, self.commit_ts

    @property
    def words(self) -> tuple[str | None, ...]:
        return self.op, self.value

    def waiting(self) -> Waiting:
        kind = None if self.value is None else "string"
        said = Statement(
            *(self.namespace, self.commit_ts, self.kind, self.op),
            *(self.uid, self.attr, self.value, kind),
        )
        return waiting(said, at=self.at, has_offset=True)


def expected(said: list[Said]) -> list[CommitPosition]:
    """The rule, for each event on its own: whatever it needs is looked for in the whole object."""
    everywhere = range(len(said))
    begins = [n == 0 or said[n].commit != said[n - 1].commit for n in everywhere]
    run = [sum(begins[: n + 1]) for n in everywhere]

    def has_come_before(n: int, run_of_n: list[int]) -> bool:
        slot_before = [m for m in run_of_n if run[m] < run[n]]
        return any(said[m].words == said[n].words for m in slot_before)

    found = []
    for n in everywhere:
        one = said[n]
        slot = [
            m
            for m in everywhere
            if said[m].commit == one.commit and (said[m].uid, said[m].attr) == (one.uid, one.attr)
        ]
        runs = sorted({run[m] for m in slot})
        # Behind a gap a new delivery begins if any of the events up to the next gap was there before.
        starts = [
            at
            for at in runs
            if at == runs[0] or any(has_come_before(m, slot) for m in slot if run[m] == at)
        ]
        mine = max(at for at in starts if at <= run[n])
        next_one = min([at for at in starts if at > mine], default=len(said) + 1)
        delivery = [m for m in slot if mine <= run[m] < next_one]
        so_far = [m for m in delivery if m <= n]
        was_begun_here = run[delivery[0]] > 1
        goes_on = run[delivery[-1]] < run[-1]
        kind = 0 if was_begun_here else 2 if goes_on else 1
        newer = [
            m
            for m in range(n)
            if (one.op == "all" or said[m].namespace == one.namespace)
            and (said[m].commit_ts or 0) > (one.commit_ts or 0)
        ]
        found.append(
            CommitPosition(
                (kind, -len(delivery), len(so_far), one.at),
                copy=sum(said[m].words == one.words for m in so_far),
                sets=sum(said[m].op == "set" for m in delivery),
                is_behind=bool(one.kind == "drop" and one.commit_ts is not None and newer),
            )
        )
    return found


def drawn(rng: Random) -> list[Said]:
    """An object: pieces of a few commits, whole, cut, from their middle, again, between each other."""
    commits = [
        [event(rng, commit_ts) for _ in range(rng.randint(1, 6))]
        for commit_ts in rng.sample([4, 5, 6, 7, None], rng.randint(1, 4))
    ]
    pieces = []
    for _ in range(rng.randint(0, 8)):
        commit = rng.choice(commits)
        start, end = sorted(rng.choices(range(len(commit) + 1), k=2))
        pieces.append(rng.choice([commit, commit[start:], commit[:end], commit[start:end]]))
    if rng.random() < 0.3:
        # Groups that send at once.
        pieces = [[one] for piece in pieces for one in piece]
        rng.shuffle(pieces)
    drawn_events = [one for piece in pieces for one in piece]
    return [Said(at, *one) for at, one in enumerate(drawn_events, start=7)]


def event(
    rng: Random, commit_ts: int | None
) -> tuple[str, int | None, str, str, str | None, str | None, str | None]:
    namespace = rng.choice(["0", "0", "0", "1"])
    if rng.random() < 0.1:
        op = rng.choice(["all", "data"])
        return (namespace, commit_ts, "drop", op, None, None, None)
    op, uid, value = rng.choice(["set", "set", "del"]), rng.choice("33334"), rng.choice("ab")
    return (namespace, commit_ts, "mutation", op, uid, "name", value)


def test_positions_are_those_of_the_rule_whatever_an_object_holds() -> None:
    for number in range(OBJECTS):
        said = drawn(Random(f"{SEED} {number}"))
        actual = list(commit_positions([one.waiting() for one in said]))
        assert actual == expected(said), f"object {number} of seed {SEED}"


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_hundred_thousand_events_of_one_value_in_one_commit_take_their_positions(
    is_cut: bool,
) -> None:
    """What looks at an event's neighbours again for each event would not end."""
    size = 100_000
    events = [
        Said(at, "0", 5, "mutation", "set", "3", "name", str(at % 1_000)).waiting()
        for at in range(size)
    ]
    if is_cut:
        other = Said(0, "0", 4, "mutation", "set", "9", "name", "z").waiting()
        events = [one for mine in events for one in (mine, other)]
    last = list(commit_positions(events))[-2 if is_cut else -1]
    assert last.within == ((0, -1, 1, size - 1) if is_cut else (1, -size, size, size - 1))
