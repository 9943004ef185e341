"""A run by an executor that somebody has named: the rows are the same, and the run says who made them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from assets.storage.lake import Layer
from orchestration.cli import main
from orchestration.resources import lake_of
from tests.support.pet_feed import change, drop, lay

# Great Expectations' and Dagster's own, in the process that runs the assets.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ZOO = """\
format: arcion_s3_json
landing: ../drops
tables: {pets: {key: [id], columns: {id: int, name: string}}}
"""
TABLES = ("bronze.zoo", "gold.zoo.pets", "silver.zoo")


@pytest.fixture(autouse=True)
def place(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A feed of pets, without drops."""
    lay(tmp_path, "feeds/zoo.yaml", ZOO.encode())
    monkeypatch.setenv("WEIR_FEEDS", str(tmp_path / "feeds"))
    monkeypatch.setenv("WEIR_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.setenv("DAGSTER_HOME", "")
    monkeypatch.delenv("WEIR_EXECUTOR", raising=False)
    return tmp_path


def weir(*arguments: str) -> int:
    """Run a command; returns its exit code."""
    with pytest.raises(SystemExit) as ended:
        main.main([*arguments])
    return int(ended.value.code or 0)


def test_a_run_says_who_did_its_work(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    born = (("03", "1", "Ada"), ("04", "2", "Bo"), ("05", "3", "Cleo"))
    ways = (("auto", "in-process"), ("spark", "spark"), ("in-process", "in-process"))
    for (hour, key, name), (asked, executor) in zip(born, ways, strict=True):
        pet = change("I", int(key), after={"id": key, "name": name})
        lay(place, f"drops/2025-11-20/{hour}/a.json", drop(pet))
        assert weir("run", "--executor", asked, "--json") == 0
        said = capfd.readouterr()
        (zoo,) = json.loads(said.out)
        found: dict[str, Any] = zoo["executors"]
        assert found == dict.fromkeys(TABLES, executor)
        assert f"now {key} row{'s' if key > '1' else ''} and 0 tombstones ({executor})" in said.err
    gold = lake_of(str(place / "warehouse")).in_process_table(Layer.GOLD, "zoo", "pets")
    columns = pa.schema([("id", pa.int32()), ("name", pa.string())])
    rows = gold.read(columns).to_pylist()
    assert {row["id"]: row["name"] for row in rows} == {1: "Ada", 2: "Bo", 3: "Cleo"}
