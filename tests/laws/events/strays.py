"""Records of a log that are no sound change of a row: damaged and quarantined ones, notes, truncates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from tests.laws.events.meanings import Meaning, Record, Row
from tests.laws.oracle.event import Event
from tests.laws.rendering.spelling import printed


@dataclass(frozen=True, slots=True)
class Altered:
    """An event that stands for another one; ``reason``: why it cannot be taken, or None."""

    event: Event
    reason: str | None = None


DAMAGED = '{"op": nothing, "opType": nothing}'
MARKS = {"begin": "BEGIN", "commit": "END"}


def of_event(format_name: str, event: Event, rng: Random) -> Iterator[Record | Altered]:
    """What lands beside a delivery of an event: mostly nothing."""
    chance = rng.random()
    if chance < 0.04:
        yield _damaged(format_name)
    elif chance < 0.16:
        yield from _quarantined(event, rng)
    elif chance < 0.24 and format_name == "debezium" and event.source != "snapshot":
        truncate = replace(event, operation="truncate", before={}, after={}, effect=None, scope={})
        yield from [Altered(truncate)] * rng.randint(1, 2)
    elif chance < 0.32 and format_name in ("arcion_kafka", "debezium"):
        yield from [_tombstone(rng.randrange(1000), rng)] * rng.randint(1, 2)


def _damaged(format_name: str) -> Record:
    if format_name == "arcion_s3_csv":
        return Record("1,2,3", (Meaning("item", reason="wrong_column_count"),))
    # Of a file of messages the path names no table.
    table = "item" if format_name == "arcion_s3_json" else None
    return Record(DAMAGED, (Meaning(table, reason="damaged_record"),))


def _quarantined(event: Event, rng: Random) -> Iterator[Altered]:
    """The event with one part that must be quarantined: its operation, a value, or its key."""
    kind = rng.choice(["operation", "value", "key"])
    if kind == "operation" and event.source != "snapshot":
        yield Altered(replace(event, operation="guess"), "unknown_operation")
    elif kind == "value" and event.after:
        too_large = {**event.after, "c6": str(2**63)}
        yield Altered(replace(event, after=too_large), "value_does_not_fit")
    elif kind == "key":
        before, after = (
            {**image, "id": None} if "id" in image else image
            for image in (event.before, event.after)
        )
        yield Altered(replace(event, before=before, after=after), "missing_key")


def _tombstone(offset: int, rng: Random) -> Record:
    """A message without a value, which Kafka's own compaction asks for."""
    place = {"topic": "any", "partition": 3, "offset": offset}
    text = printed({**place, "key": {"id": offset}, "value": None}, rng)
    row = Row(None, "tombstone", "note")
    return Record(text, (Meaning(None, ("tombstone", offset), (0, 1), 2, [row]),))


def mark(kind: str, transaction: str, size: int, rng: Random) -> Record:
    """A message that a transaction began, or ended: then it says of how many events it consists."""
    ended = {"event_count": size, "data_collections": [{"event_count": size}]}
    begun = {"event_count": None, "data_collections": None}
    document: dict[str, object] = {
        "status": MARKS[kind],
        "id": transaction,
        "ts_ms": rng.getrandbits(40),
    }
    document |= ended if kind == "commit" else begun
    meaning = Meaning(None, (kind, transaction), (0, 1), 2, [Row(None, kind, kind)])
    return Record(printed(document, rng), (meaning,))
