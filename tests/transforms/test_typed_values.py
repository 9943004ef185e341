"""Typed values in this process are those that canonical texts say, for every type: there and back, and as Spark's."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from assets.columns import gold as columns
from tests.transforms import drawn_documents, drawn_texts
from transforms.column_types import typed_values
from transforms.column_types.judges import judge_of

KINDS = [*drawn_texts.SIMPLE, *drawn_documents.NESTED]


def drawn(kind: str) -> list[str]:
    """The canonical texts of what is drawn for the type, each once."""
    source = drawn_texts if kind in drawn_texts.SIMPLE else drawn_documents
    judge = judge_of(kind)
    found = [judge(text) for text in source.drawn(kind)]
    return [*dict.fromkeys(text for text in found if text is not None)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_has_the_text_that_it_was_made_of(kind: str) -> None:
    texts = drawn(kind)
    assert len(texts) > 1
    values = typed_values.typed([*texts, None], kind)
    assert values.type == typed_values.arrow_type(kind)
    assert typed_values.texts(values, kind) == [*texts, None]


@pytest.mark.parametrize("kind", KINDS)
def test_spark_reads_the_same_values(spark: SparkSession, kind: str) -> None:
    texts = drawn(kind)
    frame = spark.createDataFrame([(text,) for text in texts], "text string")
    values = frame.select(
        "text", columns.typed(F.col("text"), kind, strictly=True).alias("value")
    ).toArrow()
    ours = typed_values.typed(values["text"].to_pylist(), kind)
    # NaN does not equal NaN, so the written forms of the values are compared.
    theirs = pa.chunked_array(values["value"]).combine_chunks()
    differing = [
        (text, one, other)
        for text, one, other in zip(
            values["text"].to_pylist(), ours.to_pylist(), theirs.to_pylist(), strict=True
        )
        if repr(one) != repr(other)
    ]
    assert differing == []
