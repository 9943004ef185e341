"""Operations that are missing between two records, by the running totals of Arcion's files: a gap, and none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from assets.bronze import asset, checks
from assets.bronze.checks import Counting, Gap, bronze_check_specs, operation_gaps_in
from assets.storage import in_process_table
from assets.storage.lake import Lake, Layer
from orchestration.definitions import job_to_gold
from orchestration.resources import lake_of
from orchestration.runs import execution
from orchestration.runs.planning import RunPlan
from tests.support.made_bronze import COLUMNS, NOON
from tests.support.pet_feed import PETS, change, lay
from transforms.families.arcion import operations_so_far
from transforms.feed.feed import CheckSetting, Feed

WINDOW = "2025-11-20T03"
FEED = Feed("zoo", "arcion_s3_json", "/drops")
ASKED = replace(FEED, checks={"operation_counts_have_no_gap": CheckSetting()})


def counted(total: int, table: str = "pets") -> bytes:
    """A record that says how many inserts there were with it."""
    record = json.loads(change("I", total, after={"id": str(total)}, table=table))
    totals = {"insertCount": total, "updateCount": 0, "deleteCount": 0, "replaceCount": 0}
    return json.dumps(record | {"operationcount": json.dumps(totals)}).encode()


def test_totals_are_read_as_they_stand_in_json_and_in_csv() -> None:
    named = operations_so_far(counted(7))
    assert named is not None
    assert ('"pets"' in named[0], named[1]) == (True, 7)
    csv = b'1,NULL,1,I,"{}","{""insertCount"":6,""updateCount"":2,""deleteCount"":1}"'
    assert operations_so_far(csv) == ("", 9)
    assert operations_so_far(change("I", 1, after={"id": "1"}).encode()) is None
    assert operations_so_far(b"\xff") is None


@pytest.mark.parametrize(
    ("totals", "gaps"),
    [
        ([("a", 5), ("a", 6), ("a", 7)], []),
        ([("a", 5), ("a", 8)], [2]),
        # A repeat, and totals that begin again.
        ([("a", 5), ("a", 5), ("a", 6), ("a", 1), ("a", 2)], []),
        # Totals of each table, and those of all tables.
        ([("a", 5), ("b", 90), ("a", 6), ("b", 91)], []),
        ([("a", 5), ("b", 6), ("a", 7), ("b", 8)], []),
        ([("a", 5), ("b", 90), ("a", 6), ("b", 94)], [3]),
    ],
)
def test_only_a_jump_in_every_reading_is_a_gap(
    totals: list[tuple[str, int]], gaps: list[int]
) -> None:
    records = [Counting(line, *one) for line, one in enumerate(totals, start=1)]
    assert [gap.missing for gap in operation_gaps_in("o", reversed(records))] == gaps


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Bronze of two objects, of which the second lacks two operations."""
    lake = lake_of(str(tmp_path), {})
    objects = {"whole": [counted(1), counted(2)], "cut": [counted(3), counted(6), b"no JSON"]}
    rows = [
        {
            **{"window": WINDOW, "object": name, "generation": "1", "line": line},
            **{"byte_offset": line, "payload": payload, "landed_at": NOON},
        }
        for name, payloads in objects.items()
        for line, payload in enumerate(payloads, start=1)
    ]
    write_deltalake(
        lake.path(Layer.BRONZE, "zoo"),
        pa.Table.from_pylist(rows, schema=COLUMNS),
        partition_by=["window"],
    )
    return lake


def test_what_is_missing_is_named_for_whom_asks(lake: Lake) -> None:
    gaps = checks.operation_gaps(lake, ASKED, [WINDOW])
    assert gaps == [Gap("cut", 2, 2)]
    early = "2031-01-01/a.json: the date in its path is 2031-01-01"
    dated, failed = checks.file_checks(lake, ASKED, gaps, [early], [WINDOW])
    _, passed = checks.file_checks(lake, ASKED, [], [], [WINDOW])
    assert (dated.passed, failed.passed, passed.passed) == (False, False, True)
    assert "- `2031-01-01/a.json: the date in its path is" in str(dated.description)
    assert "- `cut line 2: 2 missing before it" in str(failed.description)
    names = ["no_drop_is_out_of_time", "operation_counts_have_no_gap"]
    assert [spec.name for spec in bronze_check_specs(ASKED)] == names

    assert checks.operation_gaps(lake, FEED, [WINDOW]) == []
    assert [spec.name for spec in bronze_check_specs(FEED)] == names[:1]
    assert {key.name for key in asset.build(ASKED, lambda *_: None).check_keys} == {*names}
    topics = replace(FEED, format="debezium", landing="kafka://broker:9092/pets")
    asked = replace(topics, checks={"offsets_have_no_gap": CheckSetting()})
    assert [spec.name for spec in bronze_check_specs(asked)] == ["offsets_have_no_gap"]


def test_records_in_any_order_have_the_same_gaps(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bronze may be read some rows at a time, and in any order: a copy of it, from the last row to the first."""
    bronze = lake.in_process_table(Layer.BRONZE, "zoo").read(COLUMNS, {"window": [WINDOW]})
    backwards = lake_of(str(tmp_path / "backwards"), {})
    write_deltalake(
        backwards.path(Layer.BRONZE, "zoo"),
        bronze.take(pa.arange(bronze.num_rows - 1, -1, -1)),
        partition_by=["window"],
    )
    monkeypatch.setattr(in_process_table, "_BATCH", 1)
    for one in (lake, backwards):
        assert checks.operation_gaps(one, ASKED, [WINDOW]) == [Gap("cut", 2, 2)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_run_reports_the_gap_and_goes_on(tmp_path: Path) -> None:
    lay(tmp_path / "drops", "2025-11-20/03/a.json", counted(1) + b"\n" + counted(3) + b"\n")
    feed = replace(ASKED, landing=str(tmp_path / "drops"), tables={"pets": PETS})
    with dg.DagsterInstance.ephemeral() as instance:
        tables = lake_of(str(tmp_path / "tables"))
        (outcome,) = execution.run_plans(
            [RunPlan(feed, [WINDOW], [], [])], tables, instance, job_to_gold
        )
    assert not outcome.failed
    _, check = [one for one in outcome.checks if one.asset_key.path[0] == "bronze"]
    assert (check.passed, check.check_name) == (False, "operation_counts_have_no_gap")
    assert "- `2025-11-20/03/a.json line 2: 1 missing before it" in str(check.description)
