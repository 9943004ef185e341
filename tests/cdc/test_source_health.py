"""A real Postgres behind a real connector, from the feed file on: what is told of it, running and not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestration.feeds.load import load_feed
from orchestration.observability import last_look
from orchestration.resources import lake_of
from tests.services.debezium import running_connector, wait_until
from tests.services.kafka import Broker
from tests.services.postgres import DATABASE, USER, Postgres, postgres
from tests.support.commands_here import weir

__all__ = ["postgres"]

pytestmark = [
    pytest.mark.services,
    # Dagster's own, in the process that runs the assets.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

ITEM, BEATS = "beating.beating.item", "__debezium-heartbeat.beating"
SETTINGS = {
    "topic.prefix": "beating",
    "slot.name": "beating",
    "publication.name": "beating",
    "publication.autocreate.mode": "filtered",
    "table.include.list": r"beating\.item",
    "heartbeat.interval.ms": "500",
}
FEED = """\
format: debezium
landing: kafka://{broker}/{topics}
source: postgresql://127.0.0.1:{port}/{database}
health:
  slot: beating
  newest_event: 1h
  heartbeat: 10m
  unread_records: 100000
  fail: {{slot_lag: 4MB}}
"""


@pytest.fixture
def source(postgres: Postgres) -> Iterator[Postgres]:
    postgres.run(
        "CREATE SCHEMA beating; CREATE TABLE beating.item(id int PRIMARY KEY, big text);"
        " INSERT INTO beating.item VALUES (1, 'x');"
    )
    yield postgres
    postgres.run(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
        " WHERE slot_name = 'beating';"
        " DROP PUBLICATION IF EXISTS beating; DROP SCHEMA beating CASCADE;"
    )


def test_a_connector_that_stands_still_is_told_by_its_slot(
    broker: Broker,
    source: Postgres,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", USER)
    folder, file = tmp_path / "debezium", tmp_path / "feeds" / "beating.yaml"
    folder.mkdir()
    file.parent.mkdir()
    topics = f"{ITEM},{BEATS}"
    file.write_text(
        FEED.format(broker=broker.address, topics=topics, port=source.port, database=DATABASE)
    )
    place = ("--feeds", str(file.parent), "--warehouse", str(tmp_path / "warehouse"))

    def asked() -> tuple[int, str]:
        capsys.readouterr()
        return weir("status", "--source", *place), capsys.readouterr().out

    def is_captured() -> bool:
        known = broker.admin().list_topics(timeout=10).topics
        active = "SELECT active FROM pg_replication_slots WHERE slot_name = 'beating';"
        return {ITEM, BEATS} <= {*known} and source.run(active).strip() == "t"

    with running_connector(folder, broker, source, SETTINGS) as connector:
        wait_until(is_captured, connector)
        assert weir("run", *place, "--executor", "in-process") == 0
        code, said = asked()
        assert (code, said.splitlines()[0]) == (0, "beating: 0 findings")
        assert "  heartbeat: newest at " in said
        assert "  table postgres.beating.item: newest event " in said
        assert "reserved, read now" in said
    look = last_look.last_look(lake_of(place[-1], {}), load_feed(file))
    assert look is not None
    assert look.heartbeat_at is not None
    assert [one.name for one in look.slots or ()] == ["beating"]
    # Nobody reads the slot, and clients write on: also into tables of which the feed has nothing.
    source.run(
        "CREATE TABLE beating.other(big text);"
        " INSERT INTO beating.other SELECT repeat('x', 900) FROM generate_series(1, 6000);"
    )
    code, said = asked()
    assert code == 1
    assert said.splitlines()[1].startswith("  failed: replication slot beating is ")
    assert " MiB behind; nobody reads it now; at most 4 MiB" in said
    # Nor is there anything to come back to.
    source.run("SELECT pg_drop_replication_slot('beating');")
    code, said = asked()
    assert code == 1
    assert "  failed: there is no replication slot beating" in said
