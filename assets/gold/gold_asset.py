"""Silver to gold: the assets of a feed's declared tables, their tombstones and their histories.

Put here what Dagster runs for them. Not here: what the UI shows before a run (``gold_specs``), what an apply does
(``assets/gold/apply``), how it is reported (``apply_reports``), and tables that no feed file declares
(``undeclared_asset``).
"""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from assets import partitions
from assets.gold import table_faults
from assets.gold.apply import apply_feed
from assets.gold.apply.apply_feed import TableResult
from assets.gold.apply_reports import facts, report
from assets.gold.gold_checks import check_specs, checked
from assets.gold.gold_specs import asset_key, beside, lineage_of, specs_of
from assets.lake import Lake
from assets.quality.pages import build_pages_of
from assets.window_asset import window_asset
from transforms.feed.feed import Feed
from transforms.feed.table_names import HISTORY, TOMBSTONES, gold_name


def build(feed: Feed) -> dg.AssetsDefinition:
    """The gold assets of all tables that the feed file declares, with their tombstones: one step makes them."""
    tables = {asset_key(feed, table): table for table in feed.tables.values()}

    @dg.multi_asset(
        name=f"gold_{feed.name}",
        specs=[spec for table in tables.values() for spec in specs_of(feed, table)],
        check_specs=[spec for table in tables.values() for spec in check_specs(feed, table)],
        can_subset=True,
        **window_asset(feed, "gold"),
    )
    def gold(
        context: dg.AssetExecutionContext, lake: Lake
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        windows = partitions.keys_of(context)
        wanted = [
            table
            for key, table in tables.items()
            if {key, *(one.key for one in specs_of(feed, table))} & context.selected_asset_keys
            or any(one.asset_key == key for one in context.selected_asset_check_keys)
        ]
        failed: list[TableResult] = []
        for one in apply_feed.apply_all(lake, feed, wanted, windows):
            name = gold_name(one.table.name, feed.table_names)
            if one.error is not None:
                context.log.error(f"gold.{feed.name}.{name}: {one.error}")
                failed.append(one)
                continue
            report(context, feed, name, one.done)
            yield from results_of(context, lake, feed, one, windows)
        if any(suite.layer == "gold" for suite in feed.suites):
            build_pages_of(lake, feed)
        end_if_failed(feed, failed)

    return gold


def end_if_failed(feed: Feed, failed: Sequence[TableResult]) -> None:
    """End the step if tables could not be brought up to date; the others have been reported to Dagster before."""
    errors = {one.table.name: one.error for one in failed if one.error is not None}
    table_faults.refuse(feed.name, errors)


def results_of(
    context: dg.AssetExecutionContext,
    lake: Lake,
    feed: Feed,
    one: TableResult,
    windows: Sequence[str],
) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
    """The materializations and check results of a table that was brought up to date, if the step selects them."""
    key, done = asset_key(feed, one.table), one.done
    found = checked(lake, feed, one, windows, context.selected_asset_check_keys)
    facts_of: dict[dg.AssetKey, dict[str, Any]] = {
        key: {
            **facts(done, one.seconds),
            # Dagster reads a column's lineage from a materialization only, not from the definition.
            "dagster/column_lineage": lineage_of(one.table, dg.AssetKey(["silver", feed.name])),
        },
        beside(key, TOMBSTONES): {"dagster/row_count": done.tombstones},
        beside(key, HISTORY): {},
    }
    for asset, values in facts_of.items():
        if asset in context.selected_asset_keys:
            yield dg.MaterializeResult(asset_key=asset, metadata=values)
    yield from found
