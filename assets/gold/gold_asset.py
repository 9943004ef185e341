"""Silver to gold: the assets of a feed's declared tables, their tombstones and their histories.

Put here what Dagster runs for them. Not here: what the UI shows before a run (``gold_specs``), what an apply does
(``assets/gold/apply``), how it is reported (``apply_reports``), and tables that no feed file declares
(``undeclared_asset``).
"""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Collection, Iterator, Mapping, Sequence

import dagster as dg

from assets import partitions, per_window
from assets.asset_keys import feed_key, gold_key
from assets.bookkeeping import landed_windows, progress_asset
from assets.gold import table_faults
from assets.gold.apply import apply_feed
from assets.gold.apply.apply_feed import TableResult
from assets.gold.apply_reports import facts, report
from assets.gold.changes.changes_by_window import changes_by_window, of_tables, windows_with_events
from assets.gold.gold_checks import check_specs, checked
from assets.gold.gold_specs import beside, lineage_of, schema_of, specs_of
from assets.lake import Lake
from assets.quality.pages import build_pages_of
from assets.quality.quality_folder import link_to
from assets.retries import retried
from assets.window_asset import of_feed, window_step
from transforms.feed.feed import Feed
from transforms.feed.table_names import HISTORY, TOMBSTONES, gold_name


def build(feed: Feed) -> dg.AssetsDefinition:
    """The gold assets of all tables that the feed file declares, with their tombstones: one step makes them."""
    tables = {gold_key(feed, table.name): table for table in feed.tables.values()}

    @dg.multi_asset(
        specs=[of_feed(feed, spec) for table in tables.values() for spec in specs_of(feed, table)],
        check_specs=[spec for table in tables.values() for spec in check_specs(feed, table)],
        can_subset=True,
        **window_step(feed, "gold"),
    )
    @retried
    def gold(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        windows = landed_windows.of_run(context, lake, feed)
        wanted = [
            table
            for key, table in tables.items()
            if {key, *(one.key for one in specs_of(feed, table))} & context.selected_asset_keys
            or any(one.asset_key == key for one in context.selected_asset_check_keys)
        ]
        brought = changes_by_window(lake, feed, windows)
        landed = windows_with_events(lake, feed, windows)
        failed: list[TableResult] = []
        found: list[dg.AssetCheckResult] = []
        for one in apply_feed.apply_all(lake, feed, wanted, windows):
            name = gold_name(one.table.name, feed.table_names)
            if one.error is not None:
                context.log.error(f"gold.{feed.name}.{name}: {one.error}")
                failed.append(one)
                continue
            report(context, feed, name, one.done)
            judged = checked(lake, feed, one, windows, context.selected_asset_check_keys)
            found += judged
            yield from made_of(context, feed, one, of_tables(brought, [one.table.name]), landed)
            yield from judged
        if any(suite.layer == "gold" for suite in feed.suites):
            build_pages_of(lake.warehouse, feed.name)
        end_if_failed(feed, failed)
        progress_asset.finish_with_last(context, lake, feed, found)

    return gold


def end_if_failed(feed: Feed, failed: Sequence[TableResult]) -> None:
    """End the step if tables could not be brought up to date; the others have been reported to Dagster before."""
    errors = {one.table.name: one.error for one in failed if one.error is not None}
    table_faults.refuse(feed.name, errors)


def made_of(
    context: dg.AssetExecutionContext,
    feed: Feed,
    one: TableResult,
    numbers: Mapping[str, Mapping[str, int]],
    landed: Collection[str],
) -> Iterator[dg.MaterializeResult[None]]:
    """The materializations of a table that was brought up to date, if the step selects them.

    ``numbers``: its changes by window; ``landed``: the windows in which something landed.
    """
    key, done, windows = gold_key(feed, one.table.name), one.done, partitions.keys_of(context)
    if not landed and (done.keys or done.rebuilt):
        # What waited for a run is in gold now, though nothing landed.
        landed = windows[-1:]
    facts_of_table = {
        "dagster/row_count": done.rows,
        "changes": 0,
        "data_docs": dg.MetadataValue.url(link_to(feed.name)),
        # Dagster reads a column's lineage from a materialization only, not from the definition.
        "dagster/column_lineage": lineage_of(one.table, feed_key("silver", feed)),
    }
    # Once for the run, with its last window: the UI shows the columns of the newest materialization.
    of_run = facts(done, one.seconds, windows) | schema_of(feed, one.table, done.columns)
    tombstones = {"dagster/row_count": done.tombstones}
    shown = {
        key: per_window.Shown(facts_of_table, numbers, of_run),
        beside(key, TOMBSTONES): per_window.Shown(tombstones),
        beside(key, HISTORY): per_window.Shown({}),
    }
    for asset, values in shown.items():
        if asset in context.selected_asset_keys:
            yield per_window.made(context, asset, values, landed)
        elif asset.path[-1].endswith(TOMBSTONES) and key in context.selected_asset_keys:
            # They are written with their table, whether somebody asked for them or not.
            for window in sorted(landed):
                context.log_event(
                    dg.AssetMaterialization(asset, metadata=tombstones, partition=window)
                )
