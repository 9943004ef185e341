"""What is known of a table without a session is what Spark says of it."""

from __future__ import annotations

import pytest

from assets.lake import Lake
from assets.layers import Layer

pytestmark = pytest.mark.spark

COLUMNS = """cast(1 as tinyint) as tiny, cast(2 as smallint) as small, 3 as whole, cast(4 as bigint) as large,
    cast(5 as decimal(10, 2)) as exact, cast(6 as float) as single, cast(7 as double) as twice, true as yes,
    'a' as text, cast('b' as binary) as bytes, date'2025-11-20' as day, timestamp'2025-11-20 01:02:03' as moment,
    array(1) as some, map('a', 1) as pairs, struct(1 as a, 'b' as b) as struct"""


def test_the_columns_of_a_table_are_read_from_its_log(lake: Lake) -> None:
    table = lake.table(Layer.GOLD, "shop", "things")
    assert table.schema().names == []
    lake.spark.sql(f"SELECT {COLUMNS}").write.format("delta").save(table.path)
    assert [(one.name, one.dataType) for one in table.schema()] == [
        (one.name, one.dataType) for one in table.read().schema
    ]
