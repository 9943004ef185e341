"""What Python says of thousands of texts of every type, held against Spark's casts and the columns that judged before.

Three things hold for every text: what Spark cannot read does not fit; Spark reads the canonical text as the text's own
value, and writes it again; and where the judge differs from ``typed_columns``, ``DIFFERENCES`` says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from tests.transforms import drawn_documents, drawn_texts
from transforms import json_values, typed_columns, types

UNASKED: Final = ("array<timestamp_ntz>", "map<decimal(12,2),int>")
"""Of these types the old columns knew nothing: what they do not like ends the query."""

MICROSECONDS: Final = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""How ``to_json`` has to be told to cut nothing."""


class Found(NamedTuple):
    """What judge, Spark and the old columns say of a text, and what Spark makes of its canonical text."""

    kind: str
    text: str
    canonical: str | None
    is_null: bool
    fits: bool
    old: str | None
    again: str | None
    in_full: str | None
    is_same: bool


def found_of(spark: SparkSession, kind: str, texts: list[str]) -> list[Found]:
    judge = types.judge_of(kind)
    frame = spark.createDataFrame([(one, judge(one)) for one in texts], "text string, new string")
    text, new = F.col("text"), F.col("new")
    raw, fits, old = F.lit(None).cast(types.stored(kind)), F.lit(False), F.lit(None).cast("string")
    if kind == "binary":
        # Of these the old columns' ``typed`` reads canonical texts only.
        raw, fits, old = text.cast(kind), F.lit(True), typed_columns.canonical(text, kind)
    elif kind not in UNASKED:
        raw, fits = typed_columns.typed(text, kind), typed_columns.fits(text, kind)
        old = F.when(fits, typed_columns.canonical(text, kind))
    value, again, in_full = read_again(new, kind)
    is_same = raw.eqNullSafe(value) if kind in drawn_texts.SIMPLE else F.lit(True)
    rows = frame.select(text, new, raw.isNull(), fits, old, again, in_full, is_same).collect()
    return [Found(kind, *row) for row in rows]


def read_again(text: Column, kind: str) -> tuple[Column, Column, Column]:
    """The value of a canonical text by ANSI casts, and its text again: as ever, and with all microseconds."""
    if kind == "binary":
        value = F.unbase64(text)
        return value, F.base64(value), F.base64(value)
    if kind in drawn_texts.SIMPLE:
        value = text.cast(kind)
        return value, value.cast("string"), value.cast("string")
    read = F.from_json(text, types.written(kind), {"mode": "FAILFAST"})
    value = read.cast(types.stored(kind))
    again = typed_columns.text_of(value, kind)
    if "timestamp" not in kind or kind.startswith("map<timestamp"):
        return value, again, again
    return value, again, F.to_json(value, MICROSECONDS)


class Difference(NamedTuple):
    """Why judge and old columns differ: for which types (a pattern) and texts, with one text that shows it.

    No text shows what only some releases of Java do.
    """

    why: str
    kinds: str
    example: tuple[str, str] | None
    holds: Callable[[Found], object]


def _is_refused(pattern: str) -> Callable[[Found], object]:
    return lambda found: found.canonical is None and re.search(pattern, found.text, re.DOTALL)


def _is_huge_or_tiny(found: Found) -> bool:
    numbers = re.findall(r"[0-9][0-9.]*(?:E-?[0-9]+)?", found.canonical or "")
    sizes = [float(number) for number in numbers]
    low, high = (1e-37, 2.0**24) if "float" in found.kind else (1e-300, 2.0**53)
    return any(0 < size < low or size >= high for size in sizes)


def _holds_a_misfit(pattern: str) -> Callable[[Found], object]:
    """True where some part of a document is no value of the type that the pattern finds, by itself."""

    def holds(found: Found) -> bool:
        inner = re.search(pattern, found.kind)
        assert inner is not None
        judge, waiting = types.judge_of(inner[0]), [json_values.read(found.text)]
        while waiting:
            part = waiting.pop()
            if isinstance(part, list | dict):
                waiting += part.values() if isinstance(part, dict) else part
            elif part is not None and judge(str(part)) is None:
                return found.canonical is None
        return False

    return holds


CONTROLS: Final = r"[\x00-\x08\x0e-\x1f\x7f]"
DIFFERENCES: Final = [
    Difference(
        "Java knows the digits of other scripts, but the old columns did not count them",
        "decimal",
        ("decimal(12,2)", "1\u0661.999"),
        _is_refused("[\u0661\uff11\u0967]"),
    ),
    Difference(
        "a control sign hid the digits after the point, which were rounded away",
        "decimal",
        ("decimal(12,2)", "1.999\x00"),
        _is_refused(CONTROLS),
    ),
    Difference(
        "a control sign behind a zone was part of it",
        "timestamp",
        ("timestamp", "2026-11-20 10:11:12Z\x00"),
        _is_refused(f"{CONTROLS}\\s*$"),
    ),
    Difference(
        "a blank and a line's end of another script were a time of the day",
        "date",
        ("date", "2026-11-20 \u2028"),
        _is_refused("\u2028"),
    ),
    Difference(
        "the zone carries it out of the years 1 to 9999, and it could not be read again",
        "timestamp",
        ("timestamp", "0001-01-01 00:00:00+01:00"),
        lambda found: found.canonical is None and re.match(r"0000|[+-]", found.old or ""),
    ),
    Difference(
        "Java 17 writes more digits than needed of the very large and the very small",
        r"float|double",
        None,
        lambda found: found.canonical and _is_huge_or_tiny(found),
    ),
    Difference(
        "from 128 to 255 Jackson counts on from -128",
        r"<tinyint>",
        ("array<tinyint>", "[200]"),
        _holds_a_misfit("tinyint"),
    ),
    Difference(
        "numbers in a text's place lost their spelling, and digits with it",
        r"string",
        ("array<string>", "[1.50, 1.00000000000000000001]"),
        lambda found: found.canonical and re.search(r"\d[.e]", found.text),
    ),
    Difference(
        "decimals within JSON were rounded, and commas dropped",
        r"<.*decimal",
        ("array<decimal(12,2)>", "[1.239]"),
        _holds_a_misfit(r"decimal\([0-9,]+\)"),
    ),
    Difference(
        "floating numbers within JSON became infinity, or zero",
        r"<.*(float|double)",
        ("array<double>", "[1e400]"),
        _holds_a_misfit("float|double"),
    ),
    Difference(
        "days and moments within JSON were read as leniently as Spark does",
        r"<.*(date|timestamp)",
        ("array<timestamp>", '["2026"]'),
        _holds_a_misfit("date|timestamp"),
    ),
    Difference(
        "moments within JSON were cut to milliseconds",
        r"<.*timestamp",
        ("array<timestamp>", '["2026-11-20 10:11:12.123456"]'),
        lambda found: found.canonical and re.search(r"\.\d{4}", found.canonical),
    ),
    Difference(
        "a floating zero has no sign as a key",
        "map<double",
        ("map<double,int>", '{"-0.0":1}'),
        lambda found: "0.0" in (found.canonical or "") and "-0.0" in (found.old or ""),
    ),
    Difference(
        "-0 within JSON lost its sign",
        "<.*(float|double)",
        ("array<double>", "[-0]"),
        lambda found: re.search(r"-0(?![0-9.])", found.text) and "-0.0" in (found.canonical or ""),
    ),
    Difference(
        "null was a struct of nulls",
        r"^struct",
        ("struct<a:int,b:string,c:boolean>", "null"),
        _is_refused(r"^\s*null\s*$"),
    ),
]


def _differs(found: Found) -> bool:
    return found.fits != (found.canonical is not None) or found.old != found.canonical


def _is_explained(found: Found) -> bool:
    return any(one.holds(found) for one in DIFFERENCES if re.search(one.kinds, found.kind))


def _is_spelled_otherwise(found: Found) -> bool:
    """True where Spark does not write the canonical text again, though it has read the same value."""
    of_java = re.search(r"float|double", found.kind) and _is_huge_or_tiny(found)
    cut = re.sub(r"(\.\d{3})\d{1,3}", r"\1", found.canonical or "")
    return bool(of_java) or ("<" in found.kind and found.again == cut)


@pytest.mark.parametrize("kind", [*drawn_texts.SIMPLE, *drawn_documents.NESTED])
def test_python_judges_as_spark_casts(spark: SparkSession, kind: str) -> None:
    source = drawn_texts if kind in drawn_texts.SIMPLE else drawn_documents
    examples = {one.example[1] for one in DIFFERENCES if one.example and one.example[0] == kind}
    every = found_of(spark, kind, [*dict.fromkeys((*source.drawn(kind), *examples))])
    judge = types.judge_of(kind)
    fitting = [found for found in every if found.canonical is not None]
    assert len(fitting) > 10

    assert [found for found in fitting if found.is_null and kind not in UNASKED] == []
    wrong = [found for found in fitting if found.again != found.canonical]
    assert [found for found in wrong if not _is_spelled_otherwise(found)] == []
    if kind != "binary":
        assert [found for found in fitting if judge(found.in_full or "") != found.canonical] == []
    assert [found for found in fitting if not found.is_same] == []
    unlike = [found for found in every if kind not in UNASKED and _differs(found)]
    assert [found for found in unlike if not _is_explained(found)] == []
    assert examples <= {found.text for found in unlike}
