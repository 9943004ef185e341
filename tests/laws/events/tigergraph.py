"""Graph stores that write their messages as TigerGraph would, in any order, and some of them again."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from tests.laws.events.meanings import HOLD, Drawn, Landed, Meaning, Place, Record, Row
from tests.laws.oracle.event import Image, LogPosition
from tests.laws.rendering.spelling import printed
from tests.support.tigergraph_store import FEED, Store
from transforms.feed.feed import RangeDeletePolicy

WINDOWS, BLOCK = 3, 8
PERSON = "vertex_Person"
STORED = {
    "Likes": ("edge_Likes",),
    "Knows": ("edge_Knows", "edge_Knows__mirror"),
    "Leads": ("edge_Leads", "edge_Leads__mirror"),
}
"""The tables of each type of edges, in the feed's order."""
COMPACTION_WATERMARK: LogPosition = (0, 1, 20, 0, 5)

Message = Mapping[str, Any]


def drawn(numbers: Sequence[int], range_deletes: RangeDeletePolicy) -> Drawn:
    """The stores with these numbers, and what their messages have to become."""
    objects: dict[Place, Landed] = {}
    for number in numbers:
        rng = Random(f"tigergraph {number}")
        store = Store(rng, partitions=number % 3 + 1)
        for _ in range(1 + number % 7):
            store.act()
        for message in store.sent:
            meaning = told_of(message, holds=range_deletes == "hold")
            window = rng.randrange(WINDOWS)
            for _ in range(1 if rng.random() < 0.75 else rng.randint(2, 3)):
                place = (f"b{number // BLOCK} w{window}", f"{number // BLOCK}/{rng.randint(1, 2)}")
                landed = objects.setdefault(place, Landed())
                landed.records.append(Record(printed(message, rng), meaning))
                window = rng.choice([window, rng.randrange(WINDOWS)])
            if rng.random() < 0.05:
                landed.records.append(_quarantined(message, rng))
    for name, landed in objects.items():
        Random(str(name)).shuffle(landed.records)
    return Drawn(replace(FEED, range_deletes=range_deletes), objects)


def told_of(message: Message, *, holds: bool) -> Sequence[Meaning]:
    """A message, and what follows from it; ``holds``: whether what empties a table waits for a decision."""
    _, _, tid, *split, index = map(int, message["mid"].split("|"))
    log_position = (0, 1, tid, *(split or [0]), index)
    rows = [*rows_of(message)]
    if holds and rows[0].scope == {}:
        rows = [row._replace(effect=HOLD) for row in rows]
    return [
        Meaning(row.table, _named(row, message), log_position, len(log_position), [row])
        for row in rows
    ]


def _named(row: Row, message: Message) -> Hashable:
    """Which event a row is: what follows from a message does not depend on the values that it sets."""
    if row.derived is None:
        return json.dumps(message, sort_keys=True)
    scope = None if row.scope is None else tuple(sorted(row.scope.items()))
    sent = json.dumps({**message, "content": None}, sort_keys=True)
    return sent, row.derived, row.table, row.key, scope


def rows_of(message: Message) -> Iterator[Row]:
    """What a message does, itself first."""
    operator, uid = message["operator"], message.get("uid")
    if message["type"] == "edge":
        yield from _rows_of_edge(message, operator)
    elif operator in ("insert", "insert-only"):
        after, operations = _mentioned(message["content"])
        after = {"uid": uid, **after}
        yield Row(PERSON, operator, "update", (uid,), None, None, {}, after, operations)
    elif message["type"] == "vertex":
        yield Row(PERSON, "delete", "remove", (uid,), before={"uid": uid})
        yield from _edges_gone({"type": "Person", "uid": uid})
    else:
        yield Row(PERSON, "delete", "remove", scope={})
        yield from _edges_gone({"type": "Person"})


def _edges_gone(vertices: Image) -> Iterator[Row]:
    """All edges that begin or end there, in both directions in which they are stored."""
    for table in (table for tables in STORED.values() for table in tables):
        for end in ("from", "to"):
            scope = {f"{end}_{name}": value for name, value in vertices.items()}
            yield Row(table, "delete", "remove", derived="vertex_deleted", scope=scope)


def _rows_of_edge(message: Message, operator: str) -> Iterator[Row]:
    name, source = message["typename"], message["from"]["uid"]
    if operator == "delete-all":
        ends = ("from",) if name == "Likes" else ("from", "to")
        derived = None
        for table in STORED[name]:
            for end in ends:
                scope = {f"{end}_type": "Person", f"{end}_uid": source}
                yield Row(table, operator, "remove", derived=derived, scope=scope)
                derived = "delete_all"
        return
    target = message["to"]["uid"]
    # Gold shows an edge from one side: a mirrored one stands there with its ends turned round.
    is_mirrored = name == "Heeds" or (name == "Knows" and source > target)
    table = STORED["Leads" if name == "Heeds" else name][is_mirrored]
    ends = (target, source) if is_mirrored else (source, target)
    key = ("Person", ends[0], "Person", ends[1], "")
    names = ("from_type", "from_uid", "to_type", "to_uid", "discriminator")
    image: Image = dict(zip(names, key, strict=True))
    if operator == "delete":
        yield Row(table, operator, "remove", key, before=image)
        return
    after, operations = _mentioned(message["content"])
    yield Row(table, operator, "update", key, None, None, {}, {**image, **after}, operations)
    made = {"uid": source}
    yield Row(PERSON, operator, "update", (source,), derived="edge_source", after=made)


def _mentioned(content: Mapping[str, Any]) -> tuple[Image, Image]:
    """The attributes of a message as texts, and what is done to those that are not overwritten."""
    values: Image = {name: _text(one["value"]) for name, one in content.items()}
    return values, {name: one["op"] for name, one in content.items() if one["op"] != "Overwrite"}


def _text(value: object) -> str:
    if isinstance(value, list):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return str(value)


def _quarantined(message: Message, rng: Random) -> Record:
    """A message that cannot be taken, made of a sound one."""
    kind = rng.choice(["operator", "uid", "value", "mid", "damaged"])
    if kind == "damaged":
        return Record('{"mid": nothing}', (Meaning(None, reason="damaged_record"),))
    sound = {
        **{"mid": "1|1700000000000|5|0", "timestamp": 1_700_000_000_000, "operator": "insert"},
        **{"type": "vertex", "typename": "Person", "uid": "1", "content": {}},
    }
    changed: dict[str, tuple[dict[str, object], str]] = {
        "operator": ({"operator": "guess"}, "unknown_operation"),
        "uid": ({"uid": "UNKNOWN"}, "unknown_uid"),
        "value": ({"content": {"n": {"op": "Add", "value": 2**63}}}, "value_does_not_fit"),
        "mid": ({"mid": f"x{message['mid']}"}, "unknown_mid"),
    }
    fields, reason = changed[kind]
    return Record(printed({**sound, **fields}, rng), (Meaning(PERSON, reason=reason),))
