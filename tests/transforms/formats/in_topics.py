"""The records of a scenario as a topic has them: dumps say topic, partition, key and value; other lines say none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from tests.transforms.formats.in_process import Scenario, bronze
from transforms.families import kafka_records
from transforms.feed.feed import Feed
from transforms.record import BronzeRecord

TOPIC = "lines"
"""Where the records lie that name no topic."""


@dataclass(frozen=True)
class InTopic:
    """One record, and where it goes.

    ``is_bare``: nothing tells its place or its key. ``is_damaged``: what was cut out of the object is no whole value,
    or more than that.
    """

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    is_bare: bool
    is_damaged: bool
    headers: tuple[tuple[str, bytes], ...] = ()


def in_topics(feed: Feed, scenario: Scenario) -> list[InTopic]:
    """The scenario's records, in the order of their lines: so they are produced."""
    found = []
    for row in bronze(feed, {"": scenario}):
        line = BronzeRecord(**row)  # type: ignore[arg-type]
        said = kafka_records.message_of_dump(line)
        is_bare = said.offset is None and said.key_bytes is None
        value = line.payload
        if not is_bare:
            # Avro is in base64 in a dump, and as it is in its topic.
            value = said.as_sent[0] or (None if said.text is None else said.text.encode())
        is_damaged = line.defect is not None or line.header is not None
        topic, partition = said.topic or TOPIC, said.partition or 0
        headers = tuple((name, one.encode()) for name, one in said.headers if isinstance(one, str))
        key = said.key_bytes
        found.append(InTopic(topic, partition, key, value, is_bare, is_damaged, headers))
    return found


def as_bronze(
    records: Mapping[str, Iterable[InTopic]],
    landed_at: Mapping[str, datetime],
    generations: Mapping[str, str],
) -> Iterator[dict[str, object]]:
    """The records of each window as bronze has them where they were produced window by window, into empty topics.

    ``landed_at``: the timestamp of each window's records. ``generations``: the identity of each topic.
    """
    offsets: Counter[str] = Counter()
    for window, of_window in records.items():
        for one in of_window:
            name = f"{one.topic}/{one.partition}"
            yield {
                **{"window": window, "object": name, "generation": generations[one.topic]},
                **{"line": offsets[name] + 1, "byte_offset": offsets[name], "header": None},
                **{"payload": one.value, "defect": None, "landed_at": landed_at[window]},
                **{"key": one.key, "headers": one.headers or None},
            }
            offsets[name] += 1
