"""Histories of one tablet as leader and follower delivered them in xCluster's form, in windows of their own."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from tests.laws.drawn.xcluster_histories import (
    APPLY,
    BEGAN_AT,
    DELETE,
    EFFECTS,
    NAMES,
    History,
    Said,
)
from tests.laws.events.meanings import Drawn, Landed, Meaning, Place, Record, Row
from tests.laws.events.yugabyte import BYTES, LONG, NO_CHECKPOINT, TEXTS, noted
from tests.laws.oracle.event import Image, LogPosition
from tests.laws.rendering.spelling import printed
from transforms.feed.feed import Feed, RangeDeletePolicy, Table

TYPES = {"id": "int", "a": "string", "b": "int", "n": "bigint", "f": "double", "p": "binary"}
ITEMS = Table("items", ("id",), TYPES, ())
VALUES: Mapping[str, Sequence[object]] = {
    **{"a": [*TEXTS, "a\x00b"], "b": [0, 7, -(2**31), None], "n": LONG, "p": BYTES},
    "f": [0.1, -0.25, 9007199.5, None],
}
WINDOWS, BLOCK = 3, 4
COMPACTION_WATERMARK: LogPosition = (0, 1, BEGAN_AT + 2_000, 0)


def drawn(numbers: Sequence[int], range_deletes: RangeDeletePolicy) -> Drawn:
    """The histories with these numbers, and what the responses of their tablets have to become."""
    objects: dict[Place, Landed] = {}
    for number in numbers:
        rng = Random(f"xcluster {number}")
        history = History(number, turns=(2, 8), values=VALUES)
        windows = [f"b{number // BLOCK} w{at}" for at in range(WINDOWS)]
        for window, tablet, records in history.delivered(windows):
            place = (window, f"items/{number // BLOCK}/{rng.randint(1, 2)}.json")
            objects.setdefault(place, Landed()).records.append(_response(tablet, records, rng))
            if rng.random() < 0.02:
                damaged = Record(
                    '{"records": nothing}', (Meaning("items", reason="damaged_record"),)
                )
                objects[place].records.append(damaged)
    for name, landed in objects.items():
        Random(str(name)).shuffle(landed.records)
    feed = Feed(
        *("laws", "yugabyte_xcluster", "/nowhere"),
        tables={"items": ITEMS},
        range_deletes=range_deletes,
    )
    return Drawn(feed, objects)


def _response(tablet: str, records: Sequence[Said], rng: Random) -> Record:
    """A response as a client wrote it, who added the tablet."""
    protojson = rng.random() < 0.5
    documents: list[Any] = [one.document(protojson=protojson) for one in records]
    meanings = [noted(tablet, dict.fromkeys(NO_CHECKPOINT), (0, 1))]
    meanings += [_told(tablet, one) for one in records]
    if rng.random() < 0.08:
        quarantined, reason = _quarantined(rng)
        documents.append(quarantined)
        meanings.append(Meaning("items", reason=reason))
    return Record(printed({"tablet_id": tablet, "records": documents}, rng), meanings)


def _told(tablet: str, one: Said) -> Meaning:
    operation, effect = NAMES[one.op].lower(), EFFECTS[one.op]
    if one.op == APPLY:
        row = Row("items", operation, effect)
        return Meaning("items", (tablet, operation, one.transaction), (0, 1, *one.time), 4, [row])
    image = _image(one.row)
    key = (image["id"],)
    if one.op == DELETE:
        row = Row("items", operation, effect, key, before=image)
    else:
        row = Row("items", operation, effect, key, after=image)
    return Meaning("items", (tablet, *one.time), (0, 1, *one.time), 4, [row])


def _quarantined(rng: Random) -> tuple[dict[str, object], str]:
    """A record that cannot be taken."""
    sound = Said(1, (1, rng.randrange(4096)), None, {"id": 1}).document(protojson=False)
    kind = rng.choice(["operation", "time", "value"])
    if kind == "operation":
        return sound | {"operation": 99}, "unknown_operation"
    if kind == "time":
        return sound | {"time": None}, "missing_field"
    value = Said(1, (1, 0), None, {"id": 2**31}).document(protojson=False)
    return value, "value_does_not_fit"


def _image(row: Mapping[str, object]) -> Image:
    return {
        name: None
        if value is None
        else b64encode(value).decode()
        if isinstance(value, bytes)
        else str(value)
        for name, value in row.items()
    }
