"""Every golden folder of ``tests/cases``: the drop's real bytes become the changes and the state beside them.

A case is ``<format>/<scenario>/drop/`` with objects at their names relative to the landing, and ``expected.json``:

- ``changes``: in the order of their coordinates. Only the fields that are given are compared, beside ``table``
  (the feed's first, ``region``, where it is left out), ``moved_from`` and ``derived`` (null where they are left out).
- ``duplicates``: how many events were deliveries of an event that had come already.
- ``quarantine``: reason, line and a part of the detail; a fourth element is the object, where a drop has several.
- ``state``: the rows of each table when everything is folded; decimals, dates and times are texts, binary is base64.
- ``table_names``: as in a feed file, where it is not ``plain``.
- ``warnings``: how many events have each of the format's warnings, where the case is about them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from orchestration.feed_files import load_feed
from tests.transforms.formats.in_process import Scenario
from tests.transforms.formats.pipeline import Outcome, outcomes
from transforms.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.splitting.gzip_stream import inflate

CASES = Path(__file__).resolve().parents[2] / "cases"

COMMON = {
    *("insert", "update", "delete", "null_value", "absent", "redelivered", "out_of_order"),
    *("unknown_operation", "missing_field", "new_column"),
}
"""What every format must show."""


def table(name: str, key: tuple[str, ...], columns: dict[str, str]) -> Table:
    """A table whose CSV triplets are in alphabetical order, as in Arcion's only sample."""
    return Table(name, key, columns, cdc_columns=tuple(sorted(columns)))


TABLES = {
    "region": table(
        "region",
        ("r_regionkey",),
        {"r_regionkey": "int", "r_name": "string", "r_comment": "string"},
    ),
    "nation": table(
        "nation",
        ("n_nationkey",),
        {
            "n_nationkey": "int",
            "n_name": "string",
            "n_regionkey": "int",
            "n_comment": "string",
        },
    ),
    "stock": table(
        "stock",
        ("s_house", "s_item"),
        {"s_house": "string", "s_item": "int", "s_count": "int"},
    ),
    "sample": table(
        "sample",
        ("id",),
        {
            "id": "bigint",
            "tiny": "tinyint",
            "small": "smallint",
            "whole": "int",
            "price": "decimal(12,2)",
            "ratio": "double",
            "flag": "boolean",
            "day": "date",
            "moment": "timestamp",
            "raw": "binary",
            "list": "array<int>",
        },
    ),
}


def feed(format_name: str) -> Feed:
    """What the cases of a format are read with: ``tests/cases/<format>/feed/golden.yaml``, else ``TABLES``."""
    file = CASES / format_name / "feed" / "golden.yaml"
    return (
        load_feed(file) if file.exists() else Feed("golden", format_name, "/nowhere", tables=TABLES)
    )


@dataclass(frozen=True)
class Case:
    """One golden folder."""

    folder: Path

    @property
    def expected(self) -> dict[str, object]:
        expected: dict[str, object] = json.loads((self.folder / "expected.json").read_text())
        return expected

    def scenario(self) -> Scenario:
        drop = self.folder / "drop"
        objects = {
            file.relative_to(drop).as_posix(): file.read_bytes()
            for file in drop.rglob("*")
            if file.is_file()
        }
        assert objects, f"{drop} is empty"
        naming = self.expected.get("table_names", "plain")
        return Scenario(objects, naming)  # type: ignore[arg-type]


def cases() -> list[Case]:
    return [Case(expected.parent) for expected in sorted(CASES.glob("*/*/expected.json"))]


@pytest.fixture(scope="session")
def outcome_of(spark: SparkSession) -> Callable[[Case], Outcome]:
    """A case's outcome: all cases of a format are read in one Spark frame, once the first of them is asked for."""

    @cache
    def of_format(format_name: str) -> dict[str, Outcome]:
        scenarios = {
            case.folder.name: case.scenario()
            for case in cases()
            if case.folder.parent.name == format_name
        }
        return outcomes(spark, feed(format_name), scenarios)

    return lambda case: of_format(case.folder.parent.name)[case.folder.name]


@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_every_format_has_the_common_scenarios(format_name: str) -> None:
    assert {
        case.folder.name for case in cases() if case.folder.parent.name == format_name
    } >= COMMON


def test_every_folder_is_a_case() -> None:
    folders = {folder for folder in CASES.glob("*/*") if folder.is_dir() and folder.name != "feed"}
    assert folders == {case.folder for case in cases()}
    assert {folder.parent.name for folder in folders} <= FORMATS.keys()


@pytest.mark.parametrize(
    "case", cases(), ids=lambda case: f"{case.folder.parent.name}-{case.folder.name}"
)
def test_a_drop_becomes_what_is_expected_of_it(
    case: Case, outcome_of: Callable[[Case], Outcome]
) -> None:
    actual, expected = outcome_of(case), case.expected
    assert quarantined(actual, expected) == expected.get("quarantine", [])
    assert changed(actual, expected) == [
        {"table": usual_table(case), "moved_from": None, "derived": None} | change
        for change in listed(expected, "changes")
    ]
    assert actual.duplicates == expected.get("duplicates", 0)
    assert actual.state == expected.get("state", {})
    assert actual.warnings == expected.get("warnings", actual.warnings)


@pytest.mark.parametrize(
    "case", cases(), ids=lambda case: f"{case.folder.parent.name}-{case.folder.name}"
)
def test_every_record_is_accounted_for_and_can_be_found_again(
    case: Case, outcome_of: Callable[[Case], Outcome]
) -> None:
    actual = outcome_of(case)
    own = [change for change in actual.changes if change["derived"] is None]
    assert actual.unread == 0
    assert actual.events == len(own) + actual.duplicates + len(actual.quarantine)
    for refused in actual.quarantine:
        assert (refused["feed"], refused["generation"]) == ("golden", "generation")
        data, _ = inflate((case.folder / "drop" / str(refused["object"])).read_bytes())
        payload, start = refused["payload"], refused["byte_offset"]
        assert isinstance(payload, bytes | bytearray)
        assert isinstance(start, int)
        assert data[start : start + len(payload)] == payload
        assert refused["line"] == data.count(b"\n", 0, start) + 1


def usual_table(case: Case) -> str:
    """The gold table of a change that names none: the first that the format's cases declare."""
    return next(iter(feed(case.folder.parent.name).tables))


def listed(expected: dict[str, object], name: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = expected.get(name, [])  # type: ignore[assignment]
    return found


def changed(actual: Outcome, expected: dict[str, object]) -> list[dict[str, object]]:
    """The changes, each with the fields that the expected one at its place gives."""
    wanted = [{"table", "moved_from", "derived", *one} for one in listed(expected, "changes")]
    whole = {"table", "moved_from", "derived", "operation", "effect", "key", "before", "after"}
    wanted += [whole] * (len(actual.changes) - len(wanted))
    return [
        {name: change[name] for name in change if name in fields}
        for change, fields in zip(actual.changes, wanted, strict=False)
    ]


def quarantined(actual: Outcome, expected: dict[str, object]) -> list[list[object]]:
    """The quarantine; the detail is the part that is expected, if it is a part of what was found."""
    wanted: list[list[object]] = expected.get("quarantine", [])  # type: ignore[assignment]
    parts = [*wanted, *[["", 0, "\0"]] * len(actual.quarantine)]
    shown: list[list[object]] = []
    for refused, part in zip(actual.quarantine, parts, strict=False):
        detail = str(refused["detail"])
        one = [refused["reason"], refused["line"], part[2] if str(part[2]) in detail else detail]
        shown.append([*one, refused["object"]] if len(part) > 3 else one)
    return shown
