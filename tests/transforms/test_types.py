"""What a text must be to fit a declared type, the value that it then is, and the one way in which a key writes it."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.transforms.type_cases import FITTING, UNFIT
from transforms import typed_columns as types

Judged = dict[tuple[str, str], tuple[bool, object, str | None]]


@pytest.fixture(scope="module")
def judged(spark: SparkSession) -> Judged:
    """Whether it fits, its value and its canonical text, for every type and text in one frame."""
    pairs = [*[(kind, text) for kind, text, *_ in FITTING], *UNFIT]
    kinds = sorted({kind for kind, _ in pairs})
    texts = spark.createDataFrame(pairs, "kind string, text string")
    text = F.col("text")
    columns = []
    for at, kind in enumerate(kinds):
        fitting = F.when(F.col("kind") == kind, types.fits(text, kind))
        canonical = types.canonical(F.when(fitting, text), kind)
        # Bytes are read from their canonical text only, which is base64.
        whole = types.typed(canonical if kind == "binary" else F.when(fitting, text), kind)
        if kind.startswith("timestamp"):
            whole = whole.cast("string")
        columns += [
            fitting.alias(f"fits{at}"),
            whole.alias(f"value{at}"),
            canonical.alias(f"canonical{at}"),
        ]
    found: Judged = {}
    for row in texts.select("kind", "text", *columns).collect():
        at = kinds.index(row["kind"])
        value = row[f"value{at}"]
        if hasattr(value, "asDict"):
            value = value.asDict()
        found[row["kind"], row["text"]] = (row[f"fits{at}"], value, row[f"canonical{at}"])
    return found


@pytest.mark.parametrize(("kind", "text", "value", "canonical"), FITTING)
def test_a_text_that_fits_is_this_value(
    judged: Judged, kind: str, text: str, value: object, canonical: str
) -> None:
    fits, actual, written = judged[kind, text]
    assert (fits, actual) == (True, value)
    assert type(actual) is type(value)
    assert written == (canonical or str(value))


@pytest.mark.parametrize(("kind", "text"), UNFIT)
def test_a_text_that_would_lose_something_does_not_fit(
    judged: Judged, kind: str, text: str
) -> None:
    assert judged[kind, text][0] is False


def test_null_fits_every_type(spark: SparkSession) -> None:
    kinds = sorted({kind for kind, *_ in FITTING})
    null = F.lit(None).cast("string")
    row = spark.range(1).select(*[types.fits(null, kind) for kind in kinds]).first()
    assert row is not None
    assert set(row) == {True}


def test_every_text_is_a_string_and_bytes(spark: SparkSession) -> None:
    texts = spark.createDataFrame([("",), ("NULL",), ("\n",)], "text string")
    fitting = texts.select(
        types.fits(F.col("text"), "string") & types.fits(F.col("text"), "binary")
    )
    assert [row[0] for row in fitting.collect()] == [True] * 3


def test_a_type_is_chosen_by_its_name(spark: SparkSession) -> None:
    kinds = spark.createDataFrame([("int",), ("date",), ("other",), (None,)], "kind string")
    of_type = {"int": F.lit("number"), "date": F.lit("day")}
    chosen = types.by_type(["int", "date"], F.col("kind"), of_type, F.lit("none"))
    assert [row[0] for row in kinds.select(chosen).collect()] == ["number", "day", "none", "none"]
