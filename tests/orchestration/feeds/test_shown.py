"""How a feed is run and watched, as Dagster shows it."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from assets.audit.stored_tables import EFFECTS
from assets.feed_assets import feed_key
from orchestration import definitions
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from transforms.errors import WeirError
from transforms.feed.feed import Feed

WINDOW = "2025-11-20T03"
PLAIN = """\
format: %s
landing: %s
tables:
  customers:
    key: [id]
    columns: {id: int, city: string}
"""
TOLD = f"""\
    description: Everybody who ever bought something.
    descriptions: {{city: where parcels go}}
start: {WINDOW}
owners: [ada@shop.example, team:data]
tags: {{domain: sales}}
freshness: {{warn: 2h, fail: 6h}}
automation: {{schedule: on, sensor: off, compaction: on, look_every: 10s}}
"""


def loaded(
    folder: Path, text: str, format: str = "arcion_s3_json", landing: str = "drops"
) -> tuple[Feed, dg.RepositoryDefinition]:
    (folder / "shop.yaml").write_text(PLAIN % (format, landing) + text)
    feed = load_feed(folder / "shop.yaml")
    return feed, definitions.build([feed], lake_of(str(folder), {})).get_repository_def()


@pytest.mark.parametrize(
    ("format", "landing"),
    [
        ("arcion_s3_json", "drops"),
        ("arcion_s3_json", "s3://lake/drops/"),
        ("arcion_kafka", "kafka://broker:9092/shop"),
    ],
)
def test_a_sensor_looks_as_often_as_the_feed_says(
    format: str, landing: str, tmp_path: Path
) -> None:
    for text, seconds in ((TOLD, 10), ("", 30 if landing.startswith("s3:") else 5)):
        feed, repository = loaded(tmp_path, text, format, landing)
        assert feed.running.automation.look_every == seconds
        # Dagster's own daemon comes by every five seconds, sometimes a little early.
        interval = repository.get_sensor_def("shop_drops").minimum_interval_seconds
        assert interval == seconds - 1


@pytest.mark.parametrize(("look_every", "interval"), [("1s", 0), ("60m", 3599)])
def test_a_sensor_looks_every_second_at_most(
    tmp_path: Path, look_every: str, interval: int
) -> None:
    _, repository = loaded(tmp_path, TOLD.replace("10s", look_every))
    found = repository.get_sensor_def("shop_drops").minimum_interval_seconds
    # Dagster takes none for none at all.
    assert (found or 0) == interval


@pytest.mark.parametrize("look_every", ["0s", "61m", "1h"])
def test_another_time_between_two_looks_is_refused(tmp_path: Path, look_every: str) -> None:
    with pytest.raises(WeirError, match="is no length of time from 1s to 60m"):
        loaded(tmp_path, TOLD.replace("10s", look_every))


def test_dagster_shows_owners_tags_freshness_and_what_columns_hold(tmp_path: Path) -> None:
    _, repository = loaded(tmp_path, TOLD)
    graph = repository.asset_graph
    for key in graph.get_all_asset_keys():
        assert graph.get(key).owners == ["ada@shop.example", "team:data"]
        assert graph.get(key).tags["domain"] == "sales"
    gold = graph.get(dg.AssetKey(["gold", "shop", "customers"]))
    assert gold.description == "Everybody who ever bought something."
    assert gold.freshness_policy == dg.FreshnessPolicy.time_window(
        fail_window=timedelta(hours=6), warn_window=timedelta(hours=2)
    )
    compaction = graph.get(dg.AssetKey(["compaction", "shop", "shop_compaction"]))
    assert compaction.freshness_policy is None
    assert said_of(graph, "gold", "customers")["city"] == "where parcels go"
    windows = graph.get(dg.AssetKey(["bronze", "shop", "shop_bronze"])).partitions_def
    assert windows is not None
    assert windows.get_first_partition_key() == WINDOW
    on = dg.DefaultScheduleStatus.RUNNING
    assert [one.default_status for one in repository.schedule_defs] == [on, on]
    # That of the feed, and the one that tells of failures, which is of no feed.
    assert {one.default_status for one in repository.sensor_defs} == {
        dg.DefaultSensorStatus.STOPPED
    }


def test_every_column_of_weirs_own_says_what_it_holds_in_its_table(tmp_path: Path) -> None:
    feed, repository = loaded(tmp_path, "")
    graph = repository.asset_graph
    said = {
        layer: said_of(graph, layer, f"shop_{layer}")
        for layer in ("bronze", "silver", "quarantine")
    }
    assert all(text for columns in said.values() for text in columns.values())
    own = [text for name, text in said_of(graph, "gold", "customers").items() if name[0] == "_"]
    assert own
    assert all(own)
    # One name may hold different things in two tables.
    assert said["bronze"]["key"] == "The key of a record of a topic."
    assert said["silver"]["key"].startswith("The key's values as canonical text")
    assert said["quarantine"]["key"] == "The key, where the record says it whole."
    named = re.findall(r"`(\w+)`", said["silver"]["effect"])
    assert len(named) > 1
    assert {*named} <= {*EFFECTS}
    landing = graph.get(feed_key("landing", feed)).description
    assert landing == f"Drops in {feed.landing}, in the format arcion_s3_json."


def said_of(graph: dg.AssetGraph, layer: str, table: str) -> dict[str, str]:
    """The columns of a node, each with what it holds."""
    schema = graph.get(dg.AssetKey([layer, "shop", table])).metadata["dagster/column_schema"]
    shown = getattr(schema, "value", schema)
    assert isinstance(shown, dg.TableSchema)
    return {one.name: one.description or "" for one in shown.columns}
