"""A real Postgres behind a real connector: a lost change of a table at rest is found, and nothing else is called so."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from assets.cuts import record
from assets.executors.choice import IN_PROCESS
from assets.reconcile.compare import Ask, Compared, reconciled
from assets.reconcile.postgres import PostgresSource
from assets.source.database import address_of
from assets.storage.lake import Lake
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.services.debezium import running_connector, wait_until
from tests.services.kafka import Broker
from tests.services.postgres import DATABASE, USER, Postgres, postgres
from tests.support.bringing import run
from transforms.feed.feed import Feed

__all__ = ["postgres"]

pytestmark = pytest.mark.services

BUSY, QUIET, ENDS = "two.two.busy", "two.two.quiet", "two.transaction"
SETTINGS = {
    "topic.prefix": "two",
    "slot.name": "two",
    "publication.name": "two",
    "publication.autocreate.mode": "disabled",
    "schema.include.list": "two",
    "provide.transaction.metadata": "true",
}
TABLES = """
CREATE SCHEMA two;
CREATE TABLE two.busy(id int PRIMARY KEY, n int);
CREATE TABLE two.quiet(id int PRIMARY KEY, n int);
INSERT INTO two.busy SELECT i, i FROM generate_series(1, 9) i;
INSERT INTO two.quiet SELECT i, i FROM generate_series(1, 9) i;
CREATE PUBLICATION two FOR TABLE two.busy, two.quiet;
"""
LOST = """
ALTER PUBLICATION two DROP TABLE two.quiet;
UPDATE two.quiet SET n = 50 WHERE id = 5;
ALTER PUBLICATION two ADD TABLE two.quiet;
"""
"""A change that the connector is never told of."""
FEED = """\
format: debezium
landing: kafka://{broker}/{topics}
source: postgresql://127.0.0.1:{port}/{database}
{health}
tables:
  busy: {{key: [id], columns: {{id: int, n: int}}}}
  quiet: {{key: [id], columns: {{id: int, n: int}}}}
"""


@pytest.fixture
def source(postgres: Postgres) -> Iterator[Postgres]:
    postgres.run(TABLES)
    yield postgres
    postgres.run(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = 'two';"
        " DROP PUBLICATION IF EXISTS two; DROP SCHEMA two CASCADE;"
    )


@dataclass
class Two:
    """The feeds of one connector, and what compares each of them while the source and the runs go on."""

    feeds: dict[str, Feed]
    lake: Lake
    source: Postgres
    is_over: bool = False

    @contextmanager
    def going_on(self, name: str) -> Iterator[None]:
        """Clients write the busy table, and what is sent comes to gold, until the end of the block."""
        self.is_over = False
        with ThreadPoolExecutor(2) as pool:
            doing = [pool.submit(self._write), pool.submit(self._bring, self.feeds[name])]
            try:
                yield
            finally:
                self.is_over = True
            for one in doing:
                one.result()

    def _write(self) -> None:
        while not self.is_over:
            self.source.run("UPDATE two.busy SET n = n + 1 WHERE id = 2")
            time.sleep(0.2)

    def _bring(self, feed: Feed) -> None:
        while not self.is_over:
            self.bring(feed)
            time.sleep(0.5)

    def bring(self, feed: Feed) -> None:
        run(self.lake, feed)
        if record.why_none(feed) is None:
            record.record(self.lake, feed)

    def of_quiet(self, name: str, wait: float) -> Compared:
        feed = self.feeds[name]
        source = PostgresSource(name, address_of(feed))
        with self.going_on(name):
            return reconciled(self.lake, feed, source, Ask(tables=["quiet"], wait=wait)).tables[0]


def test_a_lost_change_of_a_table_at_rest_is_found_by_the_slot_or_by_the_cut(
    broker: Broker, source: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", USER)
    folder, files = tmp_path / "debezium", tmp_path / "feeds"
    folder.mkdir()
    files.mkdir()
    known = {"broker": broker.address, "port": source.port, "database": DATABASE}
    feeds = {}
    # Without the topic of transactions changes count as they come, and there is no cut.
    for name, topics, health in (
        ("by_slot", f"{BUSY},{QUIET}", "health: {slot: two}"),
        ("by_cut", f"{BUSY},{QUIET},{ENDS}", ""),
        ("by_nothing", f"{BUSY},{QUIET}", ""),
    ):
        file = files / f"{name}.yaml"
        file.write_text(FEED.format(**known, topics=topics, health=health))
        feeds[name] = load_feed(file)
    two = Two(feeds, lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS), source)
    with running_connector(folder, broker, source, SETTINGS) as connector:

        def is_sent() -> bool:
            source.run("UPDATE two.busy SET n = n + 1 WHERE id = 1")
            return {BUSY, QUIET, ENDS} <= {*broker.admin().list_topics(timeout=10).topics}

        wait_until(is_sent, connector)
        for name, feed in feeds.items():
            two.bring(feed)
            found = two.of_quiet(name, 60)
            assert (found.in_source, found.different, found.behind) == (9, [], [])
        source.run(LOST)
        for name, proof in (
            ("by_slot", "slot two, and gold has all that was sent by then"),
            ("by_cut", "the newest cut, "),
        ):
            found = two.of_quiet(name, 120)
            assert [(one.key, one.kind) for one in found.different] == [(("5",), "column")]
            assert found.judged_by.startswith(proof)
        # The busy table has come past the snapshot, and that is no proof.
        found = two.of_quiet("by_nothing", 15)
        assert (found.different, [one.key for one in found.behind]) == ([], [("5",)])
        assert "the feed file names no slot" in found.untold
