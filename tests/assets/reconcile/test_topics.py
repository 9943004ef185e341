"""Gold of topics compared with a real Postgres: what proves for each table that gold is past the source's snapshot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from psycopg2.extras import LogicalReplicationConnection, ReplicationCursor

from assets.bronze import from_topics
from assets.reconcile.compare import Ask, Compared, reconciled
from assets.reconcile.passing import OF_PARTITIONS
from assets.reconcile.postgres import PostgresSource
from assets.source.database import address_of
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.services.kafka import Broker, Sent
from tests.services.postgres import DATABASE, USER, Postgres, postgres
from tests.support.bringing import run

__all__ = ["postgres"]

SLOT, BUSY, QUIET = "uneven", "uneven.uneven.busy", "uneven.uneven.quiet"
TABLES = """
DROP SCHEMA IF EXISTS uneven CASCADE;
CREATE SCHEMA uneven;
CREATE TABLE uneven.busy(id int PRIMARY KEY, n int);
CREATE TABLE uneven.quiet(id int PRIMARY KEY, n int);
INSERT INTO uneven.busy SELECT i, i FROM generate_series(1, 9) i;
INSERT INTO uneven.quiet SELECT i, i FROM generate_series(1, 9) i;
"""
FEED = """
format: debezium
landing: kafka://{broker}/{topics}
source: postgresql://127.0.0.1:{port}/{database}
health: {{slot: uneven}}
tables:
  busy: {{key: [id], columns: {{id: int, n: int}}}}
  quiet: {{key: [id], columns: {{id: int, n: int}}}}
"""
LATER = 1 << 30
"""So far behind all that the source has written does something stand that comes much later."""


@dataclass
class Uneven:
    """A database whose changes of two tables are sent to topics by hand, so that one may be sent and not the other."""

    broker: Broker
    server: Postgres
    folder: Path
    partitions: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        (self.folder / "feeds").mkdir()
        self.file = self.folder / "feeds" / "shop.yaml"
        self.lake = lake_of(str(self.folder / "warehouse")).by("in-process")
        self.server.run(TABLES)
        self.broker.create(BUSY)
        self.broker.create(QUIET, self.partitions)
        self.file.write_text(
            FEED.format(
                broker=self.broker.address,
                topics=f"{BUSY},{QUIET}",
                port=self.server.port,
                database=DATABASE,
            )
        )

    @property
    def place(self) -> int:
        """Where the log stands."""
        return int(self.server.run("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint"))

    def send(self, table: str, key: int, n: int, beyond: int = 0, partition: int = 0) -> None:
        """Send a change, as of a transaction that has just ended, or of one so much later in the log."""
        place = self.place + beyond
        source = {
            **{"connector": "postgresql", "db": DATABASE, "schema": "uneven", "table": table},
            **{"lsn": place, "sequence": json.dumps([str(place - 1), str(place)])},
        }
        value = {"op": "u", "source": source, "before": None, "after": {"id": key, "n": n}}
        sent = Sent(
            json.dumps(value).encode(), json.dumps({"id": key}).encode(), partition=partition
        )
        self.broker.send(f"uneven.uneven.{table}", [sent])

    def bring(self) -> None:
        """What was sent goes to gold."""
        run(self.lake, load_feed(self.file))

    def of_quiet(self, **how: Any) -> Compared:
        """What a comparison says of the quiet table."""
        feed = load_feed(self.file)
        source = PostgresSource("shop", address_of(feed))
        (found,) = reconciled(self.lake, feed, source, Ask(tables=["quiet"], **how)).tables
        return found


@contextmanager
def connector(server: Postgres) -> Iterator[ReplicationCursor]:
    """Somebody who reads the slot as a connector does."""
    with closing(
        psycopg2.connect(
            host="127.0.0.1",
            port=server.port,
            dbname=DATABASE,
            user=USER,
            connection_factory=LogicalReplicationConnection,
        )
    ) as connection:
        cursor = connection.cursor()
        cursor.start_replication(slot_name=SLOT)
        yield cursor


def confirm(cursor: ReplicationCursor, server: Postgres) -> None:
    """Confirm that everything was passed on, up to a commit that comes now."""
    server.run("CREATE TABLE IF NOT EXISTS uneven.beat(); DROP TABLE uneven.beat;")
    place = int(server.run("SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint"))
    cursor.read_message()
    cursor.send_feedback(flush_lsn=place, force=True)
    question = f"SELECT confirmed_flush_lsn - '0/0' >= {place} FROM pg_replication_slots WHERE slot_name = '{SLOT}'"
    while server.run(question).strip() != "t":
        cursor.read_message()


@pytest.fixture
def uneven(
    broker: Broker, postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Uneven]:
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", USER)
    made = Uneven(broker, postgres, tmp_path, partitions=2)
    postgres.run(f"SELECT pg_create_logical_replication_slot('{SLOT}', 'test_decoding')")
    for key in range(1, 10):
        made.send("busy", key, key)
        made.send("quiet", key, key, partition=key % 2)
    made.bring()
    yield made
    postgres.run(f"SELECT pg_drop_replication_slot('{SLOT}')")


def test_a_change_of_another_table_proves_nothing(uneven: Uneven) -> None:
    """The topics were read when one table's later changes were there, and the other's earlier ones were not."""
    uneven.server.run("UPDATE uneven.quiet SET n = 50 WHERE id = 5")
    uneven.send("busy", 1, 1, LATER)
    uneven.bring()
    found = uneven.of_quiet(wait=2)
    assert (found.different, [one.key for one in found.behind]) == ([], [("5",)])
    assert "nobody reads a slot uneven" in found.untold
    assert f"has come in {QUIET}/0, {QUIET}/1" in found.untold

    # It was under way, as it turns out.
    uneven.send("quiet", 5, 50, partition=1)
    uneven.bring()
    found = uneven.of_quiet(wait=2)
    assert (found.different, found.behind, found.in_source) == ([], [], 9)


def test_changes_of_the_table_prove_it_once_each_of_its_partitions_has_one(
    uneven: Uneven,
) -> None:
    uneven.server.run("UPDATE uneven.quiet SET n = 50 WHERE id = 5")
    uneven.send("quiet", 4, 4, LATER, partition=0)
    uneven.bring()
    found = uneven.of_quiet(wait=1)
    assert (found.different, len(found.behind)) == ([], 1)
    assert found.untold.endswith(f"no change from behind the snapshot has come in {QUIET}/1")

    # In the broker it is no proof, and neither in bronze.
    uneven.send("quiet", 7, 7, LATER, partition=1)
    assert uneven.of_quiet(wait=1).different == []
    from_topics.land(uneven.lake, load_feed(uneven.file), lambda _: None)
    assert uneven.of_quiet(wait=1).different == []
    uneven.bring()
    found = uneven.of_quiet(wait=1)
    assert [(one.key, one.kind) for one in found.different] == [(("5",), "column")]
    assert found.judged_by == OF_PARTITIONS


def test_of_a_table_at_rest_the_slot_proves_it_once_all_that_was_sent_is_in_gold(
    uneven: Uneven,
) -> None:
    uneven.server.run("UPDATE uneven.quiet SET n = n * 10 WHERE id IN (5, 6)")
    with connector(uneven.server) as cursor:
        # The connector is behind.
        found = uneven.of_quiet(wait=1)
        assert (found.different, len(found.behind)) == ([], 2)
        assert "slot uneven has confirmed nothing behind" in found.untold

        # It has sent the one change, and lost the other; nobody has read that yet.
        def confirmed(said: str) -> None:
            if "waiting" in said:
                confirm(cursor, uneven.server)

        uneven.send("quiet", 6, 60, partition=0)
        found = uneven.of_quiet(wait=2, say=confirmed)
        assert (found.different, len(found.behind)) == ([], 2)
        assert "not all that was sent by then is in gold" in found.untold

        # Bronze has it, and gold has not.
        from_topics.land(uneven.lake, load_feed(uneven.file), lambda _: None)
        found = uneven.of_quiet(wait=2, say=confirmed)
        assert (found.different, len(found.behind)) == ([], 2)

        uneven.bring()
        found = uneven.of_quiet(wait=20, say=confirmed)
        assert [(one.key, one.kind) for one in found.different] == [(("5",), "column")]
        assert found.judged_by.startswith("slot uneven, and gold has all")

    # A connector that begins meanwhile may be about to take a snapshot.
    began: list[Any] = []

    def begins(said: str) -> None:
        if "waiting" in said and not began:
            began.append(connector(uneven.server))
            confirm(began[0].__enter__(), uneven.server)

    with connector(uneven.server) as cursor:
        began_before = uneven.server.run("SELECT active_pid FROM pg_replication_slots").strip()

        def restarts(said: str) -> None:
            if "waiting" in said and not began:
                cursor.connection.close()
                begins(said)

        found = uneven.of_quiet(wait=2, say=restarts)
    assert (found.different, len(found.behind)) == ([], 1)
    assert "the connector began to read slot uneven once more" in found.untold
    assert uneven.server.run("SELECT active_pid FROM pg_replication_slots").strip() != began_before
    began[0].__exit__(None, None, None)
