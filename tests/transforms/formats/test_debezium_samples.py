"""Fixtures of Debezium and of its other readers, where they are at hand: the rows that their own tests assert.

``WEIR_SAMPLES`` names the folder; they are not part of the project. A fixture is the values of a topic: a drop has them
as a dump of it, numbered in the order of the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.transforms.formats.pipeline import Outcome, Scenario, outcomes
from transforms.feed import Feed, Table

PRODUCT = {"id": "int", "name": "string", "description": "string", "weight": "float"}
TEXTS = {"id": "int", **dict.fromkeys(("name", "description", "weight"), "string")}


def table(name: str, columns: dict[str, str], key: str = "id") -> Table:
    return Table(name, (key,), columns, tuple(columns))


def rows(columns: Iterable[str], *values: tuple[object, ...]) -> list[dict[str, object]]:
    return sorted((dict(zip(columns, row, strict=True)) for row in values), key=str)


BITS = "12-pack of drill bits with sizes ranging from #40 to #3"
SCOOTER, BATTERY = (
    (101, "scooter", "Small 2-wheel scooter", "3.14"),
    (102, "car battery", "12V car battery", "8.1"),
)
EVOLVED = ("id", "name", "description", "weight", "age", "address")
CUSTOMER = ("id", "first_name", "last_name", "email")
SALLY = (1001, "Sally", "Thomas", "sally.thomas@acme.com")
GEORGE = (1002, "George", "Bailey", "gbailey@foobar.com")
EDWARD = (1003, "Edward", "Walker", "ed@walker.com")

CASES: dict[str, tuple[Table, list[str | None], list[dict[str, object]]]] = {
    "seatunnel": (
        table("products", PRODUCT),
        ["seatunnel/debezium-data.txt"],
        rows(
            PRODUCT,
            (101, "scooter", "Small 2-wheel scooter", 3.14),
            (102, "car battery", "12V car battery", 8.1),
            (103, "12-pack drill bits", BITS, 0.8),
            (104, "hammer", "12oz carpenter's hammer", 0.75),
            (105, "hammer", "14oz carpenter's hammer", 0.875),
            (106, "hammer", "18oz carpenter hammer", 1.0),
            (107, "rocks", "box of assorted rocks", 5.1),
            (108, "jacket", "water resistent black wind breaker", 0.1),
            (109, "spare tire", "24 inch spare tire", 22.2),
            (110, "jacket", "new water resistent white wind breaker", 0.5),
        ),
    ),
    "paimon with schema": (
        table("products", {**PRODUCT, "weight": "double"}),
        ["paimon/table/schema/include/debezium-data-1.txt"],
        rows(PRODUCT, (101, "scooter", "Small 2-wheel scooter", 3.140000104904175)),
    ),
    "paimon with tombstones": (
        table("test", {"id": "int", "value": "string"}),
        [
            "paimon/table/nullvalue/debezium-data-1.txt",
            None,
            "paimon/table/nullvalue/debezium-data-2.txt",
        ],
        rows(("id", "value"), (1, "A"), (2, "B")),
    ),
    "paimon with a row in a row": (
        table("product", {"id": "int", "name": "string", "row": "struct<row_key:string>"}),
        ["paimon/table/nestedtype/debezium-data-1.txt"],
        [{"id": 101, "name": "hammer", "row": {"row_key": "value"}}],
    ),
    "paimon, the first file": (
        table("product", TEXTS),
        ["paimon/table/schemaevolution/debezium-data-1.txt"],
        rows(TEXTS, SCOOTER, BATTERY),
    ),
    "paimon, the second file": (
        table("product", {**TEXTS, "age": "int"}),
        [f"paimon/table/schemaevolution/debezium-data-{number}.txt" for number in (1, 2)],
        rows(
            EVOLVED[:5],
            (*SCOOTER, None),
            (*BATTERY, None),
            (103, "12-pack drill bits", BITS, "0.8", 18),
            (104, "hammer", "12oz carpenter's hammer", "0.75", 24),
        ),
    ),
    "paimon, the third file": (
        table("product", {**TEXTS, "age": "int", "address": "string"}),
        [f"paimon/table/schemaevolution/debezium-data-{number}.txt" for number in (1, 2, 3)],
        rows(
            EVOLVED,
            (*BATTERY, None, None),
            (103, "12-pack drill bits", BITS, "0.8", 18, None),
            (104, "hammer", "12oz carpenter's hammer", "0.75", 24, None),
            (105, "hammer", "14oz carpenter's hammer", "0.875", None, "Beijing"),
            (107, "rocks", "box of assorted rocks", "5.3", None, None),
        ),
    ),
    "paimon, a topic of several tables": (
        table("paimon_1", TEXTS),
        ["paimon/database/include/topic0/debezium-data-1.txt"],
        rows(TEXTS, SCOOTER),
    ),
    "paimon, two files of a topic": (
        table("t1", {**TEXTS, "age": "int"}),
        [f"paimon/database/schemaevolution/topic0/debezium-data-{number}.txt" for number in (1, 2)],
        rows(
            EVOLVED[:5],
            (*SCOOTER, None),
            (*BATTERY, None),
            (103, "12-pack drill bits", BITS, "0.8", 19),
            (104, "hammer", "12oz carpenter's hammer", "0.75", 25),
        ),
    ),
    "paimon, the other topic": (
        table("t2", {**TEXTS, "address": "string"}),
        [f"paimon/database/schemaevolution/topic1/debezium-data-{number}.txt" for number in (1, 2)],
        rows(
            (*EVOLVED[:4], "address"),
            (103, "12-pack drill bits", BITS, "0.8", "Beijing"),
            (104, "hammer", "12oz carpenter's hammer", "0.75", "Shanghai"),
        ),
    ),
}
"""The table, its files in the order of the topic (None: a tombstone), and its rows."""


@pytest.fixture(scope="module")
def samples(root: Path) -> Path:
    shared = Path(os.environ.get("WEIR_SAMPLES", root.parent / "shared" / "samples"))
    folder = shared / "debezium_reference"
    if not folder.is_dir():
        pytest.skip(f"no samples at {folder}; WEIR_SAMPLES names the folder that has them")
    return folder


def dump(values: Iterable[str | None]) -> bytes:
    """A topic's values as a dump of it."""
    lines = [
        json.dumps({"topic": "fixture", "partition": 0, "offset": number, "value": value})
        for number, value in enumerate(values)
    ]
    return "\n".join(lines).encode()


def values_of(file: Path) -> list[str]:
    """The file's messages: lines above them are a licence; RisingWave's have their key in front."""
    lines = file.read_text().splitlines()
    return [line[line.index("{") :] for line in lines if line.startswith("{")]


def outcome(spark: SparkSession, table: Table, values: Iterable[str | None]) -> Outcome:
    feed = Feed("samples", "debezium", "/nowhere", tables={table.name: table})
    drop = {"2026-11-20/03/topic.jsonl": dump(values)}
    return outcomes(spark, feed, {"sample": Scenario(drop)})["sample"]


@pytest.mark.parametrize("name", CASES)
def test_a_fixtures_rows_are_those_that_its_own_test_asserts(
    spark: SparkSession, samples: Path, name: str
) -> None:
    declared, files, expected = CASES[name]
    values: list[str | None] = []
    for file in files:
        values += [None] if file is None else values_of(samples / file)
    found = outcome(spark, declared, values)
    assert found.quarantine == []
    assert sorted(shortened(found.state[declared.name]), key=str) == expected


def shortened(found: list[dict[str, object]]) -> list[dict[str, object]]:
    """Floats of 32 bits as they are written: Python shows all of their 64."""
    return [
        {
            name: round(value, 6)
            if isinstance(value, float) and value != 3.140000104904175
            else value
            for name, value in row.items()
        }
        for row in found
    ]
