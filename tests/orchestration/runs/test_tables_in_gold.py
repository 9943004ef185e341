"""Tables that only the stream describes are nodes of their own, once they are in gold and the location is reloaded."""

from __future__ import annotations

import json
from pathlib import Path

import dagster as dg
import deltalake
import pytest

from assets.feed_assets import table_name_of
from assets.storage.lake import Lake
from orchestration.definitions import build, job_to_gold, tables_in_gold
from orchestration.resources import lake_of
from orchestration.runs.execution import run_plans
from orchestration.runs.planning import asked, of_asked
from tests.laws.drawn import model_format
from tests.support.pet_feed import drop, lay
from transforms.feed.feed import Feed

# Dagster's own, of its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WINDOW = "2025-11-20T03"
PETS = dg.AssetKey(["gold", "zoo", "pets"])


def put(at: int, name: str = "Ada", log_position: int | None = None) -> str:
    """A pet, and what the table is like."""
    columns = [{"name": "id", "type": "int"}, {"name": "name", "type": "string"}]
    return json.dumps(
        {
            "table": "pets",
            "operation": "insert",
            "effect": "replace",
            "before": {},
            "after": {"id": str(at), "name": name},
            "log_position": [0, 1, log_position or at],
            "identity": [str(at), name],
            "dedup_prefix": 3,
            "told": {"key": ["id"], "columns": columns},
        }
    )


@pytest.fixture
def feed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Feed:
    model_format.register(monkeypatch)
    lay(tmp_path / "landing", "2025-11-20/03/a.jsonl", drop(put(1), put(2)))
    return Feed("zoo", "telling", str(tmp_path / "landing"))


def test_a_table_in_gold_is_a_node_with_columns_and_lineage_after_a_reload(
    tmp_path: Path, feed: Feed
) -> None:
    lake = lake_of(str(tmp_path / "warehouse"))
    assert PETS not in build([feed], lake).resolve_asset_graph().get_all_asset_keys()
    with dg.DagsterInstance.ephemeral() as instance:
        result = job_to_gold(feed, lake).execute_in_process(
            instance=instance, partition_key=WINDOW, raise_on_error=False
        )
        assert result.success
        (event,) = [
            one for one in result.get_asset_materialization_events() if one.asset_key == PETS
        ]
        made = event.step_materialization_data.materialization
        assert instance.get_materialized_partitions(PETS) == {WINDOW}
    assert made.metadata["dagster/row_count"].value == 2
    assert made.metadata["changes"].value == 2
    assert "dagster/column_lineage" in made.metadata
    assert "dagster/column_schema" in made.metadata

    node = build([feed], lake).resolve_asset_graph().get(PETS)
    assert node.group_name == "zoo"
    assert node.parent_keys == {dg.AssetKey(["discovered", "zoo", "zoo_discovered"])}
    assert not node.is_executable
    schema = node.metadata["dagster/column_schema"]
    assert isinstance(schema, dg.TableSchema)
    columns = {one.name: one.type for one in schema.columns}
    assert (columns["id"], columns["name"]) == ("int", "string")
    # A run after the reload makes it as before.
    with dg.DagsterInstance.ephemeral() as instance:
        again = job_to_gold(feed, lake)
        assert again.execute_in_process(instance=instance, partition_key=WINDOW).success


def checks_of(
    lake: Lake, feed: Feed, instance: dg.DagsterInstance, window: str
) -> dict[tuple[str, str], dg.AssetCheckEvaluation]:
    """The checks of a run over one window, as the code location has them when it is loaded now."""
    job = job_to_gold(feed, lake)
    result = job.execute_in_process(instance=instance, partition_key=window, raise_on_error=False)
    found = result.get_asset_check_evaluations()
    return {(table_name_of(one.asset_key.path), one.check_name): one for one in found}


def test_such_a_node_has_the_built_in_checks_which_the_run_that_makes_the_table_judges(
    tmp_path: Path, feed: Feed
) -> None:
    lake = lake_of(str(tmp_path / "warehouse"))
    with dg.DagsterInstance.ephemeral() as instance:
        first = checks_of(lake, feed, instance, WINDOW)
        assert not any(table == "gold.zoo.pets" for table, _ in first)
        assert first["discovered.zoo", "positions_rise_within_key"].passed

        nodes = build([feed], lake).resolve_asset_graph().asset_check_keys
        names = {one.name for one in nodes if one.asset_key == PETS}
        of_gold = {"one_row_per_key", "no_late_event", "positions_rise_within_key"}
        of_gold |= {"rows_were_inserted", "truncates_reach_every_row"}
        assert names == of_gold | {"no_loss_is_held", "snapshots_name_every_row"}

        # Two different events of one key at one position.
        lay(tmp_path / "landing", "2025-11-20/04/b.jsonl", drop(put(3), put(3, "Bob")))
        second = checks_of(lake, feed, instance, "2025-11-20T04")
        tied = second["gold.zoo.pets", "positions_rise_within_key"]
        assert not tied.passed
        assert tied.metadata["violations"].value == 1
        assert "data_docs" in tied.metadata
        assert second["gold.zoo.pets", "one_row_per_key"].passed
        # What has a node is told of there, and not twice.
        assert second["discovered.zoo", "positions_rise_within_key"].passed
        assert instance.get_latest_asset_check_evaluation_record(tied.asset_check_key)

        # Somebody else adds a second row of a key: the run that meets it is blocked.
        rows = deltalake.DeltaTable(f"{tmp_path}/warehouse/gold/zoo/pets")
        deltalake.write_deltalake(rows, rows.to_pyarrow_table(), mode="append")
        lay(tmp_path / "landing", "2025-11-20/05/c.jsonl", drop(put(3, "Cy", 4)))
        third = checks_of(lake, feed, instance, "2025-11-20T05")
        copied = third["gold.zoo.pets", "one_row_per_key"]
        assert not copied.passed
        assert copied.blocking
        assert third["gold.zoo.pets", "positions_rise_within_key"].passed


def test_a_run_of_the_tables_without_their_checks_judges_them_too(
    tmp_path: Path, feed: Feed
) -> None:
    """What the UI runs by "Materialize all": the assets that are selected, and the checks of these."""
    lake = lake_of(str(tmp_path / "warehouse"))
    with dg.DagsterInstance.ephemeral() as instance:
        checks_of(lake, feed, instance, WINDOW)
        layers = ("bronze", "silver", "quarantine", "discovered")
        keys = [dg.AssetKey([layer, "zoo", f"zoo_{layer}"]) for layer in layers]
        result = job_to_gold(feed, lake).execute_in_process(
            instance=instance, partition_key=WINDOW, asset_selection=keys
        )
    assert result.success
    found = {one.asset_key for one in result.get_asset_check_evaluations()}
    assert PETS in found


def test_a_run_of_the_command_line_judges_them_too(tmp_path: Path, feed: Feed) -> None:
    lake = lake_of(str(tmp_path / "warehouse"))
    with dg.DagsterInstance.ephemeral() as instance:
        for window in (WINDOW, "2025-11-20T04"):
            lay(tmp_path / "landing", "2025-11-20/04/b.jsonl", drop(put(3), put(3, "Bob")))
            plan = of_asked(lake, feed, asked(feed, window))
            (outcome,) = run_plans([plan], lake, instance, job_to_gold)
            assert not outcome.errors
    broken = {(one.asset_key, one.check_name) for one in outcome.checks if not one.passed}
    assert (PETS, "positions_rise_within_key") in broken


def test_a_warehouse_that_cannot_be_read_keeps_no_location_from_loading(
    tmp_path: Path, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    for name in ("AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "any")
    lake = lake_of("s3://lake", {})
    with pytest.warns(UserWarning, match="zoo: its tables in gold are not known"):
        assert tables_in_gold(lake, feed) == {}
