"""Columns that a source adds with a default: what rows from before have, by the schema that the stream carries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assets.storage.lake import Lake, Layer
from tests.support.bringing import run
from tests.support.pet_feed import lay
from transforms.feed.feed import Feed, Table
from transforms.feed.masks import MaskKind

COLUMNS = {"id": "int", "name": "string", "kind": "string", "price": "decimal(9,2)"}
PARCEL = Table("parcel", ("id",), COLUMNS, tuple(COLUMNS))

ID = {"field": "id", "type": "int32", "optional": False}
NAME = {"field": "name", "type": "string", "optional": True}
KIND = {"field": "kind", "type": "string", "optional": True, "default": "plain"}
DECIMAL = {"name": "org.apache.kafka.connect.data.Decimal", "parameters": {"scale": "2"}}
PRICE = {"field": "price", "type": "bytes", "optional": True, "default": "AfQ=", **DECIMAL}
OLD, NEW = (ID, NAME), (ID, NAME, KIND, PRICE)


def message(lsn: int, fields: tuple[Mapping[str, Any], ...], **after: Any) -> str:
    """A change with the schema that its table has then, as Debezium's Postgres connector sends it."""
    sides = [
        {"field": side, "type": "struct", "optional": True, "fields": [*fields]}
        for side in ("before", "after")
    ]
    source = {"connector": "postgresql", "schema": "shop", "table": "parcel", "lsn": lsn}
    payload = {"op": "c", "before": None, "after": after, "source": source, "ts_ms": lsn}
    value = {"schema": {"type": "struct", "name": "E", "fields": sides}, "payload": payload}
    key = {
        "schema": {"type": "struct", "name": "K", "fields": [ID]},
        "payload": {"id": after["id"]},
    }
    line = {"topic": "t", "partition": 0, "offset": lsn, "key": key, "value": value}
    return json.dumps(line) + "\n"


BEFORE = message(1, OLD, id=1, name="Ada") + message(2, OLD, id=2, name="Bo")
BEHIND = message(3, NEW, id=3, name="Cy", kind="big", price="AMg=") + message(
    4, NEW, id=4, name="Di", kind=None, price=None
)
FILLED = {1: ("plain", "5.00"), 2: ("plain", "5.00"), 3: ("big", "2.00"), 4: (None, None)}


def parcels(lake: Lake) -> dict[int, tuple[str | None, str | None]]:
    rows = lake.in_process_table(Layer.GOLD, "shop", "parcel").rows(["id", "kind", "price"])
    return {
        row["id"]: (row["kind"], None if row["price"] is None else str(row["price"]))
        for row in rows
    }


def feed_of(folder: Path, *tables: Table) -> Feed:
    return Feed("shop", "debezium", str(folder), tables={one.name: one for one in tables})


@pytest.mark.parametrize("tables", [(), (PARCEL,)], ids=["described", "declared"])
@pytest.mark.parametrize("is_at_once", [True, False], ids=["one window", "two windows"])
def test_rows_from_before_have_the_default_whoever_declares_the_table(
    lake: Lake, folder: Path, tables: tuple[Table, ...], is_at_once: bool
) -> None:
    feed = feed_of(folder, *tables)
    lay(folder, "2026-11-20/03/a.json", BEFORE.encode())
    if not is_at_once:
        run(lake, feed)
        assert len(lake.in_process_table(Layer.GOLD, "shop", "parcel").rows(["id"])) == 2
    lay(folder, f"2026-11-20/0{3 if is_at_once else 4}/b.json", BEHIND.encode())
    run(lake, feed)
    assert parcels(lake) == FILLED


def test_a_column_under_its_earlier_name_has_it_and_a_masked_one_has_not(
    lake: Lake, folder: Path
) -> None:
    masks: dict[str, MaskKind] = {"kind": "null"}
    renamed = replace(
        PARCEL,
        columns={"id": "int", "name": "string", "kind": "string", "cost": "decimal(9,2)"},
        cdc_columns=("id", "name", "kind", "cost"),
        renamed={"price": "cost"},
        masks=masks,
    )
    lay(folder, "2026-11-20/03/a.json", (BEFORE + BEHIND).encode())
    run(lake, feed_of(folder, renamed))
    rows = lake.in_process_table(Layer.GOLD, "shop", "parcel").rows(["id", "kind", "cost"])
    assert {row["id"]: (row["kind"], row["cost"] and str(row["cost"])) for row in rows} == {
        1: (None, "5.00"),
        2: (None, "5.00"),
        3: (None, "2.00"),
        4: (None, None),
    }


def test_of_two_defaults_none_is_known_to_be_that_of_the_old_rows(lake: Lake, folder: Path) -> None:
    other = message(5, (ID, NAME, {**KIND, "default": "odd"}, PRICE), id=5, name="Ed", kind="odd")
    lay(folder, "2026-11-20/03/a.json", (BEFORE + BEHIND + other).encode())
    run(lake, feed_of(folder, PARCEL))
    assert parcels(lake)[1] == (None, "5.00")
