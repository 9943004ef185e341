"""A source format of the tests' own: its records say the change model word for word, so that all of it can be drawn.

It is registered for these tests only. What a vendor's format makes of its records is judged by the golden cases; what
becomes of events of every kind, by the laws.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats import FORMATS
from transforms.formats.spec import NO_FAULT, SourceFormat, as_events
from transforms.record import Record
from transforms.splitting.limits import DEFAULTS, Limits

RECORD = (
    "`table` string, operation string, effect string, before map<string,string>, after map<string,string>,"
    " attribute_ops map<string,string>, scope map<string,string>, stream string, transaction struct<id:string,"
    "expected:bigint,has_begin:boolean,at_commit:boolean>, derived string, position array<bigint>,"
    " identity array<string>, settled int, event_at_ms bigint,"
    " told struct<key:array<string>,columns:array<struct<name:string,type:string>>>"
)


def split(data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULTS) -> Iterator[Record]:
    """One JSON document a line."""
    offset = 0
    for number, line in enumerate(data.splitlines(keepends=True), start=1):
        yield Record(number, offset, line.rstrip(b"\n"))
        offset += len(line)


def to_events(bronze: DataFrame, feed: Feed) -> DataFrame:
    """One row per record."""
    said = F.from_json(F.col("payload").cast("string"), RECORD)
    return as_events(
        bronze.withColumn("said", said)
        .select(*bronze.columns, "said.*")
        .withColumnRenamed("table", "name")
        .withColumn("catalog", F.lit(None).cast("string"))
        .withColumn("schema", F.lit(None).cast("string"))
        .withColumn("segment", F.lit(None).cast("bigint"))
        .withColumn("event_at", F.timestamp_millis("event_at_ms"))
        .withColumn("extracted_at", F.col("event_at"))
        .withColumn("fault", F.lit(None).cast(NO_FAULT))
    )


FORMAT = SourceFormat(
    name="model", files=("**/*.jsonl",), split=split, to_events=to_events, transactional=True
)


TELLING = replace(FORMAT, name="telling", tells_tables=True)
"""The same, of a source that describes its tables."""


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let feeds have the formats, for one test."""
    for one in (FORMAT, TELLING):
        monkeypatch.setitem(cast("dict[str, SourceFormat]", FORMATS), one.name, one)
