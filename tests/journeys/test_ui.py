"""A range of windows, backfilled on the real daemon: gold is right, and what a person sees of it in a real browser."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

import dagster as dg
import pytest
from deltalake import DeltaTable
from playwright.sync_api import Page, expect

from assets.storage.lake import Layer
from orchestration.resources import lake_of
from tests.journeys.conftest import WINDOWS
from tests.journeys.server import Backfill, Server
from tests.support.listening import are_loopback, of_session, session_at

pytestmark = pytest.mark.journey


@pytest.fixture(scope="module")
def page(backfill: Backfill, browser_page: Page) -> Page:
    """A page of the server on which the backfill is over."""
    assert backfill.status == "COMPLETED_SUCCESS"
    return browser_page


def test_nothing_of_it_listens_beyond_this_machine(server: Server) -> None:
    """Pages, daemon, code location, and whatever these have started."""
    port = urlsplit(server.url).port
    assert port is not None
    found = of_session(session_at(port))
    assert port in found
    assert {at: some for at, some in found.items() if not are_loopback(some)} == {}


def test_the_graph_shows_every_layer_of_the_feed(page: Page) -> None:
    page.goto("/locations/weir/asset-groups/zoo")
    titles = ("zoo_landing", "zoo_bronze", "zoo_silver", "zoo_quarantine", "keepers", "pets")
    for title in titles:
        expect(page.get_by_text(title, exact=True).first).to_be_visible()
    for kind in ("Bronze", "Silver", "Gold", "quarantine"):
        expect(page.get_by_text(kind, exact=True).first).to_be_visible()


def test_what_weir_keeps_for_itself_is_in_a_graph_of_its_own(page: Page) -> None:
    page.goto("/locations/weir/asset-groups/zoo_maintenance")
    for title in ("zoo_progress", "zoo_compaction", "pets__tombstones", "keepers__tombstones"):
        expect(page.get_by_text(title, exact=True).first).to_be_visible()


def test_gold_shows_its_rows_columns_and_storage(page: Page) -> None:
    page.goto("/assets/gold/zoo/pets")
    expect(page.get_by_text("Row count", exact=True).first).to_be_visible()
    for column in ("id", "name", "weight", "_weir_log_position"):
        expect(page.get_by_text(column, exact=True).first).to_be_visible()
    expect(page.get_by_text("decimal(6,2)").first).to_be_visible()
    expect(page.get_by_text("gold.zoo.pets", exact=True).first).to_be_visible()
    for name in ("seconds", "keys_changed", "in_gold_already"):
        expect(page.get_by_text(name, exact=True).first).to_be_visible()


def test_the_windows_that_ran_are_marked_and_the_open_one_is_offered(page: Page) -> None:
    still_open = datetime.now(UTC)
    page.goto("/assets/gold/zoo/pets?view=partitions")
    expect(page.get_by_text("Materialized (3)")).to_be_visible()
    expect(page.get_by_text("Failed (0)")).to_be_visible()
    newest = [f"{still_open + timedelta(hours=later):%Y-%m-%dT%H}" for later in (0, 1)]
    shown = page.get_by_text(newest[0], exact=True).or_(page.get_by_text(newest[1], exact=True))
    expect(shown.first).to_be_visible()


def test_checks_show_their_verdict_and_what_to_do(page: Page) -> None:
    page.goto("/assets/silver/zoo/zoo_silver?view=checks")
    for name in ("accounting_is_exact", "no_null_key", "no_event_twice", "nothing_quarantined"):
        expect(page.get_by_text(name).first).to_be_visible()
    page.goto("/assets/silver/zoo/zoo_silver?view=checks&checkDetail=nothing_quarantined")
    expect(page.get_by_text("1 time not so").first).to_be_visible()
    expect(page.get_by_text("weir quarantine list").first).to_be_visible()


def test_schedule_and_sensor_wait_for_a_person_to_turn_them_on(page: Page) -> None:
    page.goto("/automation")
    for name in ("zoo_every_hour", "zoo_drops"):
        expect(page.get_by_text(name, exact=True)).to_be_visible()
    assert page.get_by_role("checkbox").count() >= 2
    assert page.get_by_role("checkbox", checked=True).count() == 0


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
