"""What Dagster sees of a folder of feed files: assets, checks, jobs, schedules, sensors, pools."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import dagster as dg
import pytest
import yaml
from dagster._core.definitions.partitions.context import partition_loading_context

from assets.feed_assets import gold_key
from expectations import feed_rules
from orchestration import definitions
from orchestration.feeds.load import load_feeds
from orchestration.resources import Deployment, lake_of
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.source_format import ExtraAsset, SourceFormat

SHOP = """\
format: arcion_s3_json
landing: s3://drops/shop/
window: hour
tables:
  customers: {key: [id], columns: {id: int, name: string}}
  order details: {key: [id, line], columns: {id: int, line: int, total: "decimal(10,2)"}}
"""
TPCH = """\
format: arcion_s3_csv
landing: drops/tpch
window: day
table_names: schema
tables:
  public.region: {key: [r_regionkey], columns: {r_regionkey: int, r_name: string}}
"""
MADE_OF_TPCH = (
    "bronze/tpch/tpch_bronze",
    "silver/tpch/tpch_silver",
    "quarantine/tpch/tpch_quarantine",
    "gold/tpch/public__region",
    "gold/tpch/public__region__tombstones",
    "progress/tpch/tpch_progress",
    "report/tpch/tpch_report",
)


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> list[Feed]:
    folder = tmp_path_factory.mktemp("feeds")
    (folder / "shop.yaml").write_text(SHOP)
    (folder / "tpch.yaml").write_text(TPCH)
    return load_feeds(folder)


@pytest.fixture(scope="module")
def built(feeds: list[Feed], tmp_path_factory: pytest.TempPathFactory) -> dg.Definitions:
    return definitions.build(feeds, lake_of(str(tmp_path_factory.mktemp("warehouse")), {}))


def keys(*names: str) -> set[dg.AssetKey]:
    return {dg.AssetKey(name.split("/")) for name in names}


def test_a_feed_is_a_chain_of_assets_with_one_gold_table_per_declared_table(
    built: dg.Definitions,
) -> None:
    graph = built.resolve_asset_graph()
    assert graph.get_all_asset_keys() == keys(
        "landing/shop/shop_landing",
        "bronze/shop/shop_bronze",
        "silver/shop/shop_silver",
        "quarantine/shop/shop_quarantine",
        "gold/shop/customers",
        "gold/shop/customers__tombstones",
        "gold/shop/order_details",
        "gold/shop/order_details__tombstones",
        "progress/shop/shop_progress",
        "report/shop/shop_report",
        "compaction/shop/shop_compaction",
        "landing/tpch/tpch_landing",
        "compaction/tpch/tpch_compaction",
        *MADE_OF_TPCH,
    )

    def parents(name: str) -> set[dg.AssetKey]:
        return set(graph.get(dg.AssetKey(name.split("/"))).parent_keys)

    assert parents("bronze/shop/shop_bronze") == keys("landing/shop/shop_landing")
    assert (
        parents("silver/shop/shop_silver")
        == parents("quarantine/shop/shop_quarantine")
        == keys("bronze/shop/shop_bronze")
    )
    assert parents("gold/shop/customers") == keys("silver/shop/shop_silver")
    assert parents("gold/shop/customers__tombstones") == keys("silver/shop/shop_silver")
    assert parents("progress/shop/shop_progress") == keys(
        "gold/shop/customers", "gold/shop/order_details"
    )
    assert parents("progress/tpch/tpch_progress") == keys("gold/tpch/public__region")


def test_every_asset_says_what_it_is_and_has_a_title_that_no_other_of_its_graph_has(
    built: dg.Definitions,
) -> None:
    graph = built.resolve_asset_graph()
    titles: dict[str, list[str]] = {}
    for key in graph.get_all_asset_keys():
        node = graph.get(key)
        # The part of a key that Dagster's graph shows.
        titles.setdefault(node.group_name, []).append(key.path[-1])
        assert node.description, key
        assert node.kinds, key
        # A range of windows is one run.
        if key.path[0] not in ("landing", "compaction"):
            assert node.backfill_policy == dg.BackfillPolicy.single_run(), key
    for shown in titles.values():
        assert len(shown) == len({*shown})


def test_a_feeds_group_makes_its_tables_and_its_job_all_but_compaction(
    built: dg.Definitions,
) -> None:
    graph = built.resolve_asset_graph()
    groups: dict[str, set[dg.AssetKey]] = {}
    for key in graph.get_all_asset_keys():
        groups.setdefault(graph.get(key).group_name, set()).add(key)
    assert groups["tpch"] == keys(
        "landing/tpch/tpch_landing",
        "bronze/tpch/tpch_bronze",
        "silver/tpch/tpch_silver",
        "quarantine/tpch/tpch_quarantine",
        "gold/tpch/public__region",
    )
    assert groups["tpch_maintenance"] == keys(
        "gold/tpch/public__region__tombstones",
        "progress/tpch/tpch_progress",
        "report/tpch/tpch_report",
        "compaction/tpch/tpch_compaction",
    )
    assert {*groups} == {"shop", "shop_maintenance", "tpch", "tpch_maintenance"}
    job = built.resolve_job_def("tpch_to_gold")
    assert job.asset_layer.selected_asset_keys == keys(*MADE_OF_TPCH)
    assert job.executor_def is dg.in_process_executor
    compaction = built.resolve_job_def("tpch_compaction")
    assert compaction.asset_layer.selected_asset_keys == keys("compaction/tpch/tpch_compaction")


def test_every_rule_is_a_check_which_stops_a_run_where_the_rule_blocks(
    built: dg.Definitions, feeds: list[Feed]
) -> None:
    graph = built.resolve_asset_graph()
    found = {
        (check.asset_key.to_user_string(), check.name): graph.get(check).blocking
        for check in graph.asset_check_keys
    }
    expected = {}
    for feed in feeds:
        for rule in feed_rules.bronze_rules(feed):
            expected[f"bronze/{feed.name}/{feed.name}_bronze", rule.name] = rule
        for rule in feed_rules.silver_rules(feed):
            expected[f"silver/{feed.name}/{feed.name}_silver", rule.name] = rule
        for table in feed.tables:
            asset = gold_key(feed, table).to_user_string()
            expected |= {(asset, rule.name): rule for rule in feed_rules.gold_rules(feed)}
    assert found == {key: rule.severity == "blocking" for key, rule in expected.items()}
    assert {name for (_, name), blocks in found.items() if blocks} == {
        *("accounting_is_exact", "no_null_key", "position_rises_with_source_time"),
        "one_row_per_key",
    }


def test_a_feed_has_jobs_and_schedules_for_its_windows_and_for_compaction_and_one_sensor(
    built: dg.Definitions,
) -> None:
    repository = built.get_repository_def()
    jobs = {job.name for job in repository.get_all_jobs() if not job.name.startswith("__")}
    assert jobs == {
        f"{feed}_{job}"
        for feed in ("shop", "tpch")
        for job in ("to_gold", "compaction", "data_docs", "quarantine")
    }
    assert {one.name: (one.job_name, one.cron_schedule) for one in repository.schedule_defs} == {
        "shop_every_hour": ("shop_to_gold", "0 * * * *"),
        "tpch_every_day": ("tpch_to_gold", "0 0 * * *"),
        "shop_compaction_every_day": ("shop_compaction", "37 3 * * *"),
        "tpch_compaction_every_day": ("tpch_compaction", "37 3 * * *"),
    }
    of_feeds = [one for one in repository.sensor_defs if one.name != "weir_alerts"]
    assert len(of_feeds) == len(repository.sensor_defs) - 1
    assert {one.name: one.job_name for one in of_feeds} == {
        "shop_drops": "shop_to_gold",
        "tpch_drops": "tpch_to_gold",
    }


def test_each_table_is_in_one_pool_of_its_feed_which_lets_in_one_run_at_a_time(
    built: dg.Definitions, root: Path
) -> None:
    settings = yaml.safe_load((root / "orchestration" / "dagster.yaml").read_text())
    assert settings["concurrency"]["pools"] == {"default_limit": 1, "granularity": "run"}
    graph = built.resolve_asset_graph()
    for key in graph.get_all_asset_keys():
        layer, feed = key.path[:2]
        if layer != "landing":
            # Compaction rewrites silver, which quarantine is a part of.
            pool = "silver" if layer in ("quarantine", "compaction") else layer
            assert graph.get(key).pools == {f"{pool}_{feed}"}


def test_the_open_window_is_a_partition_and_the_next_one_is_not(built: dg.Definitions) -> None:
    graph = built.resolve_asset_graph()
    now = datetime(2026, 11, 20, 5, 17, tzinfo=UTC)
    for asset, first, still_open, later in (
        ("bronze/shop/shop_bronze", "2020-01-01T00", "2026-11-20T05", "2026-11-20T06"),
        ("bronze/tpch/tpch_bronze", "2020-01-01", "2026-11-20", "2026-11-21"),
    ):
        windows = graph.get(dg.AssetKey(asset.split("/"))).partitions_def
        assert isinstance(windows, dg.TimeWindowPartitionsDefinition)
        with partition_loading_context(effective_dt=now):
            assert windows.get_first_partition_key() == first
            assert windows.get_last_partition_key() == still_open
            assert windows.has_partition_key(still_open)
            assert not windows.has_partition_key(later)


EXTRAS = [(source, extra) for source in FORMATS.values() for extra in source.extra_assets]


# backfill_policy is marked beta in Dagster 1.13.
@pytest.mark.filterwarnings("ignore::dagster.BetaWarning")
@pytest.mark.parametrize(("source", "extra"), EXTRAS, ids=[extra.module for _, extra in EXTRAS])
def test_what_only_a_format_has_is_made_where_its_list_says(
    source: SourceFormat, extra: ExtraAsset
) -> None:
    feed = Feed("town", source.name, "/landing")
    made: dg.AssetsDefinition = import_module(f"assets.{extra.module}").build(feed)
    assert made.key == dg.AssetKey([extra.key, "town", f"town_{extra.key}"])
    (behind,) = [spec.deps for spec in made.specs]
    assert extra.follows_progress == (
        dg.AssetKey(["progress", "town", "town_progress"]) in [dep.asset_key for dep in behind]
    )


@pytest.mark.parametrize("resource", ["lake", "pyspark"])
def test_a_launch_cannot_say_where_tables_are(tmp_path: Path, resource: str) -> None:
    (tmp_path / "shop.yaml").write_text(SHOP)
    lake = lake_of(str(tmp_path / "warehouse"))
    found = definitions.build(load_feeds(tmp_path), lake)
    for job in found.get_repository_def().get_all_jobs():
        for config in ({"warehouse": "/elsewhere"}, {"spark_config": {"spark.master": "x"}}):
            asked = {"resources": {resource: {"config": config}}}
            with pytest.raises(dg.DagsterInvalidConfigError):
                dg.validate_run_config(job, asked)


@pytest.mark.parametrize("there", [True, False])
def test_without_feeds_there_is_a_code_location_with_nothing_in_it(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "feeds"
    if there:
        folder.mkdir()
    monkeypatch.setenv("WEIR_FEEDS", str(folder))
    loaded = definitions.defs()
    assert loaded.resolve_asset_graph().get_all_asset_keys() == set()


def test_the_deployment_is_what_the_environment_names(tmp_path: Path, root: Path) -> None:
    assert Deployment.from_environment({}) == Deployment(root / "feeds", str(root / "warehouse"))
    named = {"WEIR_FEEDS": str(tmp_path / "feeds"), "WEIR_WAREHOUSE": "s3://lake/weir"}
    assert Deployment.from_environment(named) == Deployment(tmp_path / "feeds", "s3a://lake/weir")


LOAD = """
import warnings
warnings.simplefilter("error")
from orchestration.definitions import defs
graph = defs().resolve_asset_graph()
print(*sorted(key.to_user_string() for key in graph.get_all_asset_keys()))
"""


def test_it_loads_with_no_environment_and_from_any_folder(tmp_path: Path, root: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", LOAD],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root), "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert {"landing/shop/shop_landing", "gold/shop/customers", "gold/tpch/nation"} <= set(
        answer.stdout.split()
    )
    assert list(tmp_path.iterdir()) == []
