"""Whatever a message says: it becomes events of plain texts, and never an error of Weir's own."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest

from orchestration.feeds.load import load_feed
from tests.transforms.formats.test_golden import CASES
from transforms.event import Event
from transforms.feed.feed import TableNames
from transforms.formats.tigergraph.decode import decoder
from transforms.record import BronzeRecord

FEED = load_feed(CASES / "tigergraph" / "feed" / "golden.yaml")
FIELDS: dict[str, list[object]] = {
    "mid": ["1|1700000000001|5|0", "7|1|86|1|0", "1|2", 5],
    "operator": ["insert", "insert-only", "delete", "deleted", "delete-all"],
    "type": ["vertex", "edge", "vertex-type"],
    "graph": ["Social", "GLOBAL", ""],
    "typename": [
        "Person",
        "Company",
        "Thing",
        "Likes",
        "Works",
        "Employs",
        "Knows",
        "Pays",
        "Has",
        "New",
    ],
    "uid": ["ann", "DE,7", "UNKNOWN", ""],
    "discriminator": ["mon:1", "a:b:1", ""],
    "timestamp": [1700000000001, 2**70, "1700000000001"],
    "hasreverseedge": [True, False, "true"],
}
ENDS: dict[str, list[object]] = {
    "type": ["Person", "Company", "Thing", "New"],
    "uid": FIELDS["uid"],
}
ATTRIBUTES = (
    *(
        "visits",
        "karma",
        "score",
        "ratio",
        "active",
        "nick",
        "born",
        "log",
        "days",
        "tags",
        "points",
    ),
    *(
        "names",
        "badge",
        "size",
        "marks",
        "parts",
        "rooms",
        "role",
        "day",
        "number",
        "amount",
        "uid",
    ),
)
OPERATIONS = ("Overwrite", "Add", "Max", "And", "IgnoreIfExisted", "Minus", "ReplaceOrAdd", "x")
VALUES: tuple[object, ...] = (
    *(None, True, 0, 1, -1, 2**63, 2**64, 10**30, 1.5, 1e300, -0.0, "", "1", "x", "é\n\"'", "a,b"),
    *(1222819200, 1222819200000000, "2001-01-01 08:00:00", "of: x, w: 1", "w: 1, h: 2"),
    *([], {}, [1], ["x"], {"a": 1}, {"keylist": ["a"], "valuelist": [1]}, {"keylist": [None]}),
    *({"keylist": [[1]], "valuelist": [{"of": 1, "w": 2}]}, {"of": "x", "w": 1}, [[{"a": []}]]),
)


def drawn(rng: Random, usual: dict[str, list[object]]) -> dict[str, object]:
    found = {}
    for name, values in usual.items():
        if (chance := rng.random()) < 0.98:
            found[name] = rng.choice(values if chance < 0.96 else VALUES)
    return found


def message(rng: Random) -> dict[str, object]:
    found = drawn(rng, FIELDS)
    for end in ("from", "to"):
        if rng.random() < 0.98:
            found[end] = drawn(rng, ENDS) if rng.random() < 0.97 else rng.choice(VALUES)
    content: dict[str, object] = {}
    for name in rng.sample(ATTRIBUTES, rng.randint(0, 4)):
        held: object = {"op": rng.choice(OPERATIONS), "value": rng.choice(VALUES)}
        content[name] = held if rng.random() < 0.95 else rng.choice(VALUES)
    found["content"] = content if rng.random() < 0.95 else rng.choice(VALUES)
    return found


@pytest.mark.parametrize("naming", ["plain", "schema"])
def test_every_message_becomes_events_of_texts(naming: TableNames) -> None:
    rng, decode = Random(naming), decoder(replace(FEED, table_names=naming), {})
    refused, sound = 0, 0
    for _ in range(2_000):
        payload = json.dumps(message(rng)).encode()
        found = decode(BronzeRecord("2026-11-20T04", "a.jsonl", "g", 1, 0, None, payload, None, 0))
        assert found
        for one in found:
            check(one)
        assert found[0].derived is None
        if found[0].fault is None:
            sound += 1
        else:
            refused += 1
            assert len(found) == 1
    # Of both there is enough for this to mean something.
    assert min(refused, sound) > 150


def check(one: Event) -> None:
    for image in (one.before, one.after, one.attribute_ops, one.scope or {}):
        for name, text in image.items():
            assert type(name) is str
            assert text is None or type(text) is str
            (text or "").encode()
    assert all(text is None or type(text) is str for text in one.identity)
    if one.fault is None:
        assert one.log_position is not None
        assert all(type(part) is int for part in one.log_position)
        assert one.dedup_prefix == len(one.log_position) == 5
    else:
        assert (one.effect, one.before, one.after) == ("note", {}, {})
        assert type(one.fault.reason) is type(one.fault.detail) is str
