"""A real MariaDB whose binary log is purged: it is told exactly where that is behind what was read."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assets.executors.choice import IN_PROCESS
from assets.source.health import look
from assets.storage.lake import Lake
from orchestration.resources import lake_of
from tests.services.mariadb import DEBIANS, VERSION_OF_JAR, MariaDb, new_mariadb
from tests.support.bringing import run
from transforms.feed.feed import Feed, HealthLimits, Running
from transforms.source_health import BinaryLogs, SourceFacts, findings

pytestmark = pytest.mark.services

NOW = datetime(2025, 11, 20, 4, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse"), {}).by(IN_PROCESS)


def told(facts: SourceFacts) -> list[tuple[str, str]]:
    return [(one.concern, one.says) for one in findings(facts, HealthLimits())]


def envelope(source: dict[str, object], id: int) -> str:
    """An insert as Debezium writes it."""
    said = {"ts_ms": int(NOW.timestamp() * 1000), "snapshot": "false", **source}
    body = {"op": "c", "before": None, "after": {"id": id}, "source": said, "ts_ms": said["ts_ms"]}
    return json.dumps(body)


@pytest.fixture(scope="module", params=[DEBIANS, VERSION_OF_JAR])
def mariadb(request: pytest.FixtureRequest) -> Iterator[MariaDb]:
    with new_mariadb(request.param) as server:
        server.run(
            "CREATE DATABASE shop; CREATE TABLE shop.item(id int PRIMARY KEY, big mediumtext);"
            " CREATE USER watcher@'127.0.0.1' IDENTIFIED BY 'hush-hush';"
            " GRANT BINLOG MONITOR ON *.* TO watcher@'127.0.0.1'; GRANT SELECT ON shop.item TO watcher@'127.0.0.1';"
        )
        yield server


def place_of(server: MariaDb) -> tuple[str, int]:
    """Where the server writes now."""
    file, place, *_ = server.run("SHOW MASTER STATUS").split("\t")
    return file, int(place)


def purge_before(server: MariaDb, file: str) -> None:
    """Have the server remove older files, which it puts off while its engine has not kept what they say."""
    ends = time.monotonic() + 60
    while server.run("SHOW BINARY LOGS").split("\t")[0] != file:
        assert time.monotonic() < ends, "the server keeps its old files"
        server.run(f"PURGE BINARY LOGS TO '{file}'")
        time.sleep(0.2)


def logs_in(facts: SourceFacts) -> BinaryLogs:
    assert facts.unasked == ()
    assert facts.binary_logs is not None
    return facts.binary_logs


def test_binary_logs_are_judged_by_what_was_read(
    mariadb: MariaDb, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", "watcher")
    monkeypatch.setenv("WEIR_SOURCE_PASSWORD", "hush-hush")
    address = f"mariadb://127.0.0.1:{mariadb.port}/shop"
    landing = tmp_path / "landing"
    feed = Feed("shop", "debezium", str(landing), running=Running(source=address))

    def captured(id: int) -> None:
        """A change of the server's, and what a connector would write of it."""
        file, place = place_of(mariadb)
        mariadb.run(f"INSERT INTO shop.item VALUES ({id}, repeat('x', 100000))")
        source = {"connector": "mariadb", "name": "shop", "db": "shop", "table": "item"}
        value = envelope({**source, "file": file, "pos": place, "row": 0}, id)
        drop = landing / "2025-11-20" / f"{id:02}" / "changes.json"
        drop.parent.mkdir(parents=True)
        key = {"schema": None, "payload": {"id": id}}
        line = {"topic": "shop.shop.item", "partition": 0, "offset": id, "key": json.dumps(key)}
        drop.write_text(json.dumps({**line, "payload": value}) + "\n")
        run(lake, feed)

    mariadb.run("SET GLOBAL expire_logs_days = 3")
    captured(1)
    logs = logs_in(look(lake, feed, NOW))
    assert logs.files[-1].name == place_of(mariadb)[0]
    assert logs.read_file == logs.files[-1].number
    assert logs.expires_after == 3 * 86_400
    # From the change's own beginning on.
    assert logs.lag is not None and 100_000 < logs.lag < 102_000
    mariadb.run("FLUSH BINARY LOGS")
    mariadb.run("INSERT INTO shop.item VALUES (50, repeat('x', 300000))")
    behind = logs_in(look(lake, feed, NOW))
    assert behind.lag is not None and 400_000 < behind.lag < 403_000
    assert behind.purged_unread == 0
    newest = place_of(mariadb)[0]
    purge_before(mariadb, newest)
    facts = look(lake, feed, NOW)
    assert logs_in(facts).purged_unread == 1
    ((concern, says),) = told(facts)
    assert concern == "lost"
    assert f"the oldest binary log that is there is {newest}" in says
    # A change of the newest file was read: nothing is missing before the next purge.
    captured(2)
    assert told(look(lake, feed, NOW)) == []


def test_a_user_without_the_right_is_told_which_one_is_missing(
    mariadb: MariaDb, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    mariadb.run(
        "CREATE OR REPLACE USER poor@'127.0.0.1'; GRANT SELECT ON shop.item TO poor@'127.0.0.1'"
    )
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", "poor")
    address = f"mysql://127.0.0.1:{mariadb.port}/shop"
    facts = look(lake, Feed("shop", "debezium", "/nowhere", running=Running(source=address)), NOW)
    ((concern, says),) = told(facts)
    assert concern == "unasked"
    assert "BINLOG MONITOR" in says
