"""Dagster's code location: the assets, jobs, schedules and sensors of every feed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module

import dagster as dg

from assets.bronze import asset as bronze_asset
from assets.catalogues import asset as catalogues_asset
from assets.control import asset as control_asset
from assets.control import discovered_tables
from assets.erasure.erase import finish_interrupted
from assets.feed_assets import feed_key, gold_key, gold_keys, spec_of_feed
from assets.gold import asset as gold_asset
from assets.gold import discovered_asset
from assets.maintenance import asset as maintenance_asset
from assets.silver import asset as silver_asset
from assets.source.checks import check_specs
from assets.storage import delta_rs
from assets.storage.lake import Lake, Layer
from assets.storage.leases import is_on_store
from orchestration.automation import (
    alert_sensor,
    jobs,
    object_sensor,
    schedules,
    topic_sensor,
    ui_jobs,
)
from orchestration.automation.missing_windows import from_first_drop
from orchestration.console import make_logs_visible
from orchestration.feeds.load import load_feeds
from orchestration.observability import comparison, source_health
from orchestration.observability.report import asset as report_asset
from orchestration.resources import Deployment, lake_of
from orchestration.runs import history, warm_start
from transforms.feed.feed import Feed, Table
from transforms.feed.names import gold_name
from transforms.formats import FORMATS


def tables_in_gold(lake: Lake, feed: Feed) -> Mapping[str, Table]:
    """The tables in gold that the feed file does not declare; none where the warehouse cannot be asked now."""
    if not FORMATS[feed.format].describes_tables:
        return {}
    try:
        folders = delta_rs.folders(lake.path(Layer.GOLD, feed.name), lake.warehouse)
        found = discovered_tables.made_and_stopped(lake, feed).discovered if folders else {}
    except Exception as fault:  # whatever it is, the pages come up, and the first run meets it
        warnings.warn(f"{feed.name}: its tables in gold are not known: {fault}", stacklevel=2)
        return {}
    return {
        name: table
        for name, table in found.items()
        if gold_name(table.name, feed.table_names) in folders
    }


def assets_of(
    lake: Lake, feed: Feed, nodes: Collection[Table]
) -> list[dg.AssetsDefinition | dg.AssetSpec]:
    """The assets of one feed, from its landing to gold; ``nodes``: tables of gold that its file does not declare."""
    drops = f"Drops in {feed.landing}, in the format {feed.format}."
    landing = dg.AssetSpec(
        feed_key("landing", feed),
        kinds={kind_of(feed)},
        description="\n\n".join(filter(None, [feed.running.description, drops])),
    )
    source = FORMATS[feed.format]
    return [
        spec_of_feed(feed, landing),
        bronze_asset.build(feed, finish_interrupted),
        silver_asset.build(feed),
        *([gold_asset.build(feed)] if feed.tables else []),
        *([discovered_asset.build(feed, nodes)] if source.describes_tables else []),
        control_asset.build(feed),
        *(discovered_asset.spec_of_table(feed, table) for table in nodes),
        *(import_module(f"assets.{one.module}").build(feed) for one in source.extras_of(feed)),
        *([catalogues_asset.build(feed)] if lake.catalogues else []),
        report_asset.build(feed),
        maintenance_asset.build(feed),
        *([comparison.build(feed)] if feed.running.source else []),
    ]


def checks_of(feed: Feed) -> list[dg.AssetChecksDefinition]:
    """The checks of the feed that are steps of their own: those of its source."""
    return [source_health.build(feed)] if check_specs(feed) else []


def fixed(value: object) -> dg.ResourceDefinition:
    """A resource that no launch can set: a run that could name its warehouse could write wherever this process may."""
    return dg.ResourceDefinition(lambda _: value, config_schema={})


def kind_of(feed: Feed) -> str:
    """What kind of place the landing is, as the UI shows it."""
    if feed.reads_topics:
        return "kafka"
    return "s3" if is_on_store(feed.landing) else "file"


def build(
    feeds: Sequence[Feed], lake: Lake, loggers: Mapping[str, dg.LoggerDefinition] | None = None
) -> dg.Definitions:
    """Definitions for these feeds in this warehouse, with Dagster's own loggers unless others are given."""
    nodes: dict[str, list[Table]] = {}
    for feed in feeds:
        declared = {*gold_keys(feed)}
        found = tables_in_gold(lake, feed).values()
        nodes[feed.name] = [one for one in found if gold_key(feed, one.name) not in declared]
    with warnings.catch_warnings():
        # backfill_policy is marked beta in Dagster 1.13; it is what makes a range one run.
        warnings.simplefilter("ignore", dg.BetaWarning)
        assets = [one for feed in feeds for one in assets_of(lake, feed, nodes[feed.name])]
        checks = [one for feed in feeds for one in checks_of(feed)]
    jobs_of_feeds: list[dg.UnresolvedAssetJobDefinition | dg.JobDefinition] = []
    for feed in feeds:
        jobs_of_feeds += [
            jobs.build_to_gold(feed, nodes[feed.name]),
            jobs.build_compaction(feed),
            ui_jobs.build_data_docs(feed),
            ui_jobs.build_quarantine(feed, job_to_gold),
            *([jobs.build_health(feed)] if check_specs(feed) else []),
            *([jobs.build_reconcile(feed)] if feed.running.source else []),
        ]
    looks = [
        (topic_sensor if feed.reads_topics else object_sensor).build(feed, lake) for feed in feeds
    ]
    return dg.Definitions(
        assets=assets,
        asset_checks=checks,
        jobs=jobs_of_feeds,
        schedules=[
            schedule
            for feed in feeds
            for schedule in (
                *(schedules.build(feed, lake), schedules.build_compaction(feed)),
                *([schedules.build_health(feed)] if check_specs(feed) else []),
                *([schedules.build_reconcile(feed)] if feed.running.source else []),
            )
        ],
        sensors=[*looks, *([alert_sensor.build()] if feeds else [])],
        resources={"lake": fixed(lake), "pyspark": fixed(lake.pyspark)},
        loggers=loggers,
        executor=dg.in_process_executor,
    )


def job_to_gold(
    feed: Feed, lake: Lake, loggers: Mapping[str, dg.LoggerDefinition] | None = None
) -> dg.JobDefinition:
    """The job that brings a feed to gold, to be executed in this process."""
    return build([feed], lake, loggers).resolve_job_def(jobs.job_name(feed))


@dg.definitions
def defs() -> dg.Definitions:
    """What ``workspace.yaml`` loads: the deployment that the environment names."""
    make_logs_visible()
    history.write_quickly()
    warm_start.fork_runs()
    deployment = Deployment.from_environment(os.environ)
    feeds = load_feeds(deployment.feeds) if deployment.feeds.is_dir() else []
    lake = lake_of(deployment.warehouse)
    return build([from_first_drop(lake, feed) for feed in feeds], lake)
