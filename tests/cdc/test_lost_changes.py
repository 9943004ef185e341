"""A real Postgres of which changes are lost: whatever snapshot is taken then, gold is what the database holds."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assets.executors.choice import IN_PROCESS
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from tests.cdc.capture import Capture
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
class OfPostgres(Capture):
    """A Postgres, whose slot may be lost."""

    schema = "lost"
    item = TOPIC
    insert = (
        "INSERT INTO lost.item(id, name, n) VALUES ({key}, 'new', {number}) ON CONFLICT DO NOTHING;"
    )
    postgres: Postgres

    def run(self, statements: str) -> str:
        return self.postgres.run(statements)

    def running(self, **settings: str) -> AbstractContextManager[Connector]:
        return running_connector(self.folder, self.broker, self.postgres, {**SETTINGS, **settings})

    def has_slot(self) -> bool:
        """Whether the connector reads from a slot: what is written from now on comes."""
        asked = "SELECT active FROM pg_replication_slots WHERE slot_name = 'lossy';"
        return self.postgres.run(asked).strip() == "t"

    def lose_slot(self) -> None:
        self.postgres.run("SELECT pg_drop_replication_slot('lossy');")
        self.forget()


@pytest.fixture
def capture(broker: Broker, postgres: Postgres, tmp_path: Path) -> Iterator[OfPostgres]:
    postgres.run(TABLES)
    folder = tmp_path / "debezium"
    folder.mkdir()
    yield OfPostgres(broker, folder, postgres)
    postgres.run(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
        " WHERE slot_name = 'lossy';"
        " DROP PUBLICATION IF EXISTS lossy; DROP SCHEMA lost CASCADE;"
    )


def test_gold_is_the_database_after_every_loss(capture: OfPostgres, tmp_path: Path) -> None:
    lake = lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS)
    feed = Feed("lossy", "debezium", f"kafka://{capture.broker.address}/{TOPIC}")

    def assert_healed() -> None:
        run(lake, feed)
        assert in_gold(lake) == in_postgres(capture.postgres)

    with capture.running() as connector:
        wait_until(lambda: capture.rows_of_snapshots("last") == 1, connector)
        capture.change(100)
        capture.wait_for_end(connector)
    assert_healed()
    # The slot is dropped while clients write; the connector begins anew, and they still do.
    capture.change(300)
    capture.lose_slot()
    with capture.running() as connector:
        with capture.changing():
            wait_until(lambda: capture.rows_of_snapshots("last") == 2, connector)
        capture.wait_for_end(connector)
        assert_healed()
        # A blocking snapshot under writes.
        with capture.changing():
            capture.asks("blocking")
            wait_until(lambda: capture.rows_of_snapshots("last") == 3, connector)
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
            wait_until(lambda: capture.rows_of_snapshots("incremental") >= count // 2, connector)
        wait_until(capture.is_quiet(), connector)
        capture.wait_for_end(connector)
    assert_healed()


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
