"""A real Postgres of which changes are lost: whatever snapshot is taken then, gold is what the database holds."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from assets.executors.choice import IN_PROCESS
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from tests.services.debezium import Connector, running_connector, wait_until
from tests.services.kafka import Broker
from tests.services.postgres import Postgres, postgres
from tests.support.bringing import run
from transforms.feed.feed import Feed

__all__ = ["postgres"]

pytestmark = pytest.mark.services

TABLES = """
CREATE SCHEMA lost;
CREATE TABLE lost.item(id int PRIMARY KEY, name text, n int);
CREATE TABLE lost.signals(id varchar(42) PRIMARY KEY, type varchar(32) NOT NULL, data varchar(2048));
INSERT INTO lost.item SELECT i, 'first', i FROM generate_series(1, 200) i;
"""
TOPIC = "lossy.lost.item"
SETTINGS = {
    "topic.prefix": "lossy",
    "slot.name": "lossy",
    "publication.name": "lossy",
    "publication.autocreate.mode": "filtered",
    "table.include.list": r"lost\.item,lost\.signals",
    "signal.data.collection": "lost.signals",
    "incremental.snapshot.chunk.size": "50",
}


@dataclass
class Capture:
    """The database, the connector that reads it, and the warehouse."""

    broker: Broker
    postgres: Postgres
    folder: Path
    rng: Random = field(default_factory=lambda: Random(1))
    ends: int = 0

    def running(self, **settings: str) -> AbstractContextManager[Connector]:
        return running_connector(self.folder, self.broker, self.postgres, {**SETTINGS, **settings})

    def written(self) -> list[dict[str, Any]]:
        """The payloads of the topic, from its beginning; of tombstones nothing."""
        if TOPIC not in self.broker.admin().list_topics(timeout=10).topics:
            return []
        consumer = Consumer({"bootstrap.servers": self.broker.address, "group.id": "lossy"})
        at = TopicPartition(TOPIC, 0, OFFSET_BEGINNING)
        _, end = consumer.get_watermark_offsets(at, timeout=10)
        consumer.assign([at])
        found: list[dict[str, Any]] = []
        read = 0
        while read < end:
            for one in consumer.consume(1000, timeout=0.5):
                value, offset = one.value(), one.offset()
                assert offset is not None
                read = offset + 1
                if isinstance(value, bytes):
                    found.append(json.loads(value)["payload"])
        consumer.close()
        return found

    def rows_of_snapshots(self, flags: set[str]) -> int:
        return sum(str(one["source"]["snapshot"]) in flags for one in self.written())

    def change(self, count: int, *, deletes: bool = True) -> None:
        """Clients insert, update and delete rows, each in a transaction of its own."""
        statements = []
        for _ in range(count):
            key, number = self.rng.randint(1, 400), self.rng.randint(0, 999)
            kinds = ["update", "update", "insert", *(["delete"] if deletes else [])]
            statements.append(
                {
                    "insert": f"INSERT INTO lost.item(id, name, n) VALUES ({key}, 'new', {number})"
                    " ON CONFLICT DO NOTHING;",
                    "update": f"UPDATE lost.item SET n = {number} WHERE id = {key};",
                    "delete": f"DELETE FROM lost.item WHERE id = {key};",
                }[self.rng.choice(kinds)]
            )
        self.postgres.run("\n".join(statements))

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Clients change rows all the while."""
        is_over = False

        def work() -> None:
            while not is_over:
                self.change(20)

        with ThreadPoolExecutor(1) as pool:
            doing = pool.submit(work)
            try:
                yield
            finally:
                is_over = True
            doing.result()

    def asks(self, kind: str) -> None:
        """Ask for a snapshot by a row in the table of signals."""
        told = json.dumps({"data-collections": ["lost.item"], "type": kind})
        name = f"{kind} {self.ends}"
        self.postgres.run(
            f"INSERT INTO lost.signals VALUES ('{name}', 'execute-snapshot', '{told}');"
        )

    def wait_for_end(self, connector: Connector) -> None:
        """A last row, and its event in the topic: all before it has been sent."""
        self.ends += 1
        mark = f"end {self.ends}"
        self.postgres.run(f"INSERT INTO lost.item(id, name) VALUES ({1000 + self.ends}, '{mark}');")
        wait_until(
            lambda: any((one["after"] or {}).get("name") == mark for one in self.written()),
            connector,
        )

    def has_slot(self) -> bool:
        """Whether the connector reads from a slot: what is written from now on comes."""
        asked = "SELECT active FROM pg_replication_slots WHERE slot_name = 'lossy';"
        return self.postgres.run(asked).strip() == "t"

    def lose_slot(self) -> None:
        self.postgres.run("SELECT pg_drop_replication_slot('lossy');")
        (self.folder / "offsets").unlink()


@pytest.fixture
def capture(broker: Broker, postgres: Postgres, tmp_path: Path) -> Iterator[Capture]:
    postgres.run(TABLES)
    folder = tmp_path / "debezium"
    folder.mkdir()
    yield Capture(broker, postgres, folder)
    postgres.run(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
        " WHERE slot_name = 'lossy';"
        " DROP PUBLICATION IF EXISTS lossy; DROP SCHEMA lost CASCADE;"
    )


def test_gold_is_the_database_after_every_loss(capture: Capture, tmp_path: Path) -> None:
    lake = lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS)
    feed = Feed("lossy", "debezium", f"kafka://{capture.broker.address}/{TOPIC}")

    def assert_healed() -> None:
        run(lake, feed)
        assert in_gold(lake) == in_postgres(capture.postgres)

    with capture.running() as connector:
        wait_until(lambda: capture.rows_of_snapshots({"last"}) == 1, connector)
        capture.change(100)
        capture.wait_for_end(connector)
    assert_healed()
    # The slot is dropped while clients write; the connector begins anew, and they still do.
    capture.change(300)
    capture.lose_slot()
    with capture.running() as connector:
        with capture.changing():
            wait_until(lambda: capture.rows_of_snapshots({"last"}) == 2, connector)
        capture.wait_for_end(connector)
        assert_healed()
        # A blocking snapshot under writes.
        with capture.changing():
            capture.asks("blocking")
            wait_until(lambda: capture.rows_of_snapshots({"last"}) == 3, connector)
        capture.wait_for_end(connector)
        assert_healed()
        # A column with a default, which rows have that are in no event since.
        capture.postgres.run("ALTER TABLE lost.item ADD COLUMN kind text DEFAULT 'plain';")
        capture.change(20)
        capture.wait_for_end(connector)
        assert_healed()
        # The worker is killed in the middle of a transaction, and sends a part of it again.
        capture.postgres.run("UPDATE lost.item SET n = n + 1, kind = 'one transaction';")
        os.killpg(connector.process.pid, signal.SIGKILL)
    with capture.running() as connector:
        capture.wait_for_end(connector)
    assert_healed()
    # Updates are lost, and an incremental snapshot under writes brings them.
    capture.change(200, deletes=False)
    capture.lose_slot()
    with capture.running(**{"snapshot.mode": "no_data"}) as connector:
        wait_until(capture.has_slot, connector)
        capture.wait_for_end(connector)
        with capture.changing():
            capture.asks("incremental")
            count = len(in_postgres(capture.postgres))
            wait_until(lambda: capture.rows_of_snapshots({"incremental"}) >= count // 2, connector)
        wait_until(is_quiet(capture), connector)
        capture.wait_for_end(connector)
    assert_healed()


def is_quiet(capture: Capture) -> Callable[[], bool]:
    """Whether no row of an incremental snapshot has come for a few questions."""
    seen: list[int] = []

    def ask() -> bool:
        seen.append(capture.rows_of_snapshots({"incremental"}))
        return len(seen) > 8 and len({*seen[-8:]}) == 1

    return ask


def in_postgres(postgres: Postgres) -> list[tuple[int, str | None, int | None, str | None]]:
    has_kind = postgres.run(
        "SELECT 1 FROM information_schema.columns"
        " WHERE table_schema = 'lost' AND table_name = 'item' AND column_name = 'kind';"
    ).strip()
    kind = "kind" if has_kind else "NULL"
    lines = postgres.run(f"SELECT json_build_array(id, name, n, {kind}) FROM lost.item;")
    return sorted(tuple(json.loads(line)) for line in lines.splitlines())


def in_gold(lake: Lake) -> list[tuple[Any, ...]]:
    names = ("id", "name", "n", "kind")
    stored = lake.in_process_table(Layer.GOLD, "lossy", "item")
    known = [name for name in names if name in stored.schema.names]
    return sorted(tuple(row.get(name) for name in names) for row in stored.rows(known))
