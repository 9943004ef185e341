"""The jobs of a feed: landing to gold, in one run and one Spark session; compaction; what is asked of its source."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

import dagster as dg

from assets.feed_assets import maintenance_group
from assets.gold.checks import discovered_specs
from assets.maintenance import asset as maintenance_asset
from assets.source.checks import check_specs
from orchestration.observability import comparison, metrics
from orchestration.runs.outcome import Outcome, add_events
from orchestration.runs.planning import RunPlan
from orchestration.runs.summary import lines_in_words
from transforms.feed.feed import Feed, Table


def job_name(feed: Feed) -> str:
    """The name of the job that brings a feed to gold."""
    return f"{feed.name}_to_gold"


def build_to_gold(feed: Feed, nodes: Collection[Table] = ()) -> dg.UnresolvedAssetJobDefinition:
    """Everything of the feed for the chosen windows, with the checks of its source and of ``nodes``.

    ``nodes``: tables that no feed file declares.

    In process: a process per step would start a JVM per step, which costs more than the work.
    """
    lineage: set[dg.HookDefinition] = set()
    if wants_lineage(os.environ):
        # Imported late: OpenLineage's library takes a third of a second, and most deployments send no lineage.
        from orchestration.observability.lineage import lineage_hooks

        lineage = lineage_hooks(feed)
    return dg.define_asset_job(
        job_name(feed),
        selection=(
            dg.AssetSelection.groups(feed.name, maintenance_group(feed))
            - dg.AssetSelection.assets(maintenance_asset.key_of(feed), *_compared(feed))
        )
        | dg.AssetSelection.checks(
            *(one.key for one in (*discovered_specs(feed, nodes), *check_specs(feed)))
        ),
        executor_def=dg.in_process_executor,
        hooks={metrics.on_failure(feed), *lineage, summary_hook(feed)},
        description=f"Landing to gold of feed {feed.name} ({feed.format}).",
        tags={"feed": feed.name},
    )


def wants_lineage(environment: Mapping[str, str]) -> bool:
    """Whether a receiver of lineage is set, and not disabled."""
    is_disabled = environment.get("OPENLINEAGE_DISABLED", "").strip().lower() == "true"
    named = ("OPENLINEAGE_URL", "OPENLINEAGE_CONFIG")
    return not is_disabled and any(environment.get(name, "").strip() for name in named)


def sensor_status(feed: Feed) -> dg.DefaultSensorStatus:
    """Whether the feed's sensor is on until a person says otherwise in the UI."""
    is_on = feed.running.automation.sensor
    return dg.DefaultSensorStatus.RUNNING if is_on else dg.DefaultSensorStatus.STOPPED


def seconds_between_looks(feed: Feed) -> int:
    """What the feed's sensor asks Dagster for.

    Dagster's daemon goes through its sensors every five seconds, ``weir-daemon`` every second, and each leaves out one
    whose last look was not so long ago. A second less than is declared, so that five seconds that were a little short
    do not become ten.
    """
    return feed.running.automation.look_every - 1


def compaction_name(feed: Feed) -> str:
    """The name of the job that compacts."""
    return f"{feed.name}_compaction"


def build_compaction(feed: Feed) -> dg.UnresolvedAssetJobDefinition:
    """Compaction of the feed's tables."""
    says = f"Compacts the history, tombstones and files of feed {feed.name}."
    return _beside_windows(
        feed, compaction_name(feed), dg.AssetSelection.assets(maintenance_asset.key_of(feed)), says
    )


def _beside_windows(
    feed: Feed, name: str, selection: dg.AssetSelection, says: str
) -> dg.UnresolvedAssetJobDefinition:
    """A job of the feed that is about no window."""
    return dg.define_asset_job(
        name,
        selection=selection,
        executor_def=dg.in_process_executor,
        description=says,
        tags={"feed": feed.name},
    )


def _compared(feed: Feed) -> list[dg.AssetKey]:
    """The asset that compares gold with the source, where the feed file says where that is."""
    return [comparison.key_of(feed)] if feed.running.source else []


def reconcile_name(feed: Feed) -> str:
    """The name of the job that compares gold with the live source."""
    return f"{feed.name}_reconcile"


def build_reconcile(feed: Feed) -> dg.UnresolvedAssetJobDefinition:
    """The comparison of gold with the live source: it reads all of it, so that no run to gold makes it."""
    says = (
        f"Compares gold of feed {feed.name} with its live source, and names the keys that differ."
    )
    return _beside_windows(
        feed, reconcile_name(feed), dg.AssetSelection.assets(comparison.key_of(feed)), says
    )


def health_name(feed: Feed) -> str:
    """The name of the job that asks how the source stands."""
    return f"{feed.name}_health"


def build_health(feed: Feed) -> dg.UnresolvedAssetJobDefinition:
    """The checks of the feed's source alone: they need no window, and find a source that sends nothing."""
    says = f"Asks how the source of feed {feed.name} stands, and shows it on the feed's page."
    return _beside_windows(
        feed,
        health_name(feed),
        dg.AssetSelection.checks(*(one.key for one in check_specs(feed))),
        says,
    )


_READ = {dg.DagsterEventType.ASSET_MATERIALIZATION, dg.DagsterEventType.ASSET_CHECK_EVALUATION}


def summary_hook(feed: Feed) -> dg.HookDefinition:
    """Logs what `weir run` prints behind the run's last step, the report: for the UI, a schedule and a sensor."""

    @dg.success_hook(name=f"summary_of_{feed.name}")
    def summary(context: dg.HookContext) -> None:
        if context.op.name != f"report_{feed.name}":
            return
        outcome = Outcome(RunPlan(feed, [], [], []))
        logged = context.instance.all_logs(context.run_id, of_type=_READ)
        add_events((one.dagster_event for one in logged if one.dagster_event), outcome)
        for line in lines_in_words(outcome):
            context.log.info(line)

    return summary
