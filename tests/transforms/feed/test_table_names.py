from __future__ import annotations

import dataclasses

import pytest

from transforms.feed.digest import feed_digest
from transforms.feed.feed import Feed, Table, TableNames
from transforms.feed.names import gold_name


@pytest.mark.parametrize(
    ("table", "table_names", "expected"),
    [
        ("region", "plain", "region"),
        ("tpch.region", "plain", "region"),
        ("db.tpch.region", "plain", "region"),
        ("region", "schema", "region"),
        ("tpch.region", "schema", "tpch__region"),
        ("db.tpch.region", "schema", "tpch__region"),
        ("tpch.region", "catalog", "tpch__region"),
        ("db.tpch.region", "catalog", "db__tpch__region"),
    ],
)
def test_gold_takes_the_parts_that_table_names_asks_for(
    table: str, table_names: TableNames, expected: str
) -> None:
    assert gold_name(table, table_names) == expected


REGION = Table("region", ("id",), {"id": "int", "name": "string"}, ("id", "name"))
FEED = Feed("tpch", "arcion_s3_json", "s3://drops/tpch/", tables={"region": REGION})


def test_the_digest_does_not_see_the_landing_or_the_order_of_tables() -> None:
    other = Table("nation", ("id",), {"id": "int"}, ("id",))
    one = dataclasses.replace(FEED, tables={"region": REGION, "nation": other})
    two = dataclasses.replace(FEED, tables={"nation": other, "region": REGION}, landing="/tmp/x")
    assert feed_digest(one, "2025-11-20T03") == feed_digest(two, "2025-11-20T03")


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(FEED, name="tpch2"),
        dataclasses.replace(FEED, format="arcion_s3_csv"),
        dataclasses.replace(FEED, files="*.json"),
        dataclasses.replace(FEED, window="day"),
        dataclasses.replace(FEED, table_names="schema"),
        dataclasses.replace(FEED, tables={}),
        dataclasses.replace(FEED, tables={"region": dataclasses.replace(REGION, key=("name",))}),
        dataclasses.replace(
            FEED, tables={"region": dataclasses.replace(REGION, cdc_columns=("name", "id"))}
        ),
        dataclasses.replace(
            FEED,
            tables={"region": dataclasses.replace(REGION, columns={"name": "string", "id": "int"})},
        ),
        dataclasses.replace(FEED, tables={"region": dataclasses.replace(REGION, path="r/*")}),
        dataclasses.replace(FEED, tables={"region": dataclasses.replace(REGION, history=True)}),
    ],
)
def test_the_digest_sees_every_other_difference(other: Feed) -> None:
    assert feed_digest(other, "2025-11-20T03") != feed_digest(FEED, "2025-11-20T03")


def test_the_digest_stays_what_it_was() -> None:
    """It is recorded in tables: a new way to write it would look like a new declaration."""
    assert feed_digest(FEED, "2025-11-20T03").startswith("cc7db05379579f24")
