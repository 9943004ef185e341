"""Fixtures of Debezium and of its other readers, where they are at hand: the rows that their own tests assert.

``WEIR_SAMPLES`` names the folder; they are not part of the project. A fixture is the values of a topic: a drop has them
as a dump of it, numbered in the order of the file.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

from tests.transforms.formats.folded import Folded, folded
from tests.transforms.formats.in_process import Scenario
from transforms.feed.feed import Feed, Table

EVOLVED = ("id", "name", "description", "weight", "age", "address")
NAMES = ("id", "first_name", "last_name", "email")
PRODUCT = {"id": "int", "name": "string", "description": "string"}
TABLES = {
    name: Table(name, tuple(key.split()), columns, tuple(columns))
    for name, key, columns in (
        ("products", "id", {**PRODUCT, "weight": "double"}),
        (
            "product",
            "id",
            {
                **PRODUCT,
                **{"weight": "string", "age": "int", "address": "string"},
                "row": "struct<row_key:string>",
            },
        ),
        ("test", "id", {"id": "int", "value": "string"}),
        ("customers", "id", {"id": "int", **dict.fromkeys(NAMES[1:], "string")}),
        (
            "full_types",
            "id",
            {
                **dict.fromkeys(("id", "big_un_c", "numeric_c"), "decimal(20,0)"),
                **{"big_c": "bigint", "tiny_un_c": "smallint", "real_c": "float"},
                **{"decimal_c": "decimal(8,4)", "big_decimal_c": "decimal(38,1)"},
                **{"double_c": "double", "bit1_c": "boolean", "date_c": "date", "year_c": "int"},
                **{"datetime6_c": "bigint", "timestamp_c": "timestamp", "tiny_blob_c": "binary"},
                **dict.fromkeys(("json_c", "point_c", "varchar_len0_c"), "string"),
            },
        ),
    )
}


def rows(columns: Sequence[str], *values: tuple[object, ...]) -> list[dict[str, object]]:
    return sorted((dict(zip(columns, row, strict=False)) for row in values), key=str)


def single(number: float) -> float:
    """The number as 32 bits hold it."""
    return float(struct.unpack("f", struct.pack("f", number))[0])


BITS = "12-pack of drill bits with sizes ranging from #40 to #3"
SALLY = (1001, "Sally", "Thomas", "sally.thomas@acme.com")
GEORGE = (1002, "George", "Bailey", "gbailey@foobar.com")
EDWARD = (1003, "Edward", "Walker", "ed@walker.com")
ANNE = (1004, "Anne1", "Kretchmar", "annek@noanswer.org")

ANNE_K = (1004, "Anne", "Kretchmar", "annek@noanswer.org")
ANNE_MARIE = (1004, "Anne Marie", "Kretchmar", "annek@noanswer.org")
DOCUMENTED = "debezium/docs_mysql_{:02}.adoc.txt"
FLINK_TYPES = "flink-cdc/debezium-data-schema-exclude-with-numeric-decimal.json"

BITS_ROW, HAMMER = (103, "12-pack drill bits", BITS), (104, "hammer", "12oz carpenter's hammer")

CASES: dict[str, tuple[str, list[str | None], list[dict[str, object]]]] = {
    "seatunnel": (
        "products",
        ["seatunnel/debezium-data.txt"],
        rows(
            EVOLVED[:4],
            (101, "scooter", "Small 2-wheel scooter", single(3.14)),
            (102, "car battery", "12V car battery", single(8.1)),
            (*BITS_ROW, single(0.8)),
            (*HAMMER, 0.75),
            (105, "hammer", "14oz carpenter's hammer", 0.875),
            (106, "hammer", "18oz carpenter hammer", 1.0),
            (107, "rocks", "box of assorted rocks", single(5.1)),
            (108, "jacket", "water resistent black wind breaker", single(0.1)),
            (109, "spare tire", "24 inch spare tire", single(22.2)),
            (110, "jacket", "new water resistent white wind breaker", 0.5),
        ),
    ),
    "paimon with tombstones": (
        "test",
        [
            "paimon/table/nullvalue/debezium-data-1.txt",
            None,
            "paimon/table/nullvalue/debezium-data-2.txt",
        ],
        rows(("id", "value"), (1, "A"), (2, "B")),
    ),
    "paimon with a row in a row": (
        "product",
        ["paimon/table/nestedtype/debezium-data-1.txt"],
        [{"id": 101, "name": "hammer", "row": {"row_key": "value"}}],
    ),
    **{
        f"risingwave, {kind}": (
            "customers",
            [f"risingwave/{file}"],
            rows(NAMES, SALLY, GEORGE, EDWARD, ANNE, (1005, "add", "add2", "add")),
        )
        for kind, file in (
            ("with schema", "debezium_log.1"),
            ("without", "debezium_log_no_schema_field.1"),
        )
    },
    "flink, every type of MySQL": (
        "full_types",
        [FLINK_TYPES],
        [
            {
                **{"id": "1", "big_un_c": "18446744073709551615", "numeric_c": "346"},
                **{"big_c": 9223372036854775807, "tiny_un_c": 255, "real_c": single(123.102)},
                **{"decimal_c": "123.4567", "big_decimal_c": "34567892.1", "double_c": 404.4443},
                **{"bit1_c": False, "date_c": "2020-07-17", "year_c": 2021},
                **{"datetime6_c": 1595008822123456, "timestamp_c": "2020-07-17 18:33:22"},
                **{"tiny_blob_c": "EA==", "json_c": '{"key1":"value1"}', "varchar_len0_c": ""},
            }
        ],
    ),
    "debezium, the documented insert": ("customers", [DOCUMENTED.format(6)], rows(NAMES, ANNE_K)),
    "debezium, the documented update": (
        "customers",
        [DOCUMENTED.format(7), DOCUMENTED.format(6)],
        rows(NAMES, ANNE_MARIE),
    ),
    **{
        f"debezium, {kind}": (
            "customers",
            [f"debezium/serde-{kind}.json"],
            rows(NAMES, ANNE_K),
        )
        for kind in ("update", "unknown-property", "with-schema", "without-schema")
    },
}
"""The table, its files in the order of the topic (None: a tombstone), and its rows."""


@pytest.fixture(scope="module")
def samples(samples_of: Callable[[str], Path]) -> Path:
    return samples_of("debezium_reference")


def dump(values: Iterable[str | None]) -> bytes:
    """A topic's values as a dump of it."""
    lines = [
        json.dumps({"topic": "fixture", "partition": 0, "offset": number, "value": value})
        for number, value in enumerate(values)
    ]
    return "\n".join(lines).encode()


def values_of(file: Path) -> list[str]:
    """The file's messages: one document, or one a line below the lines of a licence, or two that a test asserts."""
    text = file.read_text()
    if file.name.startswith("docs_"):
        # What a page leaves out.
        return [text.replace("{ ... }", "{}")]
    if "expected_binlog" in text:
        # The test looks at a part of each event; the rest is as of any event.
        source = '"source": {"db": "flink", "table": "full_types"}, "op"'
        whole = re.findall(r'"expected_\w+": (\{.*?\n    \})', text, re.DOTALL)
        return [event.replace('"op"', source) for event in whole]
    if file.suffix == ".json":
        return [text[text.index("{") :]]
    return [line for line in text.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def found(samples: Path) -> dict[str, Folded]:
    """Every fixture's outcome, by its name."""
    scenarios = {}
    for name, (_, files, _) in CASES.items():
        values: list[str | None] = []
        for file in files:
            values += [None] if file is None else values_of(samples / file)
        scenarios[name] = Scenario({"2026-11-20/03/topic.jsonl": dump(values)})
    apart = {
        "deleted": [DOCUMENTED.format(number) for number in (8, 7, 6)],
        "changed": ["paimon/mysql/debezium-event-change.json"],
    }
    for name, names in apart.items():
        lines = [value for one in names for value in values_of(samples / one)]
        scenarios[name] = Scenario({"2026-11-20/03/topic.jsonl": dump(lines)})
    return folded(Feed("samples", "debezium", "/nowhere", tables=TABLES), scenarios)


@pytest.mark.parametrize("name", CASES)
def test_a_fixtures_rows_are_those_that_its_own_test_asserts(
    found: dict[str, Folded], name: str
) -> None:
    table, _, expected = CASES[name]
    assert found[name].quarantine == []
    columns = expected[0]
    state = [{column: row[column] for column in columns} for row in found[name].state[table]]
    assert sorted(state, key=str) == expected


def test_the_documented_delete_removes_the_row(found: dict[str, Folded]) -> None:
    assert found["deleted"].quarantine == []
    assert found["deleted"].state == {}


def test_a_changed_table_is_no_change_of_a_row(found: dict[str, Folded]) -> None:
    assert [one["operation"] for one in found["changed"].changes] == ["schema_change"]
