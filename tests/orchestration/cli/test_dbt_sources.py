"""What ``weir dbt-sources`` prints: gold's tables as dbt finds them, without Spark and without a warehouse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.commands_here import weir

SHOP = """\
format: arcion_s3_json
landing: drops
tables:
  customers: {key: [id], columns: {id: int, name: string}, history: true}
  lines: {key: [order_id, number], columns: {order_id: bigint, number: int, price: "decimal(10,2)"}}
  clicks: {key: [], columns: {page: string}}
  members: {key: [id], columns: {id: int, name: string}, history: true, deletes: mark}
"""
OF_DELETE = {"_weir_is_deleted": "boolean", "_weir_deleted_at": "timestamp"}


def printed(
    folder: Path, capsys: pytest.CaptureFixture[str], warehouse: str = "", *only: str
) -> dict[str, Any]:
    (folder / "feeds").mkdir(exist_ok=True)
    (folder / "feeds" / "shop.yaml").write_text(SHOP)
    (folder / "feeds" / "daily.yaml").write_text(
        "format: arcion_s3_json\nlanding: more\nwindow: day\ntables: {one: {key: [a], columns: {a: int}}}\n"
    )
    place = (
        "--feeds",
        str(folder / "feeds"),
        "--warehouse",
        warehouse or str(folder / "warehouse"),
    )
    assert weir("dbt-sources", *only, *place) == 0
    text = capsys.readouterr().out
    assert "&id" not in text
    read = yaml.safe_load(text)
    assert read["version"] == 2
    return {source["name"]: source for source in read["sources"]}


def test_each_feed_is_a_source_with_its_gold_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = printed(tmp_path, capsys)
    assert sorted(sources) == ["daily", "shop"]
    tables = {one["name"]: one for one in sources["shop"]["tables"]}
    assert sorted(tables) == [
        *("clicks", "customers", "customers__history", "lines"),
        *("members", "members__history"),
    ]
    row, last = "One row for each key of", ", or, marked by _weir_is_deleted, its last one"
    assert tables["lines"]["description"] == f"{row} lines: its current state."
    assert tables["members"]["description"] == f"{row} members: its current state{last}."
    path = f"{tmp_path}/warehouse/gold/shop/customers"
    assert tables["customers"]["identifier"] == path
    assert tables["customers"]["meta"] == {"external_location": f"delta_scan('{path}')"}
    assert tables["customers__history"]["config"] == {"freshness": None}
    for name, late in (("shop", 3), ("daily", 48)):
        config = sources[name]["config"]
        assert config["loaded_at_field"] == "_weir_event_at"
        hours = {"hour": 1, "day": 24}[config["freshness"]["warn_after"]["period"]]
        assert config["freshness"]["warn_after"]["count"] * hours == late


def test_columns_have_types_and_those_of_the_key_are_tested(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = {one["name"]: one for one in printed(tmp_path, capsys)["shop"]["tables"]}
    columns = {
        name: {column["name"]: column for column in table["columns"]}
        for name, table in tables.items()
    }
    assert columns["lines"]["price"] == {"name": "price", "data_type": "decimal(10,2)"}
    assert columns["customers"]["id"]["data_tests"] == ["not_null", "unique"]
    # Of a key of two columns neither is unique by itself.
    assert columns["lines"]["order_id"]["data_tests"] == ["not_null"]
    assert all("data_tests" not in column for column in columns["clicks"].values())
    assert {"_weir_key", "_weir_copy"} <= set(columns["clicks"])
    assert not {"_weir_key", "_weir_copy"} & set(columns["lines"])
    # Only where deleted rows stay a table says which they are; its versions are of live rows.
    assert {
        name: {one: table[one]["data_type"] for one in OF_DELETE if one in table}
        for name, table in columns.items()
        if OF_DELETE.keys() & table.keys()
    } == {"members": OF_DELETE}
    assert all(
        column.get("description")
        for table in columns.values()
        for name, column in table.items()
        if name.startswith("_weir_")
    )


def test_a_path_is_quoted_for_sql_and_for_the_adapter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = printed(tmp_path, capsys, str(tmp_path / "it's {here}"))
    (table,) = sources["daily"]["tables"]
    where = f"{tmp_path}/it''s {{{{here}}}}/gold/daily/one"
    assert table["meta"]["external_location"] == f"delta_scan('{where}')"
    assert table["identifier"] == f"{tmp_path}/it's {{here}}/gold/daily/one"
