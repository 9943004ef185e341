"""Tables of a real MariaDB of which some could be taken for others, or may not be read: the others are compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assets.executors.choice import IN_PROCESS
from tests.assets.reconcile.named_tables import TABLE, Named
from tests.services.mariadb import VERSION_OF_JAR, MariaDb, new_mariadb

pytestmark = [
    pytest.mark.services,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

TABLES = """
CREATE DATABASE shop;
CREATE DATABASE other;
CREATE TABLE shop.`a.b`(id int PRIMARY KEY, n int);
CREATE TABLE shop.b(id int PRIMARY KEY, n int);
CREATE TABLE shop.closed(id int PRIMARY KEY, n int);
CREATE TABLE shop.orders(id int PRIMARY KEY, n int);
CREATE TABLE other.orders(id int PRIMARY KEY, n int);
CREATE TABLE shop.plain(id int PRIMARY KEY, n int);
INSERT INTO shop.`a.b` VALUES (1, 1), (2, 2);
INSERT INTO shop.b VALUES (1, 10), (2, 20);
INSERT INTO shop.closed VALUES (1, 1), (2, 2);
INSERT INTO shop.orders VALUES (1, 1), (2, 2);
INSERT INTO shop.plain VALUES (1, 1), (2, 2);
CREATE USER clerk IDENTIFIED BY 'clerk';
GRANT BINLOG MONITOR ON *.* TO clerk;
GRANT SELECT ON shop.* TO clerk;
GRANT SELECT ON other.* TO clerk;
"""
FEED = f"unwrapped: drop\ntables:\n  a.b: {TABLE}\n" + "".join(
    f"  {name}: {TABLE}\n" for name in ("closed", "orders", "plain")
)


def called(table: str) -> dict[str, Any]:
    """What a change of a table says of it and of its place in the log."""
    names = {"connector": "mysql", "db": "shop", "table": table}
    return names | {"file": "log.000001", "pos": 4, "row": 0, "ts_ms": 1_790_000_000_000}


@pytest.fixture
def server() -> Iterator[MariaDb]:
    """A server with these tables."""
    with new_mariadb(VERSION_OF_JAR) as made:
        made.run(TABLES)
        yield made


@pytest.fixture
def shop(server: MariaDb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Named:
    """All rows of the tables in gold; who asks may read all of it but what the test takes away."""
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", "clerk")
    monkeypatch.setenv("WEIR_SOURCE_PASSWORD", "clerk")
    monkeypatch.setenv("WEIR_EXECUTOR", IN_PROCESS)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    made = Named(tmp_path, f"mariadb://127.0.0.1:{server.port}/shop")
    made.declare(FEED)
    for table in ("a.b", "closed", "plain"):
        made.land_changes(called(table), {1: 1, 2: 2})
    for number in (1, 2):
        record = {"topic": "orders", "partition": 0, "offset": number, "key": {"id": number}}
        made.land(record | {"value": {"id": number, "n": number, "__op": "c"}})
    made.bring()
    return made


def test_the_right_table_is_compared_or_none_and_one_that_is_refused_leaves_the_others(
    shop: Named, server: MariaDb, capsys: pytest.CaptureFixture[str]
) -> None:
    # It may be written and is there to be seen, but not to be read.
    server.run("REVOKE SELECT ON shop.* FROM clerk")
    for table in ("`a.b`", "b", "orders", "plain"):
        server.run(f"GRANT SELECT ON shop.{table} TO clerk")
    server.run("GRANT INSERT ON shop.closed TO clerk")
    code, found = shop.told(capsys)
    assert code == 2
    reasons = {name: one.pop("reason") for name, one in found.items() if "reason" in one}
    assert reasons == {
        "closed": "the source refuses: SELECT command denied to user 'clerk'@'127.0.0.1' for table `shop`.`closed`."
        " GRANT SELECT on it to the user",
        "orders": "its changes call it orders; the source has other.orders and shop.orders, and nothing says which"
        " table is meant: no name in the feed file tells other.orders or shop.orders apart, so let its changes name the"
        " schema, as in topics that are called `<prefix>.<schema>.<table>`",
    }
    assert {one["state"] for one in found.values()} == {"same", "not compared"}
    assert found["b"]["state"] == found["plain"]["state"] == "same"
    server.run("DROP TABLE other.orders")
    code, found = shop.told(capsys, "--table", "orders", "--table", "b")
    assert (code, {one["state"] for one in found.values()}) == (0, {"same"})
