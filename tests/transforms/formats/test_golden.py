"""Every golden folder of ``tests/cases``: what a case is, and the state that the changes of its drop fold to.

That the drop's real bytes become the changes beside them is shown in ``test_golden_changes``.

A case is ``<format>/<scenario>/drop/`` with objects at their names relative to the landing, and ``expected.json``:

- ``changes``: in the order of their source locations. Only the fields that are given are compared, beside ``table``
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
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from assets.control.schemas import asked_for
from orchestration.feeds.load import load_feed
from tests.transforms.formats.folded import Folded, folded
from tests.transforms.formats.in_process import Scenario
from transforms.feed.feed import CsvDialect, Feed, Table
from transforms.formats import FORMATS

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
    "audit": table("audit", ("id",), {"id": "int", "before": "string", "after": "string"}),
    "pipes": replace(
        table("pipes", ("id",), {"id": "int", "name": "string", "note": "string"}),
        csv=CsvDialect("|", "'", "", "\\N", "yes"),
    ),
    "tabs": replace(
        table("tabs", ("id",), {"id": "string", "name": "string", "note": "string"}),
        csv=CsvDialect(delimiter="\t", null="", header="no"),
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
    """What the cases of a format are read with: ``tests/cases/<format>/feed/golden.yaml``, else ``TABLES``.

    Schemas that records name by id are in a folder beside that file.
    """
    file = CASES / format_name / "feed" / "golden.yaml"
    if not file.exists():
        return Feed("golden", format_name, "/nowhere", tables=TABLES)
    found = load_feed(file)
    if found.schemas is None:
        return found
    ids = [one.stem for one in Path(found.schemas.place).iterdir()]
    return replace(found, schemas=replace(found.schemas, known=asked_for(found, ids)))


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
def state_of() -> Callable[[Case], object]:
    """A case's state: all cases of a format are folded together, once the first of them is asked for."""

    @cache
    def of_format(format_name: str) -> dict[str, Folded]:
        scenarios = {
            case.folder.name: case.scenario()
            for case in cases()
            if case.folder.parent.name == format_name
        }
        return folded(feed(format_name), scenarios)

    return lambda case: of_format(case.folder.parent.name)[case.folder.name].state


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
def test_the_changes_of_a_drop_fold_to_the_state_that_is_expected(
    case: Case, state_of: Callable[[Case], object]
) -> None:
    assert state_of(case) == case.expected.get("state", {})
