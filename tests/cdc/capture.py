"""A database whose clients change rows while a connector reads it into topics, whichever database it is."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from confluent_kafka import Consumer, TopicPartition

from tests.services.debezium import Connector, wait_until
from tests.services.kafka import Broker


@dataclass
class Capture(ABC):
    """The database, and the connector that reads it.

    ``seen``, ``read``: what has been read of each topic, and up to where.
    """

    schema: ClassVar[str]
    item: ClassVar[str]
    """The topic of the table that clients change."""
    insert: ClassVar[str]
    """How a row is inserted that may be there: with its ``{key}`` and ``{number}``."""

    broker: Broker
    folder: Path
    rng: Random = field(default_factory=lambda: Random(1), kw_only=True)
    ends: int = field(default=0, kw_only=True)
    seen: dict[str, list[dict[str, Any]]] = field(default_factory=dict, kw_only=True)
    read: dict[str, int] = field(default_factory=dict, kw_only=True)

    @abstractmethod
    def run(self, statements: str) -> str:
        """What the database answers."""

    def written(self, topic: str | None = None) -> list[dict[str, Any]]:
        """The payloads of a topic, from its beginning; of tombstones nothing."""
        topic = topic or self.item
        found = self.seen.setdefault(topic, [])
        if topic not in self.broker.admin().list_topics(timeout=10).topics:
            return found
        consumer = Consumer({"bootstrap.servers": self.broker.address, "group.id": self.schema})
        read = self.read.get(topic, 0)
        _, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)
        consumer.assign([TopicPartition(topic, 0, read)])
        while read < end:
            for one in consumer.consume(end - read, timeout=0.5):
                value, offset = one.value(), one.offset()
                assert offset is not None
                read = offset + 1
                if isinstance(value, bytes):
                    found.append(json.loads(value)["payload"])
        consumer.close()
        self.read[topic] = read
        return found

    def change(self, count: int, *, deletes: bool = True) -> None:
        """Clients insert, update and delete rows, each in a transaction of its own."""
        table = f"{self.schema}.item"
        statements = []
        for _ in range(count):
            key, number = self.rng.randint(1, 400), self.rng.randint(0, 999)
            kinds = [
                *[f"UPDATE {table} SET n = {number} WHERE id = {key};"] * 2,
                self.insert.format(key=key, number=number),
                *([f"DELETE FROM {table} WHERE id = {key};"] if deletes else []),
            ]
            statements.append(self.rng.choice(kinds))
        self.run("\n".join(statements))

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Clients change rows all the while."""
        is_over = False

        def work() -> None:
            while not is_over:
                self.change(10)
                time.sleep(0.05)

        with ThreadPoolExecutor(1) as pool:
            doing = pool.submit(work)
            try:
                yield
            finally:
                is_over = True
            doing.result()

    def asks(self, kind: str) -> None:
        """Ask for a snapshot by a row in the table of signals."""
        told = json.dumps({"data-collections": [f"{self.schema}.item"], "type": kind})
        self.run(
            f"INSERT INTO {self.schema}.signals"
            f" VALUES ('{kind} {self.ends}', 'execute-snapshot', '{told}');"
        )

    def wait_for_end(self, connector: Connector) -> None:
        """A last row, and its event in the topic: all before it has been sent."""
        self.ends += 1
        mark = f"end {self.ends}"
        self.run(f"INSERT INTO {self.schema}.item(id, name) VALUES ({1000 + self.ends}, '{mark}');")
        wait_until(
            lambda: any((one["after"] or {}).get("name") == mark for one in self.written()),
            connector,
        )

    def forget(self) -> None:
        """Lose the place up to which the connector has read: it begins with a snapshot."""
        (self.folder / "offsets").unlink()

    def rows_of_snapshots(self, *flags: str) -> int:
        """How many rows of snapshots have these flags."""
        return sum(str(one["source"]["snapshot"]) in flags for one in self.written())

    def is_quiet(self, questions: int = 8) -> Callable[[], bool]:
        """Whether rows of an incremental snapshot have come, and none for a few questions."""
        seen: list[int] = []

        def ask() -> bool:
            seen.append(self.rows_of_snapshots("incremental"))
            return seen[-1] > 0 and len(seen) > questions and len({*seen[-questions:]}) == 1

        return ask
