"""What a real MariaDB says of single values, where the plain way to ask says something else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from assets.reconcile.mysql import MySqlSource
from assets.reconcile.sql_table import SqlTable
from assets.source.database import Address, Password
from tests.services.mariadb import PASSWORD, USER, VERSION_OF_JAR, MariaDb, lacking, new_mariadb
from transforms.errors import UnreadableSource
from transforms.reconcile.row_texts import Declared, columns_of

pytestmark = pytest.mark.services

TABLES = """
CREATE DATABASE odd CHARACTER SET utf8mb4;
USE odd;
CREATE TABLE item(
    id int(6) ZEROFILL PRIMARY KEY, big bigint ZEROFILL, pay decimal(8,2) ZEROFILL, made year);
INSERT INTO item VALUES (42, 18446744073709551615, 1.5, '0000');
CREATE TABLE story(id int PRIMARY KEY, one longtext, two longtext);
INSERT INTO story VALUES (1, repeat('x', 9000000), repeat('y', 9000000));
"""
ITEM = {"id": "int", "big": "string", "pay": "decimal(8,2)", "made": "int"}
STORY = {"id": "int", "one": "string", "two": "string"}


@pytest.fixture
def odd() -> Iterator[MariaDb]:
    """A server with odd values."""
    if reason := lacking(VERSION_OF_JAR):
        pytest.skip(reason)
    with new_mariadb(VERSION_OF_JAR) as server:
        server.run(TABLES)
        yield server


@contextmanager
def asked(server: MariaDb, name: str, gold: dict[str, str]) -> Iterator[SqlTable]:
    """A table within a snapshot, compared by its column ``id``."""
    address = Address("mysql", "127.0.0.1", server.port, "odd", USER, Password(PASSWORD))
    with MySqlSource("shop", address).snapshot() as snapshot:
        declared = {column: Declared(kind) for column, kind in gold.items()}
        columns = columns_of(declared, ["id"], snapshot.columns_of(name), {})
        yield snapshot.table(name, columns)


def test_numbers_have_no_zeros_in_front(odd: MariaDb) -> None:
    with asked(odd, "odd.item", ITEM) as table:
        (row,) = table.rows_of([("42",)]).values()
    assert row == {"id": "42", "big": "18446744073709551615", "pay": "1.5", "made": "0"}


def test_a_text_that_the_server_cuts_off_is_an_error(odd: MariaDb) -> None:
    with (
        pytest.raises(UnreadableSource, match="larger than max_allowed_packet"),
        asked(odd, "odd.story", STORY) as table,
    ):
        table.digests([(None, None)])
