"""A range of windows, backfilled through the real webserver on the real daemon: one run, and gold is right."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import dagster as dg
import pytest
from deltalake import DeltaTable

from assets.storage.lake import Layer
from orchestration.resources import lake_of
from tests.journeys.conftest import WINDOWS, Backfill

pytestmark = pytest.mark.journey


def test_a_range_of_windows_is_one_run_that_succeeds(backfill: Backfill) -> None:
    assert backfill.status == "COMPLETED_SUCCESS", backfill.server.said
    assert [run["status"] for run in backfill.runs] == ["SUCCESS"]


def test_gold_is_the_state_after_the_windows_that_were_asked_for(backfill: Backfill) -> None:
    pets = rows(backfill, Layer.GOLD, "pets", ["id", "name", "weight"])
    assert pets == [(1, "Ava", Decimal("3.50")), (3, "Cy", None)]
    assert rows(backfill, Layer.GOLD, "keepers", ["id", "name"]) == [(7, "Mo"), (8, "Nik")]
    assert rows(backfill, Layer.GOLD, "pets__tombstones", ["id"]) == [(2,)]
    refused = rows(backfill, Layer.QUARANTINE, None, ["window", "reason"])
    assert refused == [("2025-11-20T05", "damaged_record")]


def rows(backfill: Backfill, layer: Layer, table: str | None, columns: list[str]) -> list[Any]:
    """These columns of all rows of a table, in their order, read without Spark."""
    found = DeltaTable(lake_of(str(backfill.server.warehouse)).path(layer, "zoo", table))
    return sorted(
        tuple(row.values()) for row in found.to_pyarrow_table(columns=columns).to_pylist()
    )


def test_partitions_and_checks_are_recorded(backfill: Backfill) -> None:
    with dg.DagsterInstance.from_config(str(backfill.server.home)) as instance:
        made = instance.get_materialized_partitions(dg.AssetKey(["gold", "zoo", "pets"]))
        assert made == set(WINDOWS)
        records = instance.get_records_for_run(
            backfill.runs[0]["runId"], of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION
        ).records
        checks = [
            record.event_log_entry.dagster_event.asset_check_evaluation_data  # type: ignore[union-attr]
            for record in records
        ]
    passed = {(check.asset_key.path[0], check.check_name): check.passed for check in checks}
    assert passed["silver", "accounting_is_exact"]
    assert passed["gold", "one_row_per_key"]
    assert passed["silver", "exists_flags_agree_with_operation"]
    assert not passed["silver", "nothing_quarantined"]


def test_a_materialization_tells_which_columns_its_own_are_made_from(backfill: Backfill) -> None:
    with dg.DagsterInstance.from_config(str(backfill.server.home)) as instance:
        event = instance.get_latest_materialization_event(dg.AssetKey(["gold", "zoo", "pets"]))
    assert event is not None
    assert event.asset_materialization is not None
    lineage = event.asset_materialization.metadata["dagster/column_lineage"].value
    assert isinstance(lineage, dg.TableColumnLineage)
    made_from = {
        name: {(dep.asset_key.to_user_string(), dep.column_name) for dep in deps}
        for name, deps in lineage.deps_by_column.items()
    }
    assert made_from["weight"] == {
        ("silver/zoo/zoo_silver", "after"),
        ("silver/zoo/zoo_silver", "effect"),
    }
    assert made_from["id"] == {
        ("silver/zoo/zoo_silver", "key"),
        ("silver/zoo/zoo_silver", "effect"),
    }
