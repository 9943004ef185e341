"""How a feed is run and watched, as feed files declare it, and as Dagster shows it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from assets.audit.stored_tables import EFFECTS
from assets.feed_assets import feed_key
from orchestration import definitions
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from orchestration.runs.planning import bounded
from transforms.errors import FeedMisdeclared
from transforms.feed.digest import feed_digest, table_digest
from transforms.feed.feed import Automation, Described, Feed, Freshness, Running

PLAIN = """\
format: arcion_s3_json
landing: drops
tables:
  customers:
    key: [id]
    columns: {id: int, city: string}
"""
TOLD = """\
    description: Everybody who ever bought something.
    descriptions: {city: where parcels go}
start: 2025-11-20T03
description: The shop.
owners: [ada@shop.example, team:data]
tags: {domain: sales}
freshness: {warn: 2h, fail: 6h}
automation: {schedule: on, sensor: off, compaction: on, look_every: 10s}
"""
WINDOW = "2025-11-20T03"


def loaded(folder: Path, text: str) -> Feed:
    (folder / "shop.yaml").write_text(PLAIN + text)
    return load_feed(folder / "shop.yaml")


def test_everything_that_a_feed_tells_of_itself_is_taken(tmp_path: Path) -> None:
    assert loaded(tmp_path, "").running == Running()
    assert loaded(tmp_path, TOLD).running == Running(
        start=WINDOW,
        description="The shop.",
        owners=("ada@shop.example", "team:data"),
        tags={"domain": "sales"},
        freshness=Freshness(timedelta(hours=6), timedelta(hours=2)),
        automation=Automation(schedule=True, sensor=False, compaction=True, look_every=10),
        tables={
            "customers": Described(
                "Everybody who ever bought something.", {"city": "where parcels go"}
            )
        },
    )


def test_none_of_it_makes_a_window_due(tmp_path: Path) -> None:
    plain, told = loaded(tmp_path, ""), loaded(tmp_path, TOLD)
    assert feed_digest(plain, WINDOW) == feed_digest(told, WINDOW)
    (of_plain,), (of_told,) = plain.tables.values(), told.tables.values()
    assert table_digest(plain, of_plain) == table_digest(told, of_told)


@pytest.mark.parametrize(
    ("text", "key", "fault"),
    [
        ("start: yesterday\n", "start", "'yesterday' is no window of one hour"),
        ("owners: [ada]\n", "owners", "'ada' is neither a mail address nor team:<name>"),
        ("tags: {domain: sales and more}\n", "tags.domain", "'sales and more' is more than"),
        ("freshness: {warn: 2h}\n", "freshness.fail", "is missing"),
        ("freshness: {fail: soon}\n", "freshness.fail", "'soon' is no length of time"),
        ("freshness: {warn: 6h, fail: 6h}\n", "freshness.warn", "is no shorter than fail"),
        ("automation: {sensor: maybe}\n", "automation.sensor", "must be 'on' or 'off'"),
        ("automation: {sensors: on}\n", "automation.sensors", "is not a known key"),
        ("automation: {look_every: 4s}\n", "automation.look_every", "no length of time from 5s"),
        ("automation: {look_every: 61m}\n", "automation.look_every", "no length of time from 5s"),
        ("automation: {look_every: 10}\n", "automation.look_every", "no length of time from 5s"),
        (
            "    descriptions: {town: where parcels go}\n",
            "tables.customers.descriptions.town",
            "is no column of the table",
        ),
    ],
)
def test_what_is_wrong_is_named(text: str, key: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(FeedMisdeclared, match=rf"(?s){key}.*{fault}"):
        loaded(tmp_path, text)


def test_windows_begin_at_the_start_and_earlier_drops_are_named(tmp_path: Path) -> None:
    windows = ["2025-11-20T02", "2025-11-20T03"]
    assert bounded(loaded(tmp_path, ""), windows).windows == windows
    plan = bounded(loaded(tmp_path, TOLD), windows)
    assert (plan.ancient, plan.windows) == (windows[:1], windows[1:])


@pytest.mark.parametrize("format", ["arcion_s3_json", "arcion_kafka"])
def test_a_sensor_looks_as_often_as_the_feed_says(format: str, tmp_path: Path) -> None:
    for text, seconds in ((TOLD, 10), ("", 30)):
        landing = "kafka://broker:9092/shop" if format == "arcion_kafka" else str(tmp_path)
        feed = replace(loaded(tmp_path, text), format=format, landing=landing)
        repository = definitions.build([feed], lake_of(str(tmp_path), {})).get_repository_def()
        assert repository.get_sensor_def("shop_drops").minimum_interval_seconds == seconds


def test_dagster_shows_owners_tags_freshness_and_what_columns_hold(tmp_path: Path) -> None:
    feed = loaded(tmp_path, TOLD)
    repository = definitions.build([feed], lake_of(str(tmp_path), {})).get_repository_def()
    graph = repository.asset_graph
    for key in graph.get_all_asset_keys():
        assert graph.get(key).owners == ["ada@shop.example", "team:data"]
        assert graph.get(key).tags["domain"] == "sales"
    gold = graph.get(dg.AssetKey(["gold", "shop", "customers"]))
    assert gold.description == "Everybody who ever bought something."
    assert gold.freshness_policy == dg.FreshnessPolicy.time_window(
        fail_window=timedelta(hours=6), warn_window=timedelta(hours=2)
    )
    upkeep = graph.get(dg.AssetKey(["compaction", "shop", "shop_compaction"]))
    assert upkeep.freshness_policy is None
    said = {one.name: one.description for one in columns_of(gold.metadata)}
    assert said["city"] == "where parcels go"
    windows = graph.get(dg.AssetKey(["bronze", "shop", "shop_bronze"])).partitions_def
    assert windows is not None
    assert windows.get_first_partition_key() == WINDOW
    on = dg.DefaultScheduleStatus.RUNNING
    assert [one.default_status for one in repository.schedule_defs] == [on, on]
    # That of the feed, and the one that tells of failures, which is of no feed.
    assert {one.default_status for one in repository.sensor_defs} == {
        dg.DefaultSensorStatus.STOPPED
    }


def test_every_column_of_weirs_own_has_a_description(tmp_path: Path) -> None:
    graph = definitions.build(
        [loaded(tmp_path, "")], lake_of(str(tmp_path), {})
    ).resolve_asset_graph()
    for layer in ("bronze", "silver", "quarantine"):
        node = graph.get(dg.AssetKey([layer, "shop", f"shop_{layer}"]))
        assert [one.name for one in columns_of(node.metadata) if not one.description] == []
    gold = graph.get(dg.AssetKey(["gold", "shop", "customers"]))
    own = [one for one in columns_of(gold.metadata) if one.name.startswith("_weir")]
    assert own
    assert all(one.description for one in own)


def test_a_column_says_what_it_holds_in_its_own_table(tmp_path: Path) -> None:
    """One name may hold different things in two tables; and the effects named are those that silver has."""
    feed = loaded(tmp_path, "")
    graph = definitions.build([feed], lake_of(str(tmp_path), {})).resolve_asset_graph()
    said = {
        layer: {
            one.name: one.description or ""
            for one in columns_of(graph.get(dg.AssetKey([layer, "shop", f"shop_{layer}"])).metadata)
        }
        for layer in ("bronze", "silver", "quarantine")
    }
    assert said["bronze"]["key"] == "The key of a record of a topic."
    assert said["silver"]["key"].startswith("The key's values as canonical text")
    assert said["quarantine"]["key"] == "The key, where the record says it whole."
    named = re.findall(r"`(\w+)`", said["silver"]["effect"])
    assert len(named) > 1
    assert {*named} <= {*EFFECTS}
    landing = graph.get(feed_key("landing", feed)).description
    assert landing == f"Drops in {feed.landing}, in the format arcion_s3_json."


def columns_of(metadata: object) -> list[dg.TableColumn]:
    assert isinstance(metadata, dict)
    schema = metadata["dagster/column_schema"]
    shown = getattr(schema, "value", schema)
    assert isinstance(shown, dg.TableSchema)
    return [*shown.columns]
