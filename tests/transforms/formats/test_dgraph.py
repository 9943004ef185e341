"""Dgraph's records as they come from a topic, which no file of a golden case can hold."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pyspark.sql import Row, SparkSession

from tests.transforms.formats.pipeline import BRONZE_OF_TABLES
from tests.transforms.formats.test_golden import feed
from transforms.formats import FORMATS

SENT_AT = datetime(2026, 11, 20, 4, tzinfo=UTC)


def events(
    spark: SparkSession, *records: tuple[str, int, bytes | None, bytes | None]
) -> dict[tuple[str, int], Row]:
    """What the records (window, offset, key, value) of one partition become, by window and offset."""
    topic = replace(feed("dgraph"), landing="kafka://broker:9092/dgraph-cdc")
    rows = [
        (
            *(window, "dgraph-cdc/0", "topic-id", offset + 1, offset, None, value, None),
            *(SENT_AT, key, None, "dgraph-cdc"),
        )
        for window, offset, key, value in records
    ]
    made = FORMATS["dgraph"].to_events(spark.createDataFrame(rows, BRONZE_OF_TABLES), topic)
    return {(row["window"], row["byte_offset"]): row for row in made.collect()}


def name(value: str, commit: int = 5) -> bytes:
    event = f'"operation":"set","uid":3,"attr":"name","value":"{value}","value_type":"string"'
    return f'{{"meta":{{"commit_ts":{commit}}},"type":"mutation","event":{{{event}}}}}'.encode()


@pytest.fixture(scope="module")
def keyed(spark: SparkSession) -> dict[tuple[str, int], Row]:
    keys = [
        *((0).to_bytes(8, "big"), (1).to_bytes(8, "big"), (233).to_bytes(8, "big")),
        *((0xC3A9).to_bytes(8, "big"), (2**64 - 1).to_bytes(8, "big"), b"12", b"abc", None),
    ]
    return events(spark, *[("w", at, key, name("Ann")) for at, key in enumerate(keys)])


@pytest.mark.parametrize(
    ("offset", "namespace"),
    [(0, "0"), (1, "1"), (2, "233"), (3, str(0xC3A9)), (4, str(2**64 - 1)), (5, "12")],
)
def test_a_topics_key_is_the_namespace_in_eight_bytes(
    keyed: dict[tuple[str, int], Row], offset: int, namespace: str
) -> None:
    assert keyed["w", offset]["fault"] is None
    assert keyed["w", offset]["after"]["namespace"] == namespace
    assert "no_namespace" not in keyed["w", offset]["remarks"]


def test_another_key_goes_to_quarantine_and_none_is_namespace_0(
    keyed: dict[tuple[str, int], Row],
) -> None:
    assert keyed["w", 6]["fault"]["reason"] == "unknown_namespace"
    assert "the key is abc" in keyed["w", 6]["fault"]["detail"]
    assert keyed["w", 7]["after"]["namespace"] == "0"
    assert "no_namespace" in keyed["w", 7]["remarks"]
    assert keyed["w", 7]["extracted_at"] is not None


def test_a_commit_that_a_window_cuts_keeps_its_order_and_a_record_twice_is_one(
    spark: SparkSession,
) -> None:
    key = (0).to_bytes(8, "big")
    of_topic = [("03", 7, name("z", 4)), ("03", 8, name("a")), ("04", 9, name("b"))]
    of_topic += [("04", 10, name("c")), ("04", 11, name("y", 6))]
    made = events(spark, *[(window, at, key, value) for window, at, value in of_topic])
    order = sorted(made, key=lambda place: made[place]["position"])
    assert order == [("03", 7), ("03", 8), ("04", 9), ("04", 10), ("04", 11)]
    twice = events(spark, *[(window, at, key, value) for window, at, value in of_topic * 2])
    for place, event in made.items():
        assert twice[place]["position"] == event["position"]
        assert twice[place]["identity"] == event["identity"]


def test_a_record_without_a_value_goes_to_quarantine(spark: SparkSession) -> None:
    (event,) = events(spark, ("w", 1, (0).to_bytes(8, "big"), None)).values()
    assert event["fault"]["reason"] == "missing_field"
