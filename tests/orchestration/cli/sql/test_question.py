"""Which statements ``weir query`` runs, what it says of the others, and which names in them are Weir's tables."""

from __future__ import annotations

import pytest

from assets.columns.quoting import quoted
from orchestration.cli.sql import question
from transforms.errors import QueryRefused

READING = "only statements that read are run (SELECT, WITH, VALUES, DESCRIBE, SHOW TABLES), and this begins with"


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("DROP TABLE gold.shop.a", f"{READING} DROP"),
        ("INSERT INTO gold.shop.a VALUES (1)", f"{READING} INSERT"),
        ("SHOW DATABASES", f"{READING} SHOW"),
        ("SELECT 1; SELECT 2", "one statement is run at a time, and here are 2"),
        ("", "one statement is run at a time, and here are 0"),
        ("-- nothing", "one statement is run at a time, and here are 0"),
    ],
)
def test_what_is_no_single_reading_statement_is_refused(sql: str, fault: str) -> None:
    with pytest.raises(QueryRefused) as caught:
        question.parsed(sql)
    assert caught.value.fault == fault
    assert "Tables: bronze.<feed>" in str(caught.value)


def test_what_is_no_sql_is_refused_in_one_line_without_colours() -> None:
    with pytest.raises(QueryRefused) as caught:
        question.parsed("SELECT FROM WHERE (")
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


def renamed(sql: str) -> str:
    """The statement as Spark gets it."""
    statement = question.parsed(sql).statement
    views = question.views_of(statement)
    return question.renamed(sql, statement, {name: quoted(view) for name, view in views.items()})


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM gold.shop.customers", "SELECT * FROM `customers`"),
        ("select  *\nfrom Gold.shop.customers ;", "select  *\nfrom `customers` ;"),
        ("SELECT * FROM bronze.shop WHERE line>1", "SELECT * FROM `shop` WHERE line>1"),
        ("SELECT * FROM gold.shop.`order details`", "SELECT * FROM `order details`"),
        (
            "SELECT a.id FROM gold.shop.a, gold.shop.b AS x JOIN gold.shop.b USING (id)",
            "SELECT a.id FROM `a`, `b` AS x JOIN `b` USING (id)",
        ),
        # Before a column the whole name or its last part may stand.
        (
            "SELECT gold.shop.a.id, a.name FROM gold.shop.a",
            "SELECT `a`.id, a.name FROM `a`",
        ),
        (
            "SELECT count(*) FROM (SELECT id FROM gold.shop.a UNION ALL SELECT id FROM gold.tpch.b)",
            "SELECT count(*) FROM (SELECT id FROM `a` UNION ALL SELECT id FROM `b`)",
        ),
        ("SELECT (SELECT max(id) FROM gold.shop.a)", "SELECT (SELECT max(id) FROM `a`)"),
    ],
)
def test_a_name_is_replaced_where_it_is_a_table(sql: str, expected: str) -> None:
    assert renamed(sql) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 'gold.shop.a' FROM gold.shop.a", "SELECT 'gold.shop.a' FROM `a`"),
        ("SELECT 1 -- of gold.shop.a\nFROM gold.shop.a", "SELECT 1 -- of gold.shop.a\nFROM `a`"),
        ("SELECT /* gold.shop.a */ 1 FROM gold.shop.a", "SELECT /* gold.shop.a */ 1 FROM `a`"),
        ("SELECT id AS `gold.shop.a` FROM gold.shop.a", "SELECT id AS `gold.shop.a` FROM `a`"),
        # A struct's field behind an alias looks like a table's name.
        (
            "SELECT bronze.shop.x FROM silver.shop AS bronze",
            "SELECT bronze.shop.x FROM `shop` AS bronze",
        ),
        ("SELECT 1", "SELECT 1"),
    ],
)
def test_a_name_is_left_where_it_is_none(sql: str, expected: str) -> None:
    assert renamed(sql) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "SELECT * FROM bronze.shop JOIN silver.shop USING (window)",
            "SELECT * FROM `bronze__shop` JOIN `silver__shop` USING (window)",
        ),
        (
            "WITH a AS (SELECT * FROM gold.shop.a) SELECT * FROM a JOIN gold.shop.a AS b USING (id)",
            "WITH a AS (SELECT * FROM `gold__shop__a`) "
            "SELECT * FROM a JOIN `gold__shop__a` AS b USING (id)",
        ),
        (
            "SELECT b.id FROM gold.shop.a AS b JOIN gold.shop.b AS a USING (id)",
            "SELECT b.id FROM `gold__shop__a` AS b JOIN `gold__shop__b` AS a USING (id)",
        ),
    ],
)
def test_two_things_of_one_name_stay_two(sql: str, expected: str) -> None:
    assert renamed(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM other.shop",
        "SELECT * FROM csv.`/etc/passwd`",
        "SELECT * FROM '/etc/passwd'",
        "SELECT 1 WHERE 1 IN (SELECT 1 FROM parquet.`https://example.org/a`)",
        "WITH a AS (SELECT * FROM b) SELECT * FROM a",
        "DESCRIBE delta.`/etc`",
    ],
)
def test_other_tables_and_files_are_refused_before_an_engine_is_there(sql: str) -> None:
    with pytest.raises(QueryRefused):
        question.parsed(sql)
