"""Which statements ``weir query`` runs, and what it says of the others."""

from __future__ import annotations

import io

import pytest
from pyspark.sql import SparkSession

from assets.storage.lake import Lake, Layer
from orchestration.cli.sql import statement
from orchestration.cli.sql.answers import FORMATS, print_rows
from orchestration.cli.sql.spark_answer import of_spark
from orchestration.resources import lake_of
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
        statement.parsed(sql)
    assert caught.value.fault == fault
    assert "Tables: bronze.<feed>" in str(caught.value)


def test_what_is_no_sql_is_refused_in_one_line_without_colours() -> None:
    with pytest.raises(QueryRefused) as caught:
        statement.parsed("SELECT FROM WHERE (")
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A warehouse with a few tables of a few rows."""
    lake = lake_of(str(tmp_path_factory.mktemp("warehouse")), {})
    people = "SELECT * FROM VALUES (1, 'Ada', 1.50BD), (2, NULL, 0.05BD) AS p(id, name, credit)"
    lake.table(Layer.GOLD, "shop", "people").append(spark.sql(people))
    orders = "SELECT * FROM VALUES (10, 1), (11, 2), (12, 1) AS o(number, id)"
    lake.table(Layer.GOLD, "shop", "order details").append(spark.sql(orders))
    lake.table(Layer.BRONZE, "shop").append(spark.sql("SELECT 'b' AS layer, 1 AS id"))
    lake.table(Layer.SILVER, "shop").append(spark.sql("SELECT 's' AS layer, 1 AS id"))
    return lake


def answered(lake: Lake, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in statement.answered(lake, sql).collect()]


def test_tables_are_found_by_their_names(lake: Lake) -> None:
    assert answered(
        lake,
        "SELECT gold.shop.people.name, count(*) FROM gold.shop.people"
        " JOIN gold.shop.`order details` AS o ON o.id = people.id GROUP BY ALL ORDER BY 2",
    ) == [(None, 1), ("Ada", 2)]
    assert answered(
        lake, "SELECT b.layer, s.layer FROM bronze.shop b JOIN silver.shop s USING (id)"
    ) == [("b", "s")]
    assert answered(lake, "VALUES (1)") == [(1,)]


def test_a_table_and_its_history_can_be_described(lake: Lake) -> None:
    columns = {row[0]: row[1] for row in answered(lake, "DESCRIBE gold.shop.people")}
    assert columns["credit"] == "decimal(3,2)"
    history = statement.answered(lake, "DESCRIBE HISTORY gold.shop.people")
    assert [row["operation"] for row in history.collect()] == ["WRITE"]


def test_a_table_that_is_not_there_is_named(lake: Lake) -> None:
    with pytest.raises(QueryRefused) as caught:
        statement.answered(lake, "SELECT * FROM gold.shop.persons")
    assert str(caught.value) == (
        f"gold.shop.persons: there is no such table in {lake.warehouse}; did you mean gold.shop.people."
        " Tables: gold.shop.order details, gold.shop.people, silver.shop, bronze.shop."
    )


def test_what_spark_does_not_understand_is_one_line(lake: Lake) -> None:
    with pytest.raises(QueryRefused) as caught:
        statement.answered(lake, "SELECT nam FROM gold.shop.people")
    assert "\n" not in str(caught.value)
    assert "UNRESOLVED_COLUMN" in str(caught.value)
    assert "`name`" in str(caught.value)


@pytest.mark.parametrize("style", FORMATS)
def test_a_fault_while_rows_are_read_is_one_line(
    lake: Lake, style: str, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = statement.answered(lake, "SELECT CAST(concat(name, 'x') AS INT) FROM gold.shop.people")
    with pytest.raises(QueryRefused) as caught:
        print_rows(of_spark(rows), style, io.StringIO())
    assert str(caught.value).startswith(
        "reading the answer: [CAST_INVALID_INPUT] The value 'Adax' of the type"
    )
    assert "\n" not in str(caught.value)
    assert "Traceback" not in capfd.readouterr().err
