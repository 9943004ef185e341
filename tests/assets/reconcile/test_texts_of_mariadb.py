"""What a real MariaDB says of single values, where the plain way to ask says something else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from assets.reconcile import mysql
from assets.reconcile.mysql import MySqlSnapshot, MySqlSource
from assets.reconcile.sql_table import SqlTable
from assets.source.database import Address, Password
from tests.services.mariadb import PASSWORD, USER, VERSION_OF_JAR, MariaDb, new_mariadb
from transforms.errors import UnreadableSource
from transforms.feed.names import StreamName
from transforms.reconcile.ranges import Incomparable
from transforms.reconcile.row_texts import Declared, columns_of
from transforms.reconcile.table_names import TableName

pytestmark = pytest.mark.services

TABLES = """
CREATE DATABASE odd CHARACTER SET utf8mb4;
USE odd;
CREATE TABLE item(
    id int(6) ZEROFILL PRIMARY KEY, big bigint ZEROFILL, pay decimal(8,2) ZEROFILL, made year);
INSERT INTO item VALUES (42, 18446744073709551615, 1.5, '0000');
CREATE TABLE story(id int PRIMARY KEY, one longtext, two longtext);
INSERT INTO story VALUES (1, repeat('x', 9000000), repeat('y', 9000000));
CREATE TABLE old(id varchar(20) CHARACTER SET latin1 COLLATE latin1_german1_ci PRIMARY KEY);
INSERT INTO old SELECT 'é' UNION SELECT '?' UNION SELECT concat('x', seq) FROM seq_1_to_2000;
CREATE TABLE loose(id int UNIQUE);
INSERT INTO loose VALUES (1), (NULL), (NULL);
CREATE TABLE closed(id int PRIMARY KEY, n int);
CREATE USER clerk IDENTIFIED BY 'clerk';
GRANT BINLOG MONITOR ON *.* TO clerk;
GRANT SELECT ON item TO clerk;
GRANT SELECT (id) ON closed TO clerk;
"""
ITEM = {"id": "int", "big": "string", "pay": "decimal(8,2)", "made": "int"}
STORY = {"id": "int", "one": "string", "two": "string"}


@pytest.fixture
def odd() -> Iterator[MariaDb]:
    """A server with odd values."""
    with new_mariadb(VERSION_OF_JAR) as server:
        server.run(TABLES)
        yield server


def source(server: MariaDb, user: str = USER, password: str = PASSWORD) -> MySqlSource:
    address = Address("mysql", "127.0.0.1", server.port, "odd", user, Password(password))
    return MySqlSource("shop", address)


def table_of(snapshot: MySqlSnapshot, name: str, gold: dict[str, str]) -> SqlTable:
    """A table within a snapshot, compared by its column ``id``."""
    declared = {column: Declared(kind) for column, kind in gold.items()}
    table = TableName("odd", name)
    return snapshot.table(table, columns_of(declared, ["id"], snapshot.columns_of(table), {}))


@contextmanager
def asked(server: MariaDb, name: str, gold: dict[str, str]) -> Iterator[SqlTable]:
    """The same, in a snapshot of its own."""
    with source(server).snapshot() as snapshot:
        yield table_of(snapshot, name, gold)


def test_numbers_have_no_zeros_in_front(odd: MariaDb) -> None:
    with asked(odd, "item", ITEM) as table:
        (row,) = table.rows_of([("42",)]).values()
    assert row == {"id": "42", "big": "18446744073709551615", "pay": "1.5", "made": "0"}


def test_a_text_that_the_server_cuts_off_is_an_error(odd: MariaDb) -> None:
    with (
        pytest.raises(UnreadableSource, match="larger than max_allowed_packet"),
        asked(odd, "story", STORY) as table,
    ):
        table.digests([(None, None)])


def test_a_key_with_a_sign_that_the_column_lacks_is_no_row_of_it(odd: MariaDb) -> None:
    with asked(odd, "old", {"id": "string"}) as table:
        found = table.rows_of([("é",), ("☃",), ("?",), ("x\x00",)])
        assert [*found] == [("é",), ("?",)]
        # What is looked up is in the column's own signs, so that its index serves.
        wanted = table.sql.wanted(table.columns.key[0])
        table.cursor.execute(f"EXPLAIN SELECT id FROM odd.old WHERE id IN ({wanted})", ["é"])
        assert table.cursor.fetchone()[5] == "PRIMARY"


def test_rows_without_a_key_are_counted_and_in_no_range(odd: MariaDb) -> None:
    with asked(odd, "loose", {"id": "int"}) as table:
        assert table.without_key(None, None) == 2
        assert [[one.rows for one in some] for some in table.digests([(None, None)])] == [[1]]


def test_a_question_that_is_refused_leaves_the_snapshot_as_it_was(odd: MariaDb) -> None:
    with source(odd).snapshot() as snapshot:
        story = table_of(snapshot, "story", STORY)
        odd.run("INSERT INTO odd.item(id) VALUES (43)")
        with pytest.raises(Incomparable, match="larger than max_allowed_packet"), snapshot.apart():
            story.digests([(None, None)])
        assert [*table_of(snapshot, "item", ITEM).rows_of([("42",), ("43",)])] == [("42",)]
    with source(odd, "clerk", "clerk").snapshot() as snapshot:
        closed = table_of(snapshot, "closed", {"id": "int"})
        assert closed.rows_of([("1",)]) == {}
        with pytest.raises(Incomparable, match="GRANT SELECT on it"), snapshot.apart():
            snapshot.cursor.execute("SELECT n FROM odd.closed")
        assert [*table_of(snapshot, "item", ITEM).rows_of([("42",)])] == [("42",)]


def test_a_network_that_is_dead_is_an_error_in_the_end(
    odd: MariaDb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mysql, "READ_SECONDS", 1)
    with (
        pytest.raises(UnreadableSource, match="timed out"),
        source(odd).snapshot() as snapshot,
        snapshot.apart(),
    ):
        snapshot.cursor.execute("SELECT sleep(30)")


@pytest.mark.parametrize("are_one", [False, True])
def test_capitals_count_in_names_as_the_server_takes_them(*, are_one: bool) -> None:
    with new_mariadb(VERSION_OF_JAR, **{"lower-case-table-names": str(int(are_one))}) as server:
        server.run("CREATE DATABASE odd; CREATE TABLE odd.item(id int PRIMARY KEY)")
        asked = [StreamName(None, "odd", "ITEM"), StreamName(None, "Odd", "item")]
        with source(server).snapshot() as snapshot:
            found = snapshot.tables(asked)
    # Where they do, what the changes call so is gone, and the other table is no copy of it.
    assert found == dict.fromkeys(asked, [TableName("odd", "item")] if are_one else [])
