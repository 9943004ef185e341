"""Real servers, asked how they stand: what a look measures is what was done to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assets.executors.choice import IN_PROCESS
from assets.landing import kafka
from assets.source.health import look
from assets.storage.lake import Lake
from orchestration.resources import lake_of
from tests.services.kafka import Broker, Sent
from tests.services.postgres import DATABASE, Postgres, postgres
from tests.support.bringing import run
from transforms.feed.feed import Feed, HealthLimits, Limit, Running
from transforms.source_health import ReplicationSlot, SourceFacts, findings

__all__ = ["postgres"]

pytestmark = pytest.mark.services

NOW = datetime(2025, 11, 20, 4, tzinfo=UTC)
MIB = 1 << 20
SEGMENT = 16 * MIB
"""What Postgres writes its log in."""


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse"), {}).by(IN_PROCESS)


def told(facts: SourceFacts, limits: HealthLimits | None = None) -> list[tuple[str, str]]:
    return [(one.concern, one.says) for one in findings(facts, limits or HealthLimits())]


# Kafka: what the broker has against what bronze has.


def envelope(source: dict[str, object], id: int, at: datetime = NOW) -> bytes:
    """An insert as Debezium writes it."""
    said = {"ts_ms": int(at.timestamp() * 1000), "snapshot": "false", **source}
    body = {"op": "c", "before": None, "after": {"id": id}, "source": said, "ts_ms": said["ts_ms"]}
    return json.dumps(body).encode()


def city(id: int, at: datetime = NOW) -> Sent:
    source = {"connector": "postgresql", "name": "town", "db": "town", "schema": "public"}
    value = envelope({**source, "table": "city", "lsn": 100 + id}, id, at)
    return Sent(value, json.dumps({"id": id}).encode(), at=int(at.timestamp() * 1000))


def heartbeat(at: datetime) -> Sent:
    moment = int(at.timestamp() * 1000)
    return Sent(json.dumps({"ts_ms": moment}).encode(), b'{"serverName": "town"}', at=moment)


def test_what_a_topic_has_and_bronze_has_not_is_unread(lake: Lake, broker: Broker) -> None:
    broker.create("health.cities", 2)
    feed = Feed("town", "debezium", f"kafka://{broker.address}/health.cities")
    broker.send("health.cities", [city(1), city(2), replace(city(3), partition=1)])
    before = {one.name: one.unread for one in look(lake, feed, NOW).partitions or ()}
    assert before == {"health.cities/0": 2, "health.cities/1": 1}
    run(lake, feed)
    broker.send("health.cities", [city(4), city(5), city(6)])
    facts = look(lake, feed, NOW)
    assert {one.name: one.unread for one in facts.partitions or ()} == {
        "health.cities/0": 3,
        "health.cities/1": 0,
    }
    assert told(facts) == []
    # Retention goes past what was read.
    broker.delete_before("health.cities", 4)
    lost = look(lake, feed, NOW)
    says = "Kafka has deleted 2 offsets below 4 that were not read"
    assert told(lost) == [("lost", f"partition health.cities/0: {says}")]


def test_a_broker_that_is_away_is_a_finding_and_no_error(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka, "PATIENCE", 1.0)
    away = Feed("town", "debezium", "kafka://127.0.0.1:1/health.cities")
    facts = look(lake, away, NOW)
    assert facts.partitions is None
    ((concern, says),) = told(facts)
    assert concern == "unasked"
    assert "the broker does not answer" in says


def test_heartbeats_are_known_by_their_own_time(lake: Lake, broker: Broker) -> None:
    broker.create("health.beats")
    broker.create("health.beating")
    topics = f"kafka://{broker.address}/health.beats,health.beating"
    feed = Feed("town", "debezium", topics)
    broker.send("health.beating", [city(1, NOW - timedelta(hours=2))])
    beats = [NOW - timedelta(minutes=minutes) for minutes in (9, 7, 8)]
    broker.send("health.beats", [heartbeat(one) for one in beats])
    run(lake, feed)
    # Looked for where it is asked for.
    assert look(lake, feed, NOW).heartbeat_at is None
    asking = replace(feed, running=Running(health=HealthLimits(heartbeat=Limit(warn=60))))
    facts = look(lake, asking, NOW)
    assert facts.heartbeat_at == NOW - timedelta(minutes=7)
    assert facts.newest_event_at == NOW - timedelta(hours=2)


# Postgres: a slot that is left behind, and one that is lost.


def of_postgres(server: Postgres, **parts: object) -> Feed:
    address = f"postgresql://127.0.0.1:{server.port}/{DATABASE}"
    return Feed("town", "debezium", "/nowhere", running=Running(source=address, **parts))  # type: ignore[arg-type]


def slot_in(facts: SourceFacts) -> ReplicationSlot:
    assert facts.unasked == ()
    assert facts.slots is not None
    (one,) = (one for one in facts.slots if one.name == "health")
    return one


@pytest.fixture
def slot(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> Iterator[Postgres]:
    """A slot that nobody reads, and a user with no rights beside those that everybody has."""
    postgres.run(
        "CREATE TABLE health_item(id int, big text); CREATE ROLE watcher LOGIN;"
        " SELECT pg_create_logical_replication_slot('health', 'pgoutput');"
    )
    monkeypatch.setenv("WEIR_SOURCE_TOWN_USERNAME", "watcher")
    monkeypatch.setenv("WEIR_SOURCE_PASSWORD", "none is asked for")
    yield postgres
    postgres.run(
        "SELECT pg_drop_replication_slot('health'); DROP TABLE health_item; DROP ROLE watcher;"
        " ALTER SYSTEM RESET ALL; SELECT pg_reload_conf();"
    )


def test_a_slot_falls_behind_by_what_the_server_writes(slot: Postgres, lake: Lake) -> None:
    feed = of_postgres(slot)
    begun = slot_in(look(lake, feed, NOW))
    assert (begun.is_active, begun.wal_status, begun.wal_left) == (False, "reserved", None)
    assert begun.lag is not None and begun.lag < MIB
    slot.run("INSERT INTO health_item SELECT i, repeat('x', 900) FROM generate_series(1, 5000) i;")
    behind = slot_in(look(lake, feed, NOW))
    assert behind.written - begun.written >= 4 * MIB
    assert behind.confirmed == begun.confirmed
    assert behind.lag == behind.written - (begun.confirmed or 0)
    assert behind.wal_kept is not None and behind.wal_kept >= behind.lag
    # What a connector does when it has read everything.
    slot.run("SELECT pg_replication_slot_advance('health', pg_current_wal_lsn());")
    caught_up = slot_in(look(lake, feed, NOW))
    assert caught_up.lag is not None and caught_up.lag < MIB
    assert told(look(lake, feed, NOW)) == []


def test_a_slot_is_about_to_be_lost_and_is_lost(slot: Postgres, lake: Lake) -> None:
    feed = of_postgres(slot, health=HealthLimits(slot="health"))
    limit = "ALTER SYSTEM SET max_slot_wal_keep_size = '32MB'; SELECT pg_reload_conf();"
    for statement in limit.split("; "):
        slot.run(statement)
    left = slot_in(look(lake, feed, NOW)).wal_left
    assert left is not None and 0 < left <= 5 * SEGMENT
    for _ in range(4):
        slot.run("INSERT INTO health_item VALUES (1, 'x');")
        slot.run("SELECT pg_switch_wal();")
    facts = look(lake, feed, NOW)
    assert slot_in(facts).wal_status == "unreserved"
    assert [concern for concern, _ in told(facts, feed.running.health)] == ["ending"]
    slot.run("CHECKPOINT;")
    facts = look(lake, feed, NOW)
    assert slot_in(facts).is_lost
    says = "replication slot health is lost: Postgres has removed log that was not read"
    assert told(facts, feed.running.health) == [("lost", says)]


def test_a_database_that_refuses_is_a_finding_and_no_error(
    slot: Postgres, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_SOURCE_TOWN_USERNAME", "nobody_here")
    monkeypatch.setenv("WEIR_SOURCE_PASSWORD", "hush-hush")
    facts = look(lake, of_postgres(slot), NOW)
    assert facts.slots is None
    ((concern, says),) = told(facts)
    assert concern == "unasked"
    assert "nobody_here" in says and "WEIR_SOURCE_USERNAME" in says
    assert "hush-hush" not in says
