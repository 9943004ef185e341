"""Tables of a real Postgres that could be taken for each other by their names: the right one is compared, or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assets.executors.choice import IN_PROCESS
from tests.assets.reconcile.named_tables import TABLE, Named
from tests.services.postgres import DATABASE, USER, Postgres, postgres
from tests.support.commands_here import weir

__all__ = ["postgres"]

# Dagster's own, in the run that brings a repair to gold.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TABLES = """
DROP SCHEMA IF EXISTS shop CASCADE;
DROP SCHEMA IF EXISTS other CASCADE;
DROP SCHEMA IF EXISTS a CASCADE;
DROP SCHEMA IF EXISTS "shop.a" CASCADE;
CREATE SCHEMA shop;
CREATE SCHEMA other;
CREATE SCHEMA a;
CREATE SCHEMA "shop.a";
CREATE TABLE shop."a.b"(id int PRIMARY KEY, n int);
CREATE TABLE shop.b(id int PRIMARY KEY, n int);
CREATE TABLE a.b(id int PRIMARY KEY, n int);
CREATE TABLE "shop.a".b(id int PRIMARY KEY, n int);
CREATE TABLE shop.orders(id int PRIMARY KEY, n int);
CREATE TABLE other.orders(id int PRIMARY KEY, n int);
CREATE VIEW a.orders AS SELECT * FROM shop.orders;
CREATE TABLE other."postgres.a.b"(id int PRIMARY KEY, n int);
INSERT INTO shop."a.b" VALUES (1, 1), (2, 2);
INSERT INTO shop.b VALUES (1, 10), (2, 20);
INSERT INTO a.b VALUES (1, 100), (2, 200);
INSERT INTO "shop.a".b VALUES (1, 1000), (2, 2000);
INSERT INTO shop.orders VALUES (1, 1), (2, 2);
"""
GONE = "".join(f'DROP SCHEMA "{name}" CASCADE;' for name in ("shop", "other", "a", "shop.a"))
ID = {"type": "struct", "fields": [{"field": "id", "type": "int32", "optional": False}]}
ROW = {
    "type": "struct",
    "fields": [{"field": name, "type": "int32", "optional": name != "id"} for name in ("id", "n")],
}
ENVELOPE = {
    "type": "struct",
    "fields": [{"field": name, "optional": True, **ROW} for name in ("before", "after")],
}


def called(schema: str, table: str, lsn: int = 1) -> dict[str, Any]:
    """What a change of a table says of it and of its place in the log."""
    names = {"connector": "postgresql", "db": DATABASE, "schema": schema, "table": table}
    return names | {"lsn": lsn, "ts_ms": 1_790_000_000_000}


def land_described(shop: Named, schema: str, table: str, rows: dict[int, int]) -> None:
    """Inserts whose records say what the table's columns and its key are."""
    for number, n in rows.items():
        payload: dict[str, Any] = {"op": "c", "before": None, "after": {"id": number, "n": n}}
        payload["source"] = called(schema, table)
        value = {"schema": ENVELOPE, "payload": payload}
        key = {"schema": ID, "payload": {"id": number}}
        place = {"topic": f"{schema}/{table}", "partition": 0, "offset": number}
        shop.land(place | {"key": key, "value": value})


@pytest.fixture
def shop(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Named]:
    """The tables, and no feed yet."""
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", USER)
    monkeypatch.setenv("WEIR_EXECUTOR", IN_PROCESS)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    postgres.run(TABLES)
    yield Named(tmp_path, f"postgresql://127.0.0.1:{postgres.port}/{DATABASE}")
    postgres.run(GONE)


def test_a_declared_name_with_a_dot_is_the_tables_own_and_is_repaired(
    shop: Named, postgres: Postgres, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.declare(f"tables:\n  a.b: {TABLE}\n")
    shop.land_changes(called("shop", "a.b"), {1: 1, 2: 2})
    shop.bring()
    assert shop.gold("b") == {1: 1, 2: 2}
    code, found = shop.told(capsys)
    assert (code, found["b"]["state"]) == (0, "same")

    # What is lost in it is read again in it, and stands in gold as a row of it.
    postgres.run('UPDATE shop."a.b" SET n = 7 WHERE id = 2')
    shop.land_changes(called("shop", "a.b", 1 << 40), {3: 3})
    shop.bring()
    code, found = shop.told(capsys, "--repair", "--yes", "--reason", "lost")
    # Of key 3 the change stands behind the source's log.
    assert code == 1
    assert shop.gold("b") == {1: 1, 2: 7, 3: 3}
    code, found = shop.told(capsys)
    assert [one["key"] for one in found["b"]["different"]] == [["3"]]
    assert weir("verify", "shop", *shop.place) == 0

    postgres.run('DROP TABLE shop."a.b"')
    code, found = shop.told(capsys)
    assert code == 2
    assert found["b"]["reason"].startswith('the source has no table shop."a.b" that its user may')


def test_a_declared_name_with_a_dot_is_schema_and_table_where_changes_say_so(
    shop: Named, postgres: Postgres, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.declare(f"tables:\n  a.b: {TABLE}\n")
    shop.land_changes(called("a", "b"), {1: 100, 2: 200})
    shop.bring()
    code, found = shop.told(capsys)
    assert (code, found["b"]["state"]) == (0, "same")
    postgres.run("DROP TABLE a.b")
    code, found = shop.told(capsys)
    assert code == 2
    assert found["b"]["reason"].startswith("the source has no table a.b that its user may")


def test_a_name_with_a_dot_that_the_stream_describes_is_told_by_golds_name(
    shop: Named, postgres: Postgres, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.declare("table_names: schema\n")
    rows = {"shop.a": ("b", {1: 1000, 2: 2000}), "shop": ("a.b", {1: 1, 2: 2})}
    for schema, (table, numbers) in rows.items():
        land_described(shop, schema, table, numbers)
    shop.bring()
    # Both have one whole name, by which nothing could tell them apart.
    assert shop.gold("shop.a__b") == {1: 1000, 2: 2000}
    code, found = shop.told(capsys)
    assert (code, {name: one["state"] for name, one in found.items()}) == (
        0,
        {"shop.a__b": "same", "shop__a.b": "same"},
    )


def test_changes_without_a_schema_are_of_no_table_that_two_schemas_have(
    shop: Named, postgres: Postgres, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.declare(f"unwrapped: drop\ntables:\n  orders: {TABLE}\n  shop.b: {TABLE}\n")
    for number in (1, 2):
        record = {"topic": "orders", "partition": 0, "offset": number, "key": {"id": number}}
        shop.land(record | {"value": {"id": number, "n": number, "__op": "c"}})
    shop.land_changes(called("shop", "b"), {1: 10, 2: 20})
    shop.bring()
    assert shop.gold("orders") == {1: 1, 2: 2}
    code, found = shop.told(capsys)
    assert code == 2
    assert found["orders"]["reason"] == (
        "its changes call it orders; the source has other.orders and shop.orders, and nothing says which table is"
        " meant: no name in the feed file tells other.orders or shop.orders apart, so let its changes name the schema,"
        " as in topics that are called `<prefix>.<schema>.<table>`"
    )
    assert found["b"]["state"] == "same"
    # One of them alone is meant; a view of that name is none.
    postgres.run("DROP TABLE other.orders")
    code, found = shop.told(capsys)
    assert (code, found["orders"]["state"]) == (0, "same")
    # So it is where some of its changes name the schema; of two tables they are if another one is meant by others.
    shop.land_changes(called("shop", "orders"), {3: 3})
    postgres.run("INSERT INTO shop.orders VALUES (3, 3)")
    shop.bring()
    code, found = shop.told(capsys)
    assert (code, found["orders"]["state"]) == (0, "same")
    postgres.run("ALTER TABLE shop.orders SET SCHEMA other")
    code, found = shop.told(capsys)
    assert code == 2
    assert found["orders"]["reason"] == (
        "its rows come from several tables of the source: other.orders, shop.orders"
    )


def test_files_say_which_of_two_tables_they_are_of_once_it_is_declared_whole(
    shop: Named, postgres: Postgres, capsys: pytest.CaptureFixture[str]
) -> None:
    table = TABLE.replace("{key", "{path: '**/rows/*', key")
    shop.declare(f"unwrapped: drop\ntables:\n  a.b: {table}\n")
    for number in (1, 2):
        row = {"id": number, "n": number * 100, "__op": "c", "__lsn": number}
        shop.land(row, under="rows")
    shop.bring()
    assert shop.gold("b") == {1: 100, 2: 200}
    code, found = shop.told(capsys)
    assert code == 2
    assert found["b"]["reason"].startswith(
        'its changes call it a.b; the source has a.b and shop."a.b", and nothing says which table is meant: if it is'
        f" a.b, declare it as `{DATABASE}.a.b` under `tables`; no name in the feed file tells shop"
    )
    shop.declare(f"unwrapped: drop\ntables:\n  {DATABASE}.a.b: {table}\n")
    shop.bring()
    assert weir("rebuild", "shop", *shop.place) == 0
    code, found = shop.told(capsys)
    assert (code, found["b"]["state"]) == (0, "same")


def test_a_table_that_gold_does_not_make_is_told_of_beside_those_that_are_the_same(
    shop: Named, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.declare("")
    land_described(shop, "shop", "b", {1: 10, 2: 20})
    land_described(shop, "shop", "orders", {1: 1, 2: 2})
    shop.bring()
    code, found = shop.told(capsys)
    assert (code, {name: one["state"] for name, one in found.items()}) == (
        0,
        {"b": "same", "orders": "same"},
    )
    # Another table would stand under the same name.
    land_described(shop, "other", "orders", {7: 7})
    shop.bring()
    code, found = shop.told(capsys)
    assert (code, found["b"]["state"], found["orders"]["state"]) == (2, "same", "not compared")
    assert found["orders"]["reason"].startswith("gold does not make it now: ")
    assert "other.orders" in found["orders"]["reason"]
    # Whoever asks for the other table alone is told of that one alone.
    code, found = shop.told(capsys, "--table", "b")
    assert (code, [*found]) == (0, ["b"])
    code, found = shop.told(capsys, "--table", "orders")
    assert (code, [*found]) == (2, ["orders"])
