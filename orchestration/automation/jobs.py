"""Two jobs per feed: landing to gold, in one run and one Spark session; and compaction.

Put here what a run of a feed consists of. Not here: when it is run (``schedules``, ``object_sensor`` and
``topic_sensor``).
"""

from __future__ import annotations

from collections.abc import Collection

import dagster as dg

from assets.asset_keys import upkeep_group
from assets.gold.gold_checks import described_specs
from assets.upkeep import upkeep_asset
from orchestration.automation import summary_hook
from orchestration.watching.lineage.lineage_hooks import lineage_hooks
from orchestration.watching.metrics import metrics_files
from transforms.feed.feed import Feed, Table


def job_name(feed: Feed) -> str:
    """The name of the job that brings a feed to gold."""
    return f"{feed.name}_to_gold"


def build(feed: Feed, nodes: Collection[Table] = ()) -> dg.UnresolvedAssetJobDefinition:
    """Everything of the feed for the chosen windows, with the checks of ``nodes``: tables that no feed file declares.

    In process: a process per step would start a JVM per step, which costs more than the work.
    """
    return dg.define_asset_job(
        job_name(feed),
        selection=(
            dg.AssetSelection.groups(feed.name, upkeep_group(feed))
            - dg.AssetSelection.assets(upkeep_asset.key_of(feed))
        )
        | dg.AssetSelection.checks(*(one.key for one in described_specs(feed, nodes))),
        executor_def=dg.in_process_executor,
        hooks={metrics_files.on_failure(feed), *lineage_hooks(feed), summary_hook.in_all(feed)},
        description=f"Landing to gold of feed {feed.name} ({feed.format}).",
        tags={"feed": feed.name},
    )


def sensor_status(feed: Feed) -> dg.DefaultSensorStatus:
    """Whether the feed's sensor is on until a person says otherwise in the UI."""
    is_on = feed.running.automation.sensor
    return dg.DefaultSensorStatus.RUNNING if is_on else dg.DefaultSensorStatus.STOPPED


def upkeep_name(feed: Feed) -> str:
    """The name of the job that compacts."""
    return f"{feed.name}_compaction"


def build_upkeep(feed: Feed) -> dg.UnresolvedAssetJobDefinition:
    """Compaction of the feed's tables."""
    return dg.define_asset_job(
        upkeep_name(feed),
        selection=dg.AssetSelection.assets(upkeep_asset.key_of(feed)),
        executor_def=dg.in_process_executor,
        description=f"Compacts the history, tombstones and files of feed {feed.name}.",
        tags={"feed": feed.name},
    )
