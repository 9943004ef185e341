"""A real Postgres, captured by Debezium into a real broker, while money moves: in every cut the sum is what it was."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from assets.bronze import from_topics
from assets.control import ledger, progress
from assets.cuts import record, rows
from assets.executors.choice import IN_PROCESS
from assets.gold import apply
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from tests.services.debezium import running_connector, wait_until
from tests.services.kafka import Broker
from tests.services.postgres import Postgres, postgres
from tests.support.bank_log import GOLD
from transforms.feed.feed import Feed

__all__ = ["postgres"]

pytestmark = pytest.mark.services

TABLES = """
CREATE SCHEMA bank;
CREATE TABLE bank.checking(id int PRIMARY KEY, cents bigint NOT NULL);
CREATE TABLE bank.savings(id int PRIMARY KEY, cents bigint NOT NULL);
INSERT INTO bank.checking SELECT i, 100 FROM generate_series(1, 10) i;
INSERT INTO bank.savings SELECT i, 100 FROM generate_series(1, 10) i;
"""
ALL = 2_000
RUNS = 5


@contextmanager
def moving_money(server: Postgres) -> Iterator[None]:
    """Two clients move money between the tables all the while, several moves in a transaction."""
    is_over = False

    def work(seed: int) -> None:
        rng = Random(seed)
        while not is_over:
            moves = []
            for _ in range(rng.randint(1, 3)):
                cents, one, other = rng.randint(1, 9), rng.randint(1, 10), rng.randint(1, 10)
                moves.append(f"UPDATE bank.checking SET cents = cents - {cents} WHERE id = {one};")
                moves.append(f"UPDATE bank.savings SET cents = cents + {cents} WHERE id = {other};")
            # In one order, so that no two of them wait for each other.
            server.run(f"BEGIN; LOCK bank.checking; {' '.join(moves)} COMMIT;")

    with ThreadPoolExecutor(2) as pool:
        doing = [pool.submit(work, seed) for seed in (1, 2)]
        try:
            yield
        finally:
            is_over = True
        for one in doing:
            one.result()


def sums_of_cuts(lake: Lake, feed: Feed) -> dict[str, int]:
    """By each recorded cut, how much money there is in it."""
    known = [one for one in record.cuts_of(lake, feed.name) if one.is_reached]
    found = {}
    for cut in known:
        then = rows.lake_at(lake, known[-1])
        found[cut.text] = sum(
            row["cents"]
            for name, table in feed.tables.items()
            for row in rows.TableAt(then, feed, table, name, cut.log_position)
            .in_process()
            .to_pylist()
        )
    return found


def sum_of_gold(lake: Lake, feed: Feed) -> int:
    tables = (lake.in_process_table(Layer.GOLD, feed.name, name) for name in feed.tables)
    return sum(row["cents"] for one in tables for row in one.rows())


def test_the_sum_is_the_same_in_every_cut(
    broker: Broker, postgres: Postgres, tmp_path: Path
) -> None:
    postgres.run(TABLES)
    settings = {
        "topic.prefix": "vault",
        "slot.name": "vault",
        "schema.include.list": "bank",
        "publication.autocreate.mode": "filtered",
        "publication.name": "vault",
        "provide.transaction.metadata": "true",
    }
    topics = ("vault.bank.checking", "vault.bank.savings", "vault.transaction")
    feed = Feed("vault", "debezium", f"kafka://{broker.address}/{','.join(topics)}", tables=GOLD)
    lake = lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS)
    between_tables: list[int] = []
    with running_connector(tmp_path, broker, postgres, settings) as connector:
        with moving_money(postgres):
            wait_until(
                lambda: topics[-1] in broker.admin().list_topics(timeout=10).topics, connector
            )
            for _ in range(RUNS):
                time.sleep(1)
                between_tables.append(_run(lake, feed))
        _wait_until_all_is_read(lake, feed)
    cuts = sums_of_cuts(lake, feed)
    assert len(cuts) > 2
    assert cuts == dict.fromkeys(cuts, ALL)
    # While the second table was still to be written, gold by itself did not add up.
    assert any(one != ALL for one in between_tables)
    assert sum_of_gold(lake, feed) == ALL
    newest = record.cuts_of(lake, feed.name)[-1]
    assert (newest.held_by, newest.late_events) == ((), 0)
    assert [one.keys_ahead for one in newest.tables] == [0, 0]


def _run(lake: Lake, feed: Feed) -> int:
    """A run, table by table; what gold adds up to between its two tables. Cuts are whole all the while."""
    from_topics.land(lake, feed, lambda _: None)
    windows = progress.unfinished(lake, feed, ledger.read_objects(lake, feed))
    derive.derive(lake, feed, windows)
    first, second = feed.tables.values()
    apply.apply_tables(lake, feed, [first], windows)
    between = 0
    if lake.in_process_table(Layer.GOLD, feed.name, second.name).exists:
        between = sum_of_gold(lake, feed)
    cuts = sums_of_cuts(lake, feed)
    assert cuts == dict.fromkeys(cuts, ALL)
    apply.apply_tables(lake, feed, [second], windows)
    progress.finish(lake, feed, windows)
    record.record(lake, feed)
    cuts = sums_of_cuts(lake, feed)
    assert cuts == dict.fromkeys(cuts, ALL)
    return between


def _wait_until_all_is_read(lake: Lake, feed: Feed) -> None:
    """Until the newest cut has all that the database has."""
    deadline = time.monotonic() + 120
    while True:
        before = len(record.cuts_of(lake, feed.name))
        _run(lake, feed)
        known = record.cuts_of(lake, feed.name)
        if len(known) == before and not known[-1].held_by:
            return
        assert time.monotonic() < deadline
        time.sleep(1)
