"""Gold compared, over and over, with a Postgres that is written all the while; at the end with faults planted in it.

``python -m tests.assets.reconcile.soak --minutes 60`` tells its numbers in a line each minute. Two clients write; what
the server's own logical decoding says lands as Debezium would write it, and is brought to gold as fast as it goes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import psycopg2

from assets.reconcile.compare import Ask, Compared, reconciled
from assets.reconcile.postgres import PostgresSource
from assets.source.database import address_of
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.services.postgres import DATABASE, USER, Postgres, programs, running_postgres
from tests.support.bringing import run

ROWS: Final = 20_000
WRITTEN: Final = range(1, 15_001)
"""The keys that clients write; faults are planted among the others, so that no later write heals them."""

RATE: Final = 200
"""Writes a second."""

SLOT: Final = "soak"

TABLES: Final = f"""
CREATE SCHEMA shop;
CREATE TABLE shop.item(id int PRIMARY KEY, name text, n int, pay numeric(14,2), seen timestamptz);
CREATE TABLE shop.line(house text, item int, n int, PRIMARY KEY(house, item));
SELECT pg_create_logical_replication_slot('{SLOT}', 'test_decoding');
INSERT INTO shop.item SELECT i, 'name ' || i, i, i / 100.0, now() FROM generate_series(1, {ROWS}) i;
INSERT INTO shop.line SELECT 'h' || h, i, h FROM generate_series(1, 40) h, generate_series(1, 100) i;
"""

FEED: Final = """
format: debezium
landing: {folder}/landing
source: postgresql://127.0.0.1:{port}/{database}
tables:
  item: {{key: [id], columns: {{id: int, name: string, n: int, pay: "decimal(10,2)", seen: timestamp}}}}
  line: {{key: [house, item], columns: {{house: string, item: int, n: int}}}}
"""

PLANTED: Final = {"missing": 10, "extra": 10, "column": 10, "stale": 10, "type": 10}
FAULTS: Final = f"""
INSERT INTO shop.item SELECT i, 'lost', i, 1, now() FROM generate_series({ROWS + 1}, {ROWS + 10}) i;
DELETE FROM shop.item WHERE id BETWEEN 16001 AND 16010;
UPDATE shop.item SET n = -1 WHERE id BETWEEN 17001 AND 17010;
UPDATE shop.item SET name = 'other', n = -2 WHERE id BETWEEN 18001 AND 18010;
UPDATE shop.item SET pay = 123456789012 WHERE id BETWEEN 19001 AND 19010;
"""
"""What no event tells of: ten of each kind."""

_CHANGE: Final = re.compile(r"table shop\.(\w+): (INSERT|UPDATE|DELETE): (.*)\Z", re.DOTALL)
_COLUMN: Final = re.compile(r"(\w+)\[([^\]]+)\]:('(?:[^']|'')*'|\S+)")


@dataclass(slots=True)
class Found:
    """What the comparisons have found, of all tables together."""

    comparisons: int = 0
    rows: int = 0
    caught_up: int = 0
    behind: int = 0
    different: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, tables: list[Compared], seconds: float) -> None:
        """Count one comparison."""
        self.comparisons += 1
        self.seconds.append(seconds)
        for one in tables:
            assert one.reason is None, one.reason
            assert one.columns is not None and not one.columns.left_out
            self.rows += one.in_source
            self.caught_up += one.caught_up
            self.behind += len(one.behind)
            self.different += [f"{one.table} {each}" for each in one.different]


class Soak:
    """A Postgres, the clients that write it, and the warehouse that its changes are brought to."""

    def __init__(self, server: Postgres, folder: Path) -> None:
        self.server, self.folder = server, folder
        (folder / "feeds").mkdir()
        self.file = folder / "feeds" / "shop.yaml"
        self.file.write_text(FEED.format(folder=folder, port=server.port, database=DATABASE))
        self.lake = lake_of(str(folder / "warehouse")).by("in-process")
        self.writes = self.events = self.brought = 0
        self.failed: list[BaseException] = []
        self._lost = frozenset[str]()
        self._last_commit = 0
        self._ends = threading.Event()
        server.run(TABLES)

    def connected(self) -> Any:
        """A connection; its statements are each a transaction."""
        there = {"host": "127.0.0.1", "port": self.server.port, "dbname": DATABASE, "user": USER}
        connection = psycopg2.connect(**there)
        connection.autocommit = True
        return connection

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Clients write, and what they write comes to gold, until the end of the block."""
        self._bring()
        work = [
            (self._write_one_by_one, RATE * 3 // 4),
            (self._write_slowly, RATE // 4),
            (self._bring_always, 0),
        ]
        threads = [threading.Thread(target=self._guarded, args=one) for one in work]
        for one in threads:
            one.start()
        try:
            yield
        finally:
            self._ends.set()
            for one in threads:
                one.join()

    def plant(self) -> None:
        """Change rows in a transaction that the stream will lack."""
        with closing(self.connected()) as connection, connection.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT txid_current()")
            self._lost |= {str(cursor.fetchone()[0])}
            cursor.execute(FAULTS)
            cursor.execute("COMMIT")

    def compared(self, found: Found) -> Counter[str]:
        """Compare once; the kinds of what differs."""
        feed = load_feed(self.file)
        began = time.monotonic()
        made = reconciled(self.lake, feed, PostgresSource("shop", address_of(feed)), Ask(wait=600))
        found.add([*made.tables], time.monotonic() - began)
        return Counter(each.kind for one in made.tables for each in one.different)

    # What goes on meanwhile, each in a thread of its own.

    def _guarded(self, work: Any, rate: int) -> None:
        try:
            work(rate)
        except BaseException as fault:
            self.failed.append(fault)
            raise

    def _paced(self, rate: float) -> Iterator[int]:
        """Numbers, so many a second."""
        began, number = time.monotonic(), 0
        while not self._ends.is_set():
            late = number / rate - (time.monotonic() - began)
            if late > 0:
                self._ends.wait(late)
            yield number
            number += 1

    def _write_one_by_one(self, rate: int) -> None:
        """Writes that are each a transaction: mostly updates, and keys that go and come."""
        chance = random.Random(1)
        with closing(self.connected()) as connection, connection.cursor() as cursor:
            for number in self._paced(rate):
                key, kind = chance.choice(WRITTEN), chance.random()
                if kind < 0.7:
                    cursor.execute(
                        "UPDATE shop.item SET n = %s, seen = clock_timestamp() WHERE id = %s",
                        (number, key),
                    )
                elif kind < 0.85:
                    cursor.execute("DELETE FROM shop.item WHERE id = %s", (key,))
                else:
                    cursor.execute(
                        "INSERT INTO shop.item VALUES (%s, %s, %s, %s, clock_timestamp())"
                        " ON CONFLICT (id) DO UPDATE SET name = excluded.name, pay = excluded.pay",
                        (key, f"new {number}", number, number / 100),
                    )
                self.writes += 1

    def _write_slowly(self, rate: int) -> None:
        """Transactions of many writes to both tables, which stay open while others begin and end."""
        chance, writes = random.Random(2), 50
        with closing(self.connected()) as connection, connection.cursor() as cursor:
            for number in self._paced(rate / writes):
                cursor.execute("BEGIN")
                # In the order of keys, so that the two clients never wait for each other.
                for key in sorted(chance.sample(range(1, 101), writes // 2)):
                    house = f"h{chance.randint(1, 40)}"
                    cursor.execute(
                        "UPDATE shop.line SET n = %s WHERE house = %s AND item = %s",
                        (number, house, key),
                    )
                    self._ends.wait(0.01)
                for key in sorted(chance.sample(WRITTEN, writes // 2)):
                    cursor.execute("UPDATE shop.item SET n = -n WHERE id = %s", (key,))
                cursor.execute("COMMIT")
                self.writes += writes

    def _bring_always(self, _: int) -> None:
        while not self._ends.is_set():
            self._bring()
            self._ends.wait(0.5)

    def _bring(self) -> None:
        """What the server has decoded since the last time lands, and goes to gold."""
        lines = [*self._decoded()]
        if lines:
            # An hour's window for each few batches, as an hour's window is derived as a whole.
            hour = datetime(2025, 11, 1) + timedelta(hours=self.brought // 5)
            folder = self.folder / "landing" / f"{hour:%Y-%m-%d/%H}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{self.brought:08}.jsonl").write_text("\n".join(lines) + "\n")
            run(self.lake, load_feed(self.file))
            self.brought += 1

    def _decoded(self) -> Iterator[str]:
        """Changes as Debezium writes them, in the order of their commits."""
        changes = f"pg_logical_slot_get_changes('{SLOT}', NULL, NULL)"
        question = f"SELECT (lsn - '0/0')::bigint, xid::text, data FROM {changes}"
        with closing(self.connected()) as connection, connection.cursor() as cursor:
            cursor.execute(question)
            for place, transaction, said in cursor.fetchall():
                if said.startswith("COMMIT"):
                    self._last_commit = place
                change = _CHANGE.match(said)
                if change is None or transaction in self._lost:
                    continue
                self.events += 1
                row = {name: _value(kind, text) for name, kind, text in _COLUMN.findall(change[3])}
                is_delete = change[2] == "DELETE"
                source = {
                    **{"connector": "postgresql", "db": DATABASE, "schema": "shop"},
                    **{"table": change[1], "lsn": place, "ts_ms": 1_790_000_000_000},
                    "sequence": json.dumps([str(self._last_commit), str(place)]),
                }
                value = {
                    "op": "d" if is_delete else change[2][0].lower().replace("i", "c"),
                    "source": source,
                    "before": row if is_delete else None,
                    "after": None if is_delete else row,
                }
                key = {name: row[name] for name in ("id", "house", "item") if name in row}
                yield json.dumps(
                    {"topic": f"db.shop.{change[1]}", "partition": 0, "offset": self.events}
                    | {"key": key, "value": value}
                )


def _value(kind: str, text: str) -> Any:
    """A value as Debezium sends it, of what ``test_decoding`` writes."""
    if text == "null":
        return None
    if kind == "integer":
        return int(text)
    plain = text[1:-1].replace("''", "'") if text.startswith("'") else text
    # With an offset of hours alone: 2026-11-29 20:50:00.123456+00.
    return f"{plain[:10]}T{plain[11:-3]}Z" if kind == "timestamp with time zone" else plain


def soak(server: Postgres, folder: Path, minutes: float) -> tuple[Soak, Found, Counter[str]]:
    """Compare for so many minutes, then with faults planted; what was found before, and which kinds after."""
    made, found = Soak(server, folder), Found()
    with made.at_work():
        began, told = time.monotonic(), 0.0
        while time.monotonic() < began + 60 * minutes and not made.failed:
            made.compared(found)
            if time.monotonic() >= told + 60:
                told = time.monotonic()
                print(line(made, found, told - began), flush=True)
        ended = time.monotonic()
        print(line(made, found, ended - began), flush=True)
        made.plant()
        kinds = made.compared(Found())
    assert not made.failed, made.failed
    return made, found, kinds


def line(made: Soak, found: Found, seconds: float) -> str:
    """The numbers so far."""
    return (
        f"{seconds:,.0f} s: {made.writes:,} writes ({made.writes / seconds:.0f}/s), {made.events:,} events brought"
        f" in {made.brought:,} batches; {found.comparisons:,} comparisons of {found.rows:,} rows, the longest"
        f" {max(found.seconds):.1f} s: {len(found.different):,} different, {found.caught_up:,} caught up,"
        f" {found.behind:,} behind"
    )


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    minutes = parser.parse_args().minutes
    os.environ["WEIR_SOURCE_USERNAME"] = USER
    there = programs()
    if there is None:
        raise SystemExit("no Postgres on this machine")
    with (
        tempfile.TemporaryDirectory(prefix="weir-postgres-", ignore_cleanup_errors=True) as data,
        tempfile.TemporaryDirectory(prefix="weir-soak-") as folder,
        running_postgres(Path(data), there) as server,
    ):
        _, found, kinds = soak(server, Path(folder), minutes)
    print(f"before faults were planted: {len(found.different)} different; after: {dict(kinds)}")
    if found.different or kinds != PLANTED:
        raise SystemExit("\n".join(["not as it should be", *found.different[:20]]))


if __name__ == "__main__":
    main()
