"""A real Postgres, changed by hand and captured by Debezium into a real broker: gold is what the database holds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka import Message as Record
from pyspark.sql import SparkSession

from assets.control import transactions
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from tests.services.debezium import running_connector, wait_until
from tests.services.kafka import Broker
from tests.services.postgres import Postgres, postgres
from tests.support.bringing import run
from transforms.feed.feed import Feed

__all__ = ["postgres"]

pytestmark = pytest.mark.services

PREFIX = "captured."


@dataclass(frozen=True, slots=True)
class Message:
    """One record of a topic."""

    topic: str
    offset: int
    key: str | None
    value: str | None

    @classmethod
    def of(cls, one: Record) -> Message:
        """A record as it was consumed."""
        topic, offset, key, value = one.topic(), one.offset(), one.key(), one.value()
        assert topic is not None and offset is not None
        texts = [text.decode() if isinstance(text, bytes) else None for text in (key, value)]
        return cls(topic, offset, *texts)

    @property
    def payload(self) -> dict[str, Any]:
        """What the value says; nothing where there is none."""
        return (json.loads(self.value)["payload"] if self.value else None) or {}

    @property
    def flag(self) -> str:
        """What its source says of the snapshot."""
        return str((self.payload.get("source") or {}).get("snapshot"))

    @property
    def transaction(self) -> str:
        """The number of its transaction."""
        return str(self.payload["transaction"]["id"]).partition(":")[0]

    def dumped(self) -> str:
        """A line of a dump."""
        parts = {"topic": self.topic, "partition": 0, "offset": self.offset}
        return json.dumps({**parts, "key": self.key, "payload": self.value}) + "\n"


TABLES = """
CREATE TABLE person(
    id int PRIMARY KEY, name text NOT NULL, born date, pay numeric(10,2), free numeric, seen timestamptz,
    made timestamp, noon time, raw bytea, tags text[], doc jsonb, flag boolean, ratio real, wide bigint, big text);
ALTER TABLE person ALTER big SET STORAGE EXTERNAL;
CREATE TABLE stock(house text, item int, n int NOT NULL, PRIMARY KEY(house, item));
CREATE TABLE visit(who text, page text);
ALTER TABLE visit REPLICA IDENTITY FULL;
CREATE TABLE emptied(id int PRIMARY KEY, word text);
"""
BEFORE = """
INSERT INTO person VALUES
    (1, 'Ann', '1990-02-03', 10.50, 1.234, '2026-11-20 10:00:00.123456+01', '2026-11-20 10:00:00.1', '12:30:00.5',
     '\\xdeadbeef', '{a,b}', '{"a": 1.50}', true, 3.14, 9007199254740993, repeat('long ', 2000)),
    (2, 'Bo "B"', '0001-01-01', -0.01, 12345678901234567890.123, NULL, '1969-12-31 23:59:59.999999', '00:00:00',
     '', '{}', 'null', false, 'NaN', -9223372036854775808, 'é'),
    (3, 'Cy', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO stock SELECT 'h' || h, i, h * i FROM generate_series(1, 3) h, generate_series(1, 4) i;
INSERT INTO visit VALUES ('ann', 'home'), ('ann', 'home'), (NULL, 'home');
INSERT INTO emptied VALUES (1, 'one'), (2, 'two');
"""
WORKLOAD = """
INSERT INTO person(id, name) VALUES (4, 'Di');
UPDATE person SET name = 'Anna', pay = 11 WHERE id = 1;
UPDATE person SET born = NULL, free = 0.5 WHERE id = 2;
BEGIN;
UPDATE stock SET n = n + 100 WHERE house = 'h1';
DELETE FROM stock WHERE item = 4;
INSERT INTO stock VALUES ('h4', 1, 7), ('h4', 2, 8);
UPDATE person SET id = 40 WHERE id = 4;
COMMIT;
BEGIN; DELETE FROM person; ROLLBACK;
UPDATE stock SET item = 9, n = 90 WHERE house = 'h2' AND item = 3;
BEGIN;
INSERT INTO visit SELECT 'bo', 'cart' FROM generate_series(1, 3);
UPDATE visit SET page = 'away' WHERE who = 'ann' AND ctid = (SELECT min(ctid) FROM visit WHERE who = 'ann');
DELETE FROM visit WHERE who IS NULL;
COMMIT;
COPY visit FROM STDIN WITH (DELIMITER ',');
cy,shop
cy,cart
\\.
DELETE FROM person WHERE id = 3; INSERT INTO person(id, name, flag) VALUES (3, 'Cleo', true);
SELECT pg_logical_emit_message(true, 'note', 'changes no row');
TRUNCATE emptied;
INSERT INTO emptied VALUES (2, 'again');
"""
LAST = "INSERT INTO emptied VALUES (99, 'the end');"

MOMENT = "yyyy-MM-dd HH:mm:ss.SSSSSS"
OTHERWISE = {
    "seen": (
        "to_char(seen AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')",
        f"date_format(seen, '{MOMENT}')",
    ),
    "made": ("to_char(made, 'YYYY-MM-DD HH24:MI:SS.US')", f"date_format(made, '{MOMENT}')"),
    "raw": ("encode(raw, 'hex')", "lower(hex(raw))"),
    "tags": ("to_json(tags)::text", "to_json(tags)"),
}
"""How Postgres and Spark write the columns that they do not write alike by themselves."""
COLUMNS = {
    "person": [
        "id",
        "name",
        "born",
        "pay",
        "free",
        "seen",
        "made",
        "noon",
        "raw",
        "tags",
        "doc",
        "flag",
        "ratio",
        "wide",
        "big",
    ],
    "stock": ["house", "item", "n"],
    "visit": ["who", "page"],
    "emptied": ["id", "word"],
}


@pytest.fixture(scope="module")
def topics(
    broker: Broker, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> list[Message]:
    """All that the connector wrote of a database with a past, and of all that was done to it since."""
    postgres.run(TABLES + BEFORE)
    settings = {
        "topic.prefix": PREFIX.rstrip("."),
        "slot.name": "weir",
        "publication.autocreate.mode": "all_tables",
        "provide.transaction.metadata": "true",
        "skipped.operations": "none",
    }
    folder = tmp_path_factory.mktemp("debezium")
    with running_connector(folder, broker, postgres, settings) as connector:
        wait_until(lambda: any("last" in one.flag for one in written(broker)), connector)
        postgres.run(WORKLOAD)
        postgres.run(LAST)
        wait_until(lambda: is_whole(written(broker)), connector)
    return written(broker)


def written(broker: Broker) -> list[Message]:
    """All that is in the connector's topics."""
    topics = broker.admin().list_topics(timeout=10).topics
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": "tests"})
    found: list[Message] = []
    for name in (name for name in topics if name.startswith(PREFIX)):
        _, end = consumer.get_watermark_offsets(TopicPartition(name, 0), timeout=10)
        consumer.assign([TopicPartition(name, 0, OFFSET_BEGINNING)])
        read = 0
        # More may come meanwhile.
        while read < end:
            records = [Message.of(one) for one in consumer.consume(1000, timeout=0.5)]
            found += records
            read = max((one.offset + 1 for one in records), default=read)
    consumer.close()
    return found


def is_whole(messages: list[Message]) -> bool:
    """Whether the last row is there, and the end of its transaction behind it."""
    last = [one.transaction for one in messages if one.value and "the end" in one.value]
    ends = [one.value for one in messages if one.value and '"status":"END"' in one.value]
    return bool(last) and any(f'"id":"{last[0]}:' in end for end in ends)


def test_topics_that_are_read_become_what_the_database_holds(
    spark: SparkSession, topics: list[Message], postgres: Postgres, broker: Broker, tmp_path: Path
) -> None:
    names = sorted({one.topic for one in topics})
    lake = lake_of(str(tmp_path / "warehouse"))
    feed = Feed("shop", "debezium", f"kafka://{broker.address}/{','.join(names)}")
    run(lake, feed)
    assert_is_whole(lake, feed, postgres)


def test_a_dump_in_parts_becomes_what_the_database_holds(
    spark: SparkSession, topics: list[Message], postgres: Postgres, tmp_path: Path
) -> None:
    lake = lake_of(str(tmp_path / "warehouse"))
    feed = Feed("shop", "debezium", str(tmp_path / "landing"))
    for window in range(2):
        # Every second record of every topic: no window holds a transaction whole, and the later one comes first.
        part = [one for one in topics if one.offset % 2 != window]
        lay(tmp_path / "landing" / f"2026-11-20/0{window}", part)
        run(lake, feed)
    assert_is_whole(lake, feed, postgres)


def assert_is_whole(lake: Lake, feed: Feed, postgres: Postgres) -> None:
    """Gold is what the database holds, with nothing left over."""
    assert transactions.still_open(lake, feed) == []
    assert not lake.table(Layer.QUARANTINE, feed.name).read().count()
    for table in COLUMNS:
        assert in_gold(lake, table) == in_postgres(postgres, table)


def lay(folder: Path, messages: list[Message]) -> None:
    """A dump of the messages, as kcat writes it."""
    folder.mkdir(parents=True)
    (folder / "topics.jsonl").write_text("".join(one.dumped() for one in messages))


def in_postgres(postgres: Postgres, table: str) -> list[list[str | None]]:
    shown = [OTHERWISE[one][0] if one in OTHERWISE else f"{one}::text" for one in COLUMNS[table]]
    lines = postgres.run(f"SELECT json_build_array({', '.join(shown)}) FROM {table};").splitlines()
    return sorted((json.loads(line) for line in lines), key=str)


def in_gold(lake: Lake, table: str) -> list[list[str | None]]:
    shown = [
        OTHERWISE[one][1] if one in OTHERWISE else f"CAST({one} AS string)"
        for one in COLUMNS[table]
    ]
    rows = lake.table(Layer.GOLD, "shop", table).read().selectExpr(*shown).collect()
    return sorted((list(row) for row in rows), key=str)
