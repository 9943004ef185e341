"""Names and texts in SQL: whatever they are, the parser that reads them gives them back, as one part."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from assets.columns.quoting import literal, quoted
from tests.support.hostile_names import HOSTILE, names

many = settings(max_examples=300, deadline=None)


def is_text(name: str) -> bool:
    """Whether Java can have it: half a pair of surrogates is no text."""
    return name == name.encode("utf-8", "replace").decode()


def parser_of(spark: SparkSession) -> Any:
    """Spark's own."""
    java: Any = spark._jsparkSession
    return java.sessionState().sqlParser()


def parts(found: Any) -> list[str]:
    return [found.apply(at) for at in range(found.size())]


def test_a_name_is_one_part_and_itself(spark: SparkSession) -> None:
    parser, java = parser_of(spark), spark._jvm
    assert java is not None
    of_column = java.org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute

    @many
    @given(names.filter(is_text))
    def holds(name: str) -> None:
        told = f"old.{quoted(name)}"
        if name:
            assert parts(parser.parseMultipartIdentifier(told)) == ["old", name]
            assert parts(parser.parseExpression(told).nameParts()) == ["old", name]
        assert parts(of_column.parseAttributeName(told)) == ["old", name]

    holds()


def test_a_text_is_itself(spark: SparkSession) -> None:
    parser = parser_of(spark)

    @many
    @given(names.filter(is_text))
    def holds(text: str) -> None:
        assert parser.parseExpression(literal(text)).value().toString() == text

    holds()


def test_a_statement_takes_them_all(spark: SparkSession) -> None:
    some = sorted({name.lower(): name for name in HOSTILE if is_text(name)}.values())
    rows = spark.createDataFrame([tuple(some)], [f"c{at}" for at in range(len(some))]).toDF(*some)
    rows.createOrReplaceTempView("hostile_names")
    told = ", ".join(f"{quoted(name)} = {literal(name)}" for name in some)
    found = spark.sql(f"SELECT {told} FROM hostile_names").first()
    assert found is not None
    assert all(found)
    assert rows.select(*(F.col(quoted(name)) for name in some)).first() == tuple(some)
