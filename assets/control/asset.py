"""The Dagster asset of progress, the last step of a window; and the windows of a run in which something landed."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterable

import dagster as dg

from assets import feed_assets
from assets.control import ledger, progress
from assets.feed_assets import feed_key, gold_keys, spec_of_feed, window_step
from assets.quality.checks import fails_run
from assets.retries import retried
from assets.storage.lake import Lake
from assets.wording import counted
from transforms.feed.feed import Feed
from transforms.formats import FORMATS


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's progress asset: downstream of every gold table, and of what only its format has beside these."""
    spec = dg.AssetSpec(
        feed_key("progress", feed),
        deps=upstream_of(feed) or [feed_key("silver", feed)],
        kinds={"progress", "deltalake"},
        description="One row per window that went all the way to gold; `weir run` leaves such windows out.",
    )

    @dg.multi_asset(specs=[spec_of_feed(feed, spec)], **window_step(feed, "progress"))
    @retried
    def progress(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> dg.MaterializeResult[None]:
        windows, objects = finish(context, lake, feed)
        return dg.MaterializeResult(metadata={"windows": windows, "objects": objects})

    return progress


def upstream_of(feed: Feed) -> list[dg.AssetKey]:
    """What has to be made of a window before it is finished."""
    source = FORMATS[feed.format]
    discovered = [feed_key("discovered", feed)] if source.describes_tables else []
    extras = [
        feed_key(extra.key, feed) for extra in source.extras_of(feed) if not extra.follows_progress
    ]
    return [*gold_keys(feed), *discovered, *extras]


def finish(context: dg.AssetExecutionContext, lake: Lake, feed: Feed) -> tuple[int, int]:
    """Record the run's windows as finished; returns how many they are, and how many objects or records they have."""
    windows = landed_windows_of_run(context, lake, feed)
    objects = progress.finish(lake, feed, windows)
    noun = "record" if feed.reads_topics else "object"
    context.log.info(
        f"{feed.name}: {counted(len(windows), 'window')} finished, from {counted(objects, noun)}"
    )
    return len(windows), objects


def finish_with_last(
    context: dg.AssetExecutionContext,
    lake: Lake,
    feed: Feed,
    results: Iterable[dg.AssetCheckResult],
) -> None:
    """Record the run's windows as finished where its last table is made and no step of the run would do it.

    "Materialize all" of the feed's own group is such a run: progress is in the group of the feed's maintenance.
    Called by each step that has to be done before a window is finished; ``results``: those of its own checks, of which
    Dagster knows nothing yet.
    """
    layer = context.job_def.asset_layer
    selected, needed = layer.selected_asset_keys, {*upstream_of(feed)}
    key, own = feed_key("progress", feed), context.selected_asset_keys
    if key in selected or not {*needed, feed_key("silver", feed)} <= selected:
        return
    event = dg.DagsterEventType
    checks = (
        one.asset_check_evaluation_data for one in _logged(context, event.ASSET_CHECK_EVALUATION)
    )
    if any(map(fails_run, results)) or any(map(fails_run, checks)):
        return
    made = {one.asset_key for one in _logged(context, event.ASSET_MATERIALIZATION)}
    if not needed - own <= made:
        return
    finish(context, lake, feed)
    for window in feed_assets.windows_of_run(context):
        context.log_event(dg.AssetMaterialization(key, partition=window))


def _logged(context: dg.AssetExecutionContext, kind: dg.DagsterEventType) -> list[dg.DagsterEvent]:
    """The events of a kind that this run has so far."""
    logs = context.instance.all_logs(context.run_id, of_type=kind)
    return [entry.dagster_event for entry in logs if entry.dagster_event is not None]


def landed_windows_of_run(context: dg.AssetExecutionContext, lake: Lake, feed: Feed) -> list[str]:
    """The windows of the run that bronze has something of; where it has nothing of any, the last one.

    A range may have thousands of others, which have no rows in any table.
    """
    windows = feed_assets.windows_of_run(context)
    if len(windows) == 1:
        return windows
    held = {one.window for one in ledger.read_objects(lake, feed)}
    return [window for window in windows if window in held] or windows[-1:]
