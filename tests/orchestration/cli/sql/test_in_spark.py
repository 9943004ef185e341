"""What Spark answers: its rows exactly as they are, in each layout, and its faults in a line."""

from __future__ import annotations

import base64
import csv
import io
import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from assets.storage.lake import Lake, Layer
from orchestration.cli.sql import in_spark, question
from orchestration.cli.sql.answers import STYLES, print_rows
from orchestration.cli.sql.in_spark import of_spark
from orchestration.resources import lake_of
from transforms.errors import QueryRefused

EVERYTHING = """
    SELECT
      9223372036854775807 AS big,
      CAST(-9223372036854775807 - 1 AS BIGINT) AS small,
      12345678901234567890123456.789012345678BD AS exact,
      CAST(1200 AS DECIMAL(10, 2)) AS padded,
      CAST(0.000000000001 AS DECIMAL(38, 18)) AS tiny,
      0.1D AS approximate,
      CAST('NaN' AS DOUBLE) AS nan,
      TIMESTAMP '2025-11-19 23:11:00.123456+02:00' AS at,
      TIMESTAMP_NTZ '2025-11-19 23:11:00.123456' AS local,
      DATE '2025-11-19' AS day,
      X'00FF7F' AS bytes,
      CAST(NULL AS STRING) AS nothing,
      '' AS empty,
      'a "quote", a \\\\ and a\\nline, \\u00e9' AS text,
      true AS yes,
      array(3, NULL, 1) AS list,
      array(1.50BD) AS decimals,
      map('k', CAST(NULL AS INT)) AS pairs,
      named_struct('x', 1, 'y', CAST(NULL AS STRING)) AS nested,
      1 AS `a.b`,
      2 AS `tick``s`
"""


@pytest.fixture(scope="module")
def everything(spark: SparkSession) -> DataFrame:
    return spark.sql(EVERYTHING)


def printed(rows: DataFrame, style: str) -> str:
    out = io.StringIO()
    print_rows(of_spark(rows), style, out)
    return out.getvalue()


def test_jsonl_is_exact(everything: DataFrame) -> None:
    line = printed(everything, "jsonl")
    assert line.endswith("\n")
    assert line.count("\n") == 1
    got = json.loads(line, parse_float=Decimal)
    assert got == {
        "big": 9223372036854775807,
        "small": -9223372036854775808,
        "exact": Decimal("12345678901234567890123456.789012345678"),
        "padded": Decimal("1200.00"),
        "tiny": Decimal("0.000000000001"),
        "approximate": Decimal("0.1"),
        "nan": "NaN",
        "at": "2025-11-19T21:11:00.123456Z",
        "local": "2025-11-19T23:11:00.123456",
        "day": "2025-11-19",
        "bytes": base64.b64encode(b"\x00\xff\x7f").decode(),
        "nothing": None,
        "empty": "",
        "text": 'a "quote", a \\ and a\nline, é',
        "yes": True,
        "list": [3, None, 1],
        "decimals": [Decimal("1.50")],
        "pairs": {"k": None},
        "nested": {"x": 1, "y": None},
        "a.b": 1,
        "tick`s": 2,
    }
    # Number tokens with every digit, not text and not a binary float's shortest form.
    assert '"big":9223372036854775807,' in line
    assert '"exact":12345678901234567890123456.789012345678,' in line
    assert '"padded":1200.00,' in line
    assert '"decimals":[1.50]' in line


def test_jsonl_refuses_two_columns_of_one_name(spark: SparkSession) -> None:
    with pytest.raises(QueryRefused, match="several columns are called a: give them names"):
        printed(spark.sql("SELECT 1 AS a, 2 AS a"), "jsonl")


@pytest.mark.parametrize("style", STYLES)
def test_the_order_of_rows_stays(spark: SparkSession, style: str) -> None:
    rows = spark.sql("SELECT id FROM range(0, 2000, 1, 7) ORDER BY id % 3 DESC, id")
    expected = sorted(range(2000), key=lambda number: (-(number % 3), number))
    lines = printed(rows, style).splitlines()
    if style == "jsonl":
        assert [json.loads(line)["id"] for line in lines] == expected
    else:
        assert [int(line) for line in lines if line.strip().isdigit()] == expected


def test_csv_has_a_header_and_one_text_per_value(everything: DataFrame) -> None:
    header, row = csv.reader(io.StringIO(printed(everything, "csv"), newline=""))
    got = dict(zip(header, row, strict=True))
    assert got == {
        "big": "9223372036854775807",
        "small": "-9223372036854775808",
        "exact": "12345678901234567890123456.789012345678",
        "padded": "1200.00",
        "tiny": "0.000000000001000000",
        "approximate": "0.1",
        "nan": "NaN",
        "at": "2025-11-19T21:11:00.123456Z",
        "local": "2025-11-19T23:11:00.123456",
        "day": "2025-11-19",
        "bytes": "AP9/",
        "nothing": "",
        "empty": "",
        "text": 'a "quote", a \\ and a\nline, é',
        "yes": "true",
        "list": "[3,null,1]",
        "decimals": "[1.50]",
        "pairs": '{"k":null}',
        "nested": '{"x":1,"y":null}',
        "a.b": "1",
        "tick`s": "2",
    }


def test_csv_takes_two_columns_of_one_name(spark: SparkSession) -> None:
    assert printed(spark.sql("SELECT 1 AS a, 2 AS a"), "csv") == "a,a\n1,2\n"


def test_a_table_is_aligned_and_taken_as_it_is(spark: SparkSession) -> None:
    sql = "SELECT * FROM VALUES (1, '[bold]x[/bold]'), (20, NULL), (3, ':smile:') AS t(id, text)"
    assert [line.rstrip() for line in printed(spark.sql(sql), "table").splitlines()] == [
        "id   text",
        "───────────────────",
        "1    [bold]x[/bold]",
        "20   NULL",
        "3    :smile:",
    ]


def test_no_rows_are_a_header_or_nothing(spark: SparkSession) -> None:
    none = spark.sql("SELECT 1 AS a WHERE false")
    assert printed(none, "jsonl") == ""
    assert printed(none, "csv") == "a\n"


def test_times_are_utc_whatever_the_machine(spark: SparkSession, tmp_path: Path) -> None:
    at = datetime(2025, 11, 19, 23, 11, tzinfo=UTC)
    rows = spark.createDataFrame([(at,)], "at timestamp")
    assert printed(rows, "jsonl") == '{"at":"2025-11-19T23:11:00.000000Z"}\n'


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


def rows_of(lake: Lake, sql: str) -> DataFrame:
    return in_spark.answered(lake, question.parsed(sql))


def answered(lake: Lake, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in rows_of(lake, sql).collect()]


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
    history = rows_of(lake, "DESCRIBE HISTORY gold.shop.people")
    assert [row["operation"] for row in history.collect()] == ["WRITE"]


def test_a_table_that_is_not_there_is_named(lake: Lake) -> None:
    with pytest.raises(QueryRefused) as caught:
        rows_of(lake, "SELECT * FROM gold.shop.peeple")
    assert str(caught.value) == (
        f"gold.shop.peeple: there is no such table in {lake.warehouse}; did you mean gold.shop.people."
        " Tables: gold.shop.order details, gold.shop.people, silver.shop, bronze.shop."
    )


def test_what_spark_does_not_understand_is_one_line(lake: Lake) -> None:
    with pytest.raises(QueryRefused) as caught:
        rows_of(lake, "SELECT nam FROM gold.shop.people")
    assert "\n" not in str(caught.value)
    assert "UNRESOLVED_COLUMN" in str(caught.value)
    assert "`name`" in str(caught.value)


@pytest.mark.parametrize("style", STYLES)
def test_a_fault_while_rows_are_read_is_one_line(
    lake: Lake, style: str, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of(lake, "SELECT CAST(concat(name, 'x') AS INT) FROM gold.shop.people")
    with pytest.raises(QueryRefused) as caught:
        print_rows(of_spark(rows), style, io.StringIO())
    assert str(caught.value).startswith(
        "reading the answer: [CAST_INVALID_INPUT] The value 'Adax' of the type"
    )
    assert "\n" not in str(caught.value)
    assert "Traceback" not in capfd.readouterr().err
