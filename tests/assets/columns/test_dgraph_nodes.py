"""Wide rows of nodes, from triples as gold has them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from assets.columns import dgraph_nodes
from transforms.feed.feed import Predicate

TRIPLES = (
    "namespace decimal(20,0), uid decimal(20,0), predicate string, value string, value_type string"
)
LARGEST = Decimal(2**64 - 1)
PREDICATES = [
    Predicate("Film.title", "string"),
    Predicate("year", "int"),
    Predicate("score", "float"),
    Predicate("seen", "datetime"),
    Predicate("genre", "string", list=True),
    Predicate("starring", "uid", list=True),
]


def test_a_node_is_one_row_with_a_column_for_each_predicate(spark: SparkSession) -> None:
    said = [
        (0, 1, "Film.title", "Metropolis", "string"),
        (0, 1, "year", "1927", "int"),
        (0, 1, "score", "8.3E+00", "float"),
        (0, 1, "seen", "2026-11-20T01:02:03.123456789+05:30", "datetime"),
        (0, 1, "genre", "science fiction", "string"),
        (0, 1, "genre", "drama", "string"),
        (0, 1, "starring", str(LARGEST), "uid"),
        (0, 1, "starring", "9", "uid"),
        (0, 2, "year", "1931", "int"),
        (7, 1, "Film.title", "another tenant's", "string"),
        (0, 3, "name", "Brigitte Helm", "string"),
    ]
    rows = [(Decimal(ns), Decimal(uid), *rest) for ns, uid, *rest in said]
    wide = dgraph_nodes.wide(spark.createDataFrame(rows, TRIPLES), "Film", PREDICATES)
    assert dict(wide.dtypes) == {
        **dict.fromkeys(("namespace", "uid"), "decimal(20,0)"),
        **{"title": "string", "year": "bigint", "score": "double", "seen": "timestamp"},
        **{"genre": "array<string>", "starring": "array<decimal(20,0)>"},
    }
    shown = wide.withColumn("seen", F.col("seen").cast("string")).orderBy("namespace", "uid")
    assert [tuple(row) for row in shown.collect()] == [
        (
            *(Decimal(0), Decimal(1), "Metropolis", 1927, 8.3, "2026-11-19 19:32:03.123456"),
            *(["drama", "science fiction"], [Decimal(9), LARGEST]),
        ),
        (Decimal(0), Decimal(2), None, 1931, None, None, None, None),
        (Decimal(7), Decimal(1), "another tenant's", None, None, None, None, None),
    ]


@pytest.mark.parametrize(
    ("predicate", "column"),
    [
        ("Film.title", "title"),
        ("title", "title"),
        ("Person.name", "Person_name"),
        ("release date", "release_date"),
    ],
)
def test_a_column_is_called_as_its_predicate(predicate: str, column: str) -> None:
    assert dgraph_nodes.column_of("Film", predicate) == column


def test_no_moment_is_made_up(spark: SparkSession) -> None:
    rows = [(Decimal(0), Decimal(1), "seen", None, "datetime")]
    wide = dgraph_nodes.wide(spark.createDataFrame(rows, TRIPLES), "Film", PREDICATES)
    found: list[datetime | None] = [row["seen"] for row in wide.collect()]
    assert found == [None]
