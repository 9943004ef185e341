"""Questions that are answered without Spark: the same answers as Spark's, and only where both mean the same."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from assets.executors.choice import AUTO, IN_PROCESS, SPARK
from assets.storage.lake import Lake, Layer
from orchestration.cli import query
from orchestration.cli.sql import spark_answer, statement, table_names
from orchestration.cli.sql.answers import FORMATS, print_rows
from orchestration.resources import lake_of
from orchestration.spark.on_first_use import SparkOnFirstUse
from transforms.errors import QueryRefused

ROWS = """
    SELECT * FROM VALUES
      (1, 'Ada', 'B', 9223372036854775807, 12.50BD, 0.1D, CAST(1.5 AS FLOAT), true, DATE '2025-11-19',
       TIMESTAMP '2025-11-19 23:11:00.123456+02:00', TIMESTAMP_NTZ '2025-11-19 23:11:00', X'00FF7F',
       array('x', NULL), map('k', CAST(NULL AS STRING), 'l', 'a"b'), named_struct('x', 1, 'y', 'z')),
      (2, NULL, 'a', -9223372036854775807, 0.00BD, CAST('NaN' AS DOUBLE), CAST('-Infinity' AS FLOAT), false,
       DATE '0001-01-01', TIMESTAMP '1583-01-01 00:00:00Z', TIMESTAMP_NTZ '9999-12-31 23:59:59.999999', X'', array(),
       map(), named_struct('x', CAST(NULL AS INT), 'y', CAST(NULL AS STRING))),
      (3, 'é, "quoted"', 'b', 0, -0.05BD, 1.0E10D, CAST(3.4028235E38 AS FLOAT), NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL),
      (4, 'a\\nline', NULL, NULL, NULL, 1.0E-5D, CAST(0.001 AS FLOAT), true, DATE '2024-02-29',
       TIMESTAMP '2024-02-29 12:00:00Z', NULL, X'41', array('[bold]'), map('é', ':smile:'), NULL)
    AS t(id, name, kind, big, credit, ratio, small, yes, day, at, local, bytes, list, pairs, nested)
"""

PLAIN = [
    "SELECT * FROM gold.shop.people",
    "SELECT * FROM gold.shop.people ORDER BY id DESC LIMIT 2",
    "SELECT p.name, p.id FROM gold.shop.people AS p WHERE p.id >= 2 ORDER BY name",
    "SELECT gold.shop.people.id, people.kind FROM gold.shop.people ORDER BY kind DESC, id",
    "SELECT p.* FROM gold.shop.people p ORDER BY big",
    "SELECT id AS n FROM gold.shop.people WHERE NOT (kind = 'a' OR name IS NULL) ORDER BY n DESC",
    "SELECT id FROM gold.shop.people WHERE kind != 'a' ORDER BY id",
    "SELECT id FROM gold.shop.people WHERE id IN (1, 4, 7) AND yes = true ORDER BY id",
    "SELECT id FROM gold.shop.people WHERE big BETWEEN -10 AND 10",
    "SELECT id FROM gold.shop.people WHERE kind <= 'a' ORDER BY id",
    "SELECT count(*) FROM gold.shop.people",
    "SELECT count(*) AS n, count(name), count(DISTINCT yes), min(day), max(at) FROM gold.shop.people",
    "SELECT min(name), max(kind), min(credit), max(big) FROM gold.shop.people WHERE id < 0",
    "SELECT yes, count(*) AS n FROM gold.shop.people GROUP BY yes ORDER BY n DESC, yes",
    "SELECT yes FROM gold.shop.people GROUP BY yes ORDER BY 1 NULLS LAST",
    "SELECT DISTINCT yes FROM gold.shop.people ORDER BY yes DESC",
    "SELECT id FROM gold.shop.people ORDER BY day, id LIMIT 2 OFFSET 1",
    "SELECT id FROM gold.shop.people WHERE name = 'é, \"quoted\"' OR name = 'it\\'s'",
    "SELECT id, id FROM gold.shop.people ORDER BY id",
    "SELECT window, n FROM silver.shop ORDER BY window, n",
]

LEFT_TO_SPARK = [
    "SELECT upper(name) FROM gold.shop.people",
    "SELECT id + 1 FROM gold.shop.people",
    "SELECT sum(id) FROM gold.shop.people",
    "SELECT id FROM gold.shop.people WHERE id = '1'",
    "SELECT id FROM gold.shop.people WHERE name = 1",
    "SELECT id FROM gold.shop.people WHERE day > '2024-01-01'",
    "SELECT id FROM gold.shop.people WHERE id = big",
    "SELECT id FROM gold.shop.people WHERE credit > 1",
    "SELECT id FROM gold.shop.people WHERE kind LIKE 'a%'",
    "SELECT id FROM gold.shop.people ORDER BY ratio",
    "SELECT DISTINCT small FROM gold.shop.people",
    "SELECT ID FROM gold.shop.people",
    "SELECT nested.x FROM gold.shop.people",
    "SELECT id AS kind FROM gold.shop.people ORDER BY kind",
    "SELECT a.id FROM gold.shop.people a JOIN gold.shop.people b ON a.id = b.id",
    "SELECT id FROM (SELECT id FROM gold.shop.people)",
    "WITH p AS (SELECT id FROM gold.shop.people) SELECT * FROM p",
    "SELECT 1",
    "DESCRIBE gold.shop.people",
    "SELECT id FROM gold.shop.people WHERE nam = 'x'",
    "SELECT name, count(*) FROM gold.shop.people GROUP BY id",
]


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A warehouse with a table of every type, one with windows, and one with rows that are marked as deleted."""
    lake = lake_of(str(tmp_path_factory.mktemp("warehouse")), {})
    lake.table(Layer.GOLD, "shop", "people").append(spark.sql(ROWS).coalesce(1))
    windows = spark.sql("SELECT * FROM VALUES (1, 'w2'), (2, 'w1'), (3, 'w2') AS t(n, window)")
    path = lake.path(Layer.SILVER, "shop")
    windows.write.format("delta").partitionBy("window").save(path)
    marked = lake.path(Layer.GOLD, "shop", "marked")
    properties = {"delta.enableDeletionVectors": "true"}
    numbers = spark.range(0, 100, 1, 1)
    numbers.write.format("delta").options(**properties).save(marked)
    spark.sql(f"DELETE FROM delta.`{marked}` WHERE id % 10 != 0")
    return lake


def by_spark(lake: Lake, sql: str, style: str) -> str:
    out = io.StringIO()
    print_rows(spark_answer.of_spark(statement.answered(lake, sql)), style, out)
    return out.getvalue()


def in_this_process(lake: Lake, sql: str, style: str) -> str | None:
    answer = query.answered_in_process(lake, statement.parsed(sql))
    if answer is None:
        return None
    out = io.StringIO()
    print_rows(answer, style, out)
    return out.getvalue()


@pytest.mark.parametrize("style", FORMATS)
@pytest.mark.parametrize("sql", PLAIN)
def test_a_plain_question_has_the_answer_that_spark_gives(lake: Lake, sql: str, style: str) -> None:
    if style == "jsonl" and sql.startswith("SELECT id, id"):
        with pytest.raises(QueryRefused, match="several columns are called id"):
            in_this_process(lake, sql, style)
        return
    assert in_this_process(lake, sql, style) == by_spark(lake, sql, style)


@pytest.mark.parametrize("sql", LEFT_TO_SPARK)
def test_what_the_engines_may_read_differently_is_left_to_spark(lake: Lake, sql: str) -> None:
    assert in_this_process(lake, sql, "csv") is None


def test_rows_that_are_marked_as_deleted_are_not_there(lake: Lake) -> None:
    sql = "SELECT count(*) AS n, max(id) AS last FROM gold.shop.marked"
    assert in_this_process(lake, sql, "csv") == "n,last\n10,90\n"


def test_a_large_table_is_left_to_spark_and_every_table_by_whom_wants_spark(
    lake: Lake,
) -> None:
    sql = "SELECT id FROM gold.shop.people"
    for asked in (lake.by(AUTO, memory=3), lake.by(SPARK)):
        assert in_this_process(asked, sql, "csv") is None
    assert in_this_process(lake.by(IN_PROCESS, memory=3), sql, "csv") is not None


def test_a_table_that_is_not_there_is_named_without_spark(lake: Lake) -> None:
    with pytest.raises(QueryRefused, match=r"there is no such table in .*; did you mean"):
        in_this_process(lake, "SELECT * FROM gold.shop.peeple", "csv")


def test_no_session_is_started(tmp_path: Path, lake: Lake) -> None:
    other = lake_of(lake.warehouse, {})
    assert query.answered_in_process(other, statement.parsed(PLAIN[0])) is not None
    assert isinstance(other.pyspark, SparkOnFirstUse)
    assert other.pyspark.resource._spark_session is None


def test_show_tables_lists_them_with_gold_first(
    lake: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    query.query("show tables;", lake.warehouse, "csv")
    names = capsys.readouterr().out.split()
    assert names[0] == "table"
    assert "gold.shop.people" in names
    assert [name.split(".")[0] for name in names[1:]][:1] == ["gold"]
    with pytest.raises(QueryRefused, match="`weir status --details` names those of each feed"):
        table_names.names_as_rows(lake_of("s3a://bucket/lake", {}))
