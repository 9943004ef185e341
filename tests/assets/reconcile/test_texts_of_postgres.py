"""What a real Postgres says of single values and rows, where the plain way to ask says something else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from assets.reconcile.postgres import PostgresSource
from assets.source.database import Address
from tests.services.postgres import DATABASE, USER, Postgres, postgres
from transforms.errors import UnreadableSource
from transforms.reconcile.judgement import Row
from transforms.reconcile.ranges import MODULUS, Range
from transforms.reconcile.row_texts import Declared, columns_of
from transforms.reconcile.table_names import TableName

__all__ = ["postgres"]

TABLE = """
DROP SCHEMA IF EXISTS odd CASCADE;
CREATE SCHEMA odd;
CREATE TABLE odd.item(id int PRIMARY KEY, host inet, hosts inet[], doc xml, ratio float8, part float4);
INSERT INTO odd.item VALUES (
    1, '10.0.0.1', '{10.0.0.1,::1}', '<?xml version="1.0" encoding="UTF-8"?><a/>',
    'inf'::float8 - 'inf'::float8, 'inf'::float4 - 'inf'::float4);
CREATE TABLE odd.secret(id int PRIMARY KEY);
INSERT INTO odd.secret VALUES (1);
ALTER TABLE odd.secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY none_of_it ON odd.secret USING (false);
DROP ROLE IF EXISTS reader;
CREATE ROLE reader LOGIN;
GRANT USAGE ON SCHEMA odd TO reader;
GRANT SELECT ON ALL TABLES IN SCHEMA odd TO reader;
"""
ITEM, SECRET, WORD = (TableName("odd", name) for name in ("item", "secret", "word"))
GOLD = {
    **{"id": "int", "host": "string", "hosts": "array<string>", "doc": "string"},
    **{"ratio": "double", "part": "float"},
}


WORDS = """
CREATE TABLE odd.word(id text COLLATE "und-x-icu" PRIMARY KEY, n int);
INSERT INTO odd.word SELECT chr(97 + i % 2 - 32 * (i % 3 % 2)) || i, i FROM generate_series(1, 1000) i;
"""


@pytest.fixture
def odd(postgres: Postgres) -> Iterator[Postgres]:
    """A server with odd values, and a user from whom a policy hides rows."""
    postgres.run(TABLE)
    yield postgres
    postgres.run("DROP SCHEMA odd CASCADE; DROP ROLE reader")


def source(server: Postgres, user: str = USER, database: str = DATABASE) -> PostgresSource:
    return PostgresSource("shop", Address("postgresql", "127.0.0.1", server.port, database, user))


def first_row(of: PostgresSource, table: TableName, gold: dict[str, str]) -> Row | None:
    with of.snapshot() as snapshot:
        theirs = snapshot.columns_of(table)
        declared = {name: Declared(kind) for name, kind in gold.items()}
        columns = columns_of(declared, ["id"], theirs, {})
        return snapshot.table(table, columns).rows_of([("1",)]).get(("1",))


def test_values_are_written_as_the_server_sends_them(odd: Postgres) -> None:
    assert first_row(source(odd), ITEM, GOLD) == {
        **{"id": "1", "host": "10.0.0.1", "hosts": "[8:10.0.0.1,3:::1]", "doc": "<a/>"},
        # There is one value that is no number, though a server may keep it with a sign.
        **{"ratio": "7ff8000000000000", "part": "7fc00000"},
    }


def test_rows_that_a_policy_hides_are_not_taken_for_gone(odd: Postgres) -> None:
    assert first_row(source(odd), SECRET, {"id": "int"}) == {"id": "1"}
    with pytest.raises(UnreadableSource, match="row-level security"):
        first_row(source(odd, "reader"), SECRET, {"id": "int"})


def test_a_database_that_icu_orders_is_not_ordered_by_bytes(odd: Postgres) -> None:
    if int(odd.run("SHOW server_version_num")) < 150_000:
        pytest.skip("from Postgres 15 on a database may have ICU as its provider")
    odd.run(
        "CREATE DATABASE by_icu LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C' TEMPLATE template0"
    )
    try:
        for database, is_by_bytes in ((DATABASE, True), ("by_icu", False)):
            with source(odd, database=database).snapshot() as snapshot:
                found = snapshot.columns_of(TableName("information_schema", "sql_parts"))
                assert found["feature_name"].is_by_bytes is True
                found = snapshot.columns_of(TableName("pg_catalog", "pg_settings"))
                assert found["vartype"].is_by_bytes is is_by_bytes
    finally:
        odd.run("DROP DATABASE by_icu")


def test_a_table_that_no_index_orders_is_read_once_for_each_question(odd: Postgres) -> None:
    """However many stretches a question is about, and what lies between them is none of it."""
    odd.run(WORDS)
    low, middle, high = ("B2",), ("a500",), ("b3",)
    with source(odd).snapshot() as snapshot:
        declared = {"id": Declared("string"), "n": Declared("int")}
        columns = columns_of(declared, ["id"], snapshot.columns_of(WORD), {})
        table = snapshot.table(WORD, columns)
        assert not table.is_indexed
        stretches = [(None, low), (middle, ("a700",), high), (high, None)]
        found = table.digests(stretches)
        asked = snapshot.cursor.query.decode()
        assert asked.count('"odd"."word"') == 1
        # As each range says by itself.
        ranges = [Range(*ends, 1, 1) for bounds in stretches for ends in pairwise(bounds)]
        digests = [one for some in found for one in some]
        hashes = [table.hashes([one]) for one in ranges]
        assert [one.rows for one in digests] == [len(some) for some in hashes]
        assert [one.checksum for one in digests] == [
            sum(some.values()) % MODULUS for some in hashes
        ]
        assert sum(one.rows for one in digests) < 1000
        assert all(one.rows for one in digests)
        assert table.hashes(ranges) == {key: one for some in hashes for key, one in some.items()}
        assert snapshot.cursor.query.decode().count('"odd"."word"') == 1
