"""A real MariaDB of which changes are lost: gold is what the database holds, or a check says what to do."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from assets.bronze import from_topics
from assets.control import decisions, ledger, progress
from assets.executors.choice import IN_PROCESS
from assets.silver import checks, derive
from assets.silver.derive import Derived
from assets.storage.lake import Lake, Layer
from orchestration.feeds.load import load_feeds
from orchestration.resources import lake_of
from tests.cdc.capture import Capture
from tests.services.debezium import (
    MARIADB,
    Connector,
    Release,
    running_mariadb_connector,
    wait_until,
)
from tests.services.kafka import Broker
from tests.services.mariadb import DEBIANS, VERSION_OF_JAR, MariaDb, new_mariadb
from tests.support.bringing import run
from transforms.feed.feed import Feed

pytestmark = pytest.mark.services

TABLES = """
CREATE DATABASE shop;
USE shop;
CREATE TABLE item(id int PRIMARY KEY, name varchar(200), n int);
CREATE TABLE visit(who varchar(20), page varchar(20));
CREATE TABLE signals(id varchar(42) PRIMARY KEY, type varchar(32) NOT NULL, data varchar(2048));
INSERT INTO item SELECT seq, 'first', seq FROM seq_1_to_200;
INSERT INTO visit VALUES ('ann', 'home'), ('ann', 'home'), ('bo', 'cart');
"""
OF_EQUAL_IMAGES = """
USE shop;
BEGIN;
INSERT INTO visit VALUES ('cy', 'shop'), ('cy', 'shop');
INSERT INTO visit VALUES ('cy', 'shop');
DELETE FROM visit WHERE who = 'ann' LIMIT 1;
UPDATE item SET n = 1001 WHERE id = 1;
UPDATE item SET n = 1000 WHERE id = 1;
UPDATE item SET n = 1001 WHERE id = 1;
UPDATE item SET n = 1000 WHERE id = 1;
UPDATE item SET n = 1001 WHERE id = 1;
COMMIT;
"""
"""One transaction whose rows and changes repeat each other."""

SETTINGS = {
    "topic.prefix": "maria",
    "database.include.list": "shop",
    "signal.data.collection": "shop.signals",
    "incremental.snapshot.chunk.size": "100",
}
ITEM, VISIT = "maria.shop.item", "maria.shop.visit"
FEED = "format: debezium\nlanding: kafka://{address}/{item},{visit}\n"
PLACE = ("--feeds", "feeds", "--warehouse", "warehouse")
COLUMNS = {"item": ("id", "name", "n", "kind"), "visit": ("who", "page")}
OLD_SERVER, NEW_SERVER = (DEBIANS, "3.3.0.Final"), (VERSION_OF_JAR, "3.5.0.Final")
LASTS = frozenset({"last", "last_in_data_collection"})


@dataclass
class OfMariaDb(Capture):
    """A MariaDB, whose log may be purged or begin again.

    ``names_each_place``: whether the connector says of each change where it stands, and not only its transaction.
    """

    schema = "shop"
    item = ITEM
    insert = "INSERT IGNORE INTO shop.item(id, name, n) VALUES ({key}, 'new', {number});"
    mariadb: MariaDb
    release: Release
    names_each_place: bool

    def run(self, statements: str) -> str:
        return self.mariadb.run(statements)

    def running(self) -> AbstractContextManager[Connector]:
        return running_mariadb_connector(
            self.folder, self.broker, self.mariadb, self.release, SETTINGS
        )

    def snapshots(self, topic: str = ITEM) -> list[datetime]:
        """When each snapshot of a table that has come to its end was taken."""
        return [
            datetime.fromtimestamp(one["source"]["ts_ms"] / 1000, UTC)
            for one in self.written(topic)
            if one["source"]["snapshot"] in LASTS
        ]

    def wait_for_snapshots(self, count: int, connector: Connector) -> None:
        """Wait until so many snapshots are whole, while clients change rows."""
        with self.changing():
            wait_until(lambda: len(self.snapshots()) >= count, connector)
        self.wait_for_end(connector)

    def purge(self) -> None:
        """Remove the log, all but a new file."""
        self.mariadb.run("FLUSH BINARY LOGS;")
        asked = "SELECT id FROM information_schema.processlist WHERE command = 'Binlog Dump';"
        # The server keeps what it still sends, even to a connector that is gone.
        self.mariadb.run("".join(f"KILL {one};" for one in self.mariadb.run(asked).split()))
        newest = self.mariadb.run("SHOW MASTER STATUS;").split()[0]
        ends = time.monotonic() + 60
        # And while its engine has not kept what they say.
        while self.mariadb.run("SHOW BINARY LOGS;").split()[0] != newest:
            assert time.monotonic() < ends, "the server keeps its old files"
            self.mariadb.run(f"PURGE BINARY LOGS TO '{newest}';")
            time.sleep(0.2)

    def now(self) -> datetime:
        """The server's time, in whole seconds as its log has it."""
        said = self.mariadb.run("SELECT unix_timestamp();")
        return datetime.fromtimestamp(int(said), UTC)


@dataclass
class Warehouse:
    """What Weir makes of the topics: in this process, and by its commands."""

    lake: Lake
    feed: Feed
    place: Path

    @classmethod
    def of(cls, capture: OfMariaDb, place: Path) -> Warehouse:
        feeds = place / "feeds"
        feeds.mkdir()
        text = FEED.format(address=capture.broker.address, item=ITEM, visit=VISIT)
        (feeds / "maria.yaml").write_text(text)
        (feed,) = load_feeds(feeds)
        return cls(lake_of(str(place / "warehouse")).by(IN_PROCESS), feed, place)

    def bring(self) -> None:
        run(self.lake, decisions.with_recorded(self.lake, self.feed))

    def told(self) -> tuple[Derived, str]:
        """What the checks of silver find in what has come, with all that they show."""
        feed = decisions.with_recorded(self.lake, self.feed)
        from_topics.land(self.lake, feed, lambda _: None)
        windows = progress.unfinished(self.lake, feed, ledger.read_objects(self.lake, feed))
        made = derive.derive(self.lake, feed, windows)
        return made, "\n".join(map(str, checks.samples(self.lake, made.findings).values()))

    def rows(self, table: str, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
        stored = self.lake.in_process_table(Layer.GOLD, "maria", table)
        known = [name for name in names if name in stored.schema.names]
        found = [tuple(row.get(name) for name in names) for row in stored.rows(known)]
        return sorted(found, key=str)

    def open_epoch(self, moment: datetime) -> None:
        """Say by the command that positions begin again then, with a snapshot of all rows."""
        window = f"{moment:%Y-%m-%dT%H}"
        asked = ("--window", window, "--time", f"{moment:%Y-%m-%dT%H:%M:%S}")
        self.decide("epoch", "open", "maria", *asked, "--snapshot", "complete")

    def decide(self, *words: str) -> None:
        """Record a decision by its command."""
        done = self.weir(*words, "--yes")
        assert done.returncode == 0, done.stdout + done.stderr

    def weir(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command as a person would; it is in no history of runs."""
        return subprocess.run(
            [str(Path(sys.executable).parent / "weir"), *words, *PLACE],
            cwd=self.place,
            env={**os.environ, "DAGSTER_HOME": ""},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


@pytest.fixture
def capture(request: pytest.FixtureRequest, broker: Broker, tmp_path: Path) -> Iterator[OfMariaDb]:
    version, release = request.param
    folder = tmp_path / "debezium"
    folder.mkdir()
    for topic in (ITEM, VISIT):
        broker.create(topic)
    with new_mariadb(version) as mariadb:
        mariadb.run(TABLES)
        yield OfMariaDb(broker, folder, mariadb, MARIADB[release], version == DEBIANS)


@pytest.mark.parametrize("capture", [OLD_SERVER, NEW_SERVER], indirect=True, ids=" ".join)
def test_gold_is_the_database_whatever_is_lost(capture: OfMariaDb, tmp_path: Path) -> None:
    warehouse = Warehouse.of(capture, tmp_path)

    def assert_right() -> None:
        warehouse.bring()
        assert_is_database(warehouse, capture.mariadb)

    with capture.running() as connector:
        wait_until(lambda: bool(capture.snapshots()), connector)
        capture.change(100)
        capture.mariadb.run(OF_EQUAL_IMAGES)
        capture.wait_for_end(connector)
    made, _ = warehouse.told()
    if capture.names_each_place:
        assert made.violations["no_event_twice"] == 0
        assert_right()
    else:
        # One of three equal rows without a key passes for a repeat, until a snapshot says better.
        assert made.violations["no_event_twice"] == 1
        warehouse.bring()
        assert_is_database(warehouse, capture.mariadb, "item")
    # The log is purged of changes that nobody has read; the connector begins anew under writes.
    capture.change(300)
    capture.purge()
    capture.forget()
    with capture.running() as connector:
        capture.wait_for_snapshots(2, connector)
        assert_right()
        capture.asks("blocking")
        capture.wait_for_snapshots(3, connector)
        assert_right()
        # Changes that are in no log, and an incremental snapshot under writes, which brings them.
        capture.mariadb.run("SET sql_log_bin = 0; UPDATE shop.item SET n = -1 WHERE id < 60;")
        with capture.changing():
            capture.asks("incremental")
            wait_until(capture.is_quiet(4), connector)
        capture.wait_for_end(connector)
        assert_right()
        # A column with a default, which rows have that are in no event since.
        capture.mariadb.run("ALTER TABLE shop.item ADD COLUMN kind varchar(20) DEFAULT 'plain';")
        capture.change(20)
        capture.wait_for_end(connector)
        assert_right()
        # The worker is killed in the middle of a transaction, and sends a part of it again.
        capture.mariadb.run(
            "USE shop; BEGIN; UPDATE item SET n = n + 1, kind = 'one';"
            " UPDATE item SET n = n - 1; UPDATE item SET n = n + 1; COMMIT;"
        )
        os.killpg(connector.process.pid, signal.SIGKILL)
    with capture.running() as connector:
        capture.wait_for_end(connector)
        assert_right()
        # Events that the server compresses are left out without a word; a snapshot heals.
        written = len(capture.written())
        capture.mariadb.run("SET GLOBAL log_bin_compress = ON, log_bin_compress_min_len = 10;")
        capture.mariadb.run("UPDATE shop.item SET name = repeat('long ', 30) WHERE id < 60;")
        capture.mariadb.run("SET GLOBAL log_bin_compress = OFF;")
        capture.wait_for_end(connector)
        assert len(capture.written()) == written + 1
        capture.asks("blocking")
        capture.wait_for_snapshots(4, connector)
        assert_right()
    # The log begins again.
    capture.mariadb.run("RESET MASTER;")
    time.sleep(1.1)
    began = capture.now()
    capture.forget()
    with capture.running() as connector:
        capture.wait_for_snapshots(5, connector)
    stopped = warehouse.weir("run")
    assert stopped.returncode == 1
    assert "gold.maria was left as it was" in stopped.stdout
    assert "`weir epoch open maria --window WINDOW --time TIME`" in stopped.stdout
    warehouse.open_epoch(began)
    healed = warehouse.weir("run")
    assert healed.returncode == 0, healed.stdout + healed.stderr
    assert_is_database(warehouse, capture.mariadb)


@pytest.mark.parametrize("capture", [(VERSION_OF_JAR, "3.3.0.Final")], indirect=True, ids=" ".join)
def test_a_snapshot_amid_changes_without_a_place_is_told_and_heals_in_an_epoch(
    capture: OfMariaDb, tmp_path: Path
) -> None:
    warehouse = Warehouse.of(capture, tmp_path)
    with capture.running() as connector:
        wait_until(lambda: bool(capture.snapshots()), connector)
        capture.change(100)
        capture.mariadb.run(OF_EQUAL_IMAGES)
        capture.wait_for_end(connector)
    made, _ = warehouse.told()
    assert made.violations["snapshots_are_in_order"] == 0
    assert made.violations["rows_without_key_count_once"] == 4
    warehouse.bring()
    assert_is_database(warehouse, capture.mariadb)
    # Changes are lost with their log files: the snapshot stands in a new file, behind all that the stream has told.
    capture.change(300)
    capture.purge()
    capture.forget()
    with capture.running() as connector:
        capture.wait_for_snapshots(2, connector)
        assert warehouse.told()[0].violations["snapshots_are_in_order"] == 0
        warehouse.bring()
        assert_is_database(warehouse, capture.mariadb)
        capture.change(50)
        capture.wait_for_end(connector)
    # They are lost, and the log goes on in the same file.
    capture.change(300)
    capture.forget()
    time.sleep(1.1)
    began = capture.now()
    with capture.running() as connector:
        capture.wait_for_snapshots(3, connector)
    made, said = warehouse.told()
    # The lines that are shown are those to type, one for each table that had changes in the file.
    lines = re.findall(r"`weir (epoch open maria --table shop[^`]*)`", said)
    assert lines
    assert made.violations["snapshots_are_in_order"] == len(lines)
    for line in lines:
        warehouse.decide(*line.replace("TIME", f"{began:%Y-%m-%dT%H:%M:%S}").split())
    made, _ = warehouse.told()
    assert made.violations["snapshots_are_in_order"] == 0
    warehouse.bring()
    assert_is_database(warehouse, capture.mariadb)


def assert_is_database(warehouse: Warehouse, mariadb: MariaDb, *tables: str) -> None:
    """Gold is what the database holds, in these tables or in all."""
    for table in tables or COLUMNS:
        names = COLUMNS[table]
        assert warehouse.rows(table, names) == in_mariadb(mariadb, table, names)


def in_mariadb(mariadb: MariaDb, table: str, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    known = mariadb.run(
        "SELECT column_name FROM information_schema.columns"
        f" WHERE table_schema = 'shop' AND table_name = '{table}';"
    ).split()
    shown = ", ".join(name if name in known else "NULL" for name in names)
    lines = mariadb.run(f"SELECT json_array({shown}) FROM shop.{table};")
    return sorted((tuple(json.loads(line)) for line in lines.splitlines()), key=str)
