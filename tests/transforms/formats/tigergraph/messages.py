"""Messages of TigerGraph's as its document shows them, and what the decoder makes of them."""

from __future__ import annotations

import json

from transforms.event import Event
from transforms.feed.feed import EdgeType, Feed, VertexType
from transforms.formats.tigergraph.decode import decoder
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


def overwritten(**values: object) -> dict[str, object]:
    """A content that overwrites these attributes."""
    return {name: {"op": "Overwrite", "value": value} for name, value in values.items()}
