"""What Python says of thousands of texts of every type, held against Spark's casts.

Three things hold for every text: what Spark cannot read does not fit; Spark reads the canonical text as the text's own
value, and writes it again; and gold's own reading of it is that value.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import pyarrow as pa
import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from assets.columns import gold as spark_types
from tests.transforms import drawn_documents, drawn_texts
from tests.transforms.test_column_types import CASES, DRAWN, drawn
from transforms.column_types.registry import column_type

MICROSECONDS: Final = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""How ``to_json`` has to be told to cut nothing."""


class Found(NamedTuple):
    """What judge and Spark say of a text, and what Spark makes of its canonical text."""

    kind: str
    text: str
    canonical: str | None
    is_null: bool
    again: str | None
    in_full: str | None
    is_same: bool
    is_gold: bool


def found_of(spark: SparkSession, kind: str, texts: list[str]) -> list[Found]:
    judge = column_type(kind).judge
    frame = spark.createDataFrame([(one, judge(one)) for one in texts], "text string, new string")
    text, new = F.col("text"), F.col("new")
    value, again, in_full = read_again(new, kind)
    is_simple = kind in drawn_texts.SIMPLE
    # Of a nested type Spark's reader is no judge: it reads 200 as a tinyint, and 1e400 as infinity.
    raw = text.try_cast(kind) if is_simple else value
    gold = spark_types.typed(new, kind)
    is_same = raw.eqNullSafe(value) if is_simple else F.lit(True)
    is_gold = spark_types.text_of_value(gold, kind).eqNullSafe(
        spark_types.text_of_value(value, kind)
    )
    rows = frame.select(text, new, raw.isNull(), again, in_full, is_same, is_gold).collect()
    return [Found(kind, *row) for row in rows]


def read_again(text: Column, kind: str) -> tuple[Column, Column, Column]:
    """The value of a canonical text by ANSI casts, and its text again: as ever, and with all microseconds."""
    if kind == "binary":
        value = F.unbase64(text)
        return value, F.base64(value), F.base64(value)
    if kind in drawn_texts.SIMPLE:
        value = text.cast(kind)
        return value, value.cast("string"), value.cast("string")
    read = F.from_json(text, column_type(kind).spark_json, {"mode": "FAILFAST"})
    value = read.cast(column_type(kind).spark)
    again = spark_types.text_of_value(value, kind)
    if "timestamp" not in kind or kind.startswith("map<timestamp"):
        return value, again, again
    return value, again, F.to_json(value, MICROSECONDS)


def _is_huge_or_tiny(found: Found) -> bool:
    numbers = re.findall(r"[0-9][0-9.]*(?:E-?[0-9]+)?", found.canonical or "")
    sizes = [float(number) for number in numbers]
    low, high = (1e-37, 2.0**24) if "float" in found.kind else (1e-300, 2.0**53)
    return any(0 < size < low or size >= high for size in sizes)


def _is_spelled_otherwise(found: Found) -> bool:
    """True where Spark does not write the canonical text again, though it has read the same value."""
    of_java = re.search(r"float|double", found.kind) and _is_huge_or_tiny(found)
    has_times = "<" in found.kind and "timestamp" in found.kind
    return bool(of_java) or (has_times and found.again == found.in_full)


@pytest.mark.parametrize("kind", [*drawn_texts.SIMPLE, *drawn_documents.NESTED])
def test_python_judges_as_spark_casts(spark: SparkSession, kind: str) -> None:
    source = drawn_texts if kind in drawn_texts.SIMPLE else drawn_documents
    every = found_of(spark, kind, [*dict.fromkeys(source.drawn(kind))])
    judge = column_type(kind).judge
    fitting = [found for found in every if found.canonical is not None]
    assert len(fitting) > 10

    assert [found for found in fitting if found.is_null] == []
    wrong = [found for found in fitting if found.again != found.canonical]
    assert [found for found in wrong if not _is_spelled_otherwise(found)] == []
    if kind != "binary":
        assert [found for found in fitting if judge(found.in_full or "") != found.canonical] == []
    assert [found for found in fitting if not found.is_same] == []
    assert [found for found in fitting if not found.is_gold] == []


@pytest.mark.parametrize("kind", [*CASES, *DRAWN])
def test_spark_reads_the_same_values(spark: SparkSession, kind: str) -> None:
    texts = drawn(kind) if kind in DRAWN else [*CASES[kind].get("fits", {}).values()]
    frame = spark.createDataFrame([(text,) for text in texts], "text string")
    values = frame.select(
        "text", spark_types.typed(F.col("text"), kind, strictly=True).alias("value")
    ).toArrow()
    written = values["text"].to_pylist()
    ours = column_type(kind).typed(written).to_pylist()
    theirs = pa.chunked_array(values["value"]).combine_chunks().to_pylist()
    # NaN does not equal NaN, so the written forms of the values are compared.
    differing = [
        (text, one, other)
        for text, one, other in zip(written, ours, theirs, strict=True)
        if repr(one) != repr(other)
    ]
    assert differing == []
