"""Silver to gold for all tables that only the stream describes: one catch-all asset."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Collection, Iterable, Iterator, Mapping
from time import monotonic
from typing import Any

import dagster as dg

from assets import feed_assets
from assets.control import asset, discovered_tables
from assets.control.accounting import (
    ChangesByWindow,
    changes_by_window,
    changes_of_tables,
    windows_with_events,
)
from assets.feed_assets import (
    feed_key,
    markdown_list,
    named_gold_key,
    spec_of_feed,
    window_step,
)
from assets.gold import apply
from assets.gold import asset as gold_asset
from assets.gold.apply import TableResult
from assets.gold.asset import lineage_of, schema_of, specs_of
from assets.gold.checks import (
    discovered_checked,
    discovered_specs,
    facts_of_apply,
    log_apply,
    samples_of,
    violations_of,
)
from assets.gold.fold import Applied
from assets.quality import checks
from assets.retries import retried
from assets.storage.lake import Lake
from assets.wording import counted
from expectations.feed_rules import gold_rules
from transforms.display import code
from transforms.feed.feed import Feed, Table
from transforms.feed.names import gold_name
from transforms.silver.discovered_tables import Stopped, Tables


def build(feed: Feed, nodes: Collection[Table] = ()) -> dg.AssetsDefinition:
    """The feed's catch-all asset; ``nodes``: the tables that are nodes of their own, whose checks it judges, too."""
    key, rules = feed_key("discovered", feed), gold_rules(feed)
    names = {table.name for table in nodes}

    @dg.multi_asset(
        specs=[_spec(feed)],
        check_specs=[*checks.specs_of_rules(key.path, rules), *discovered_specs(feed, nodes)],
        # The nodes are no outputs of this step: which of them a run has changes of is known at its end only.
        allow_arbitrary_check_specs=True,
        can_subset=True,
        **window_step(feed, "discovered"),
    )
    @retried
    def discovered(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        windows = asset.landed_windows_of_run(context, lake, feed)
        started = monotonic()
        met = discovered_tables.made_and_stopped(lake, feed)
        brought = changes_by_window(lake, feed, windows)
        results = _applied(context, lake, feed, met, brought)
        done = _sum(results, stopped_in(feed, met))
        if met.discovered:
            number = counted(len(met.discovered), "table")
            context.log.info(f"{feed.name}: {number} that only the stream describes")
        numbers = changes_of_tables(brought, met.discovered)
        of_run = facts_of_apply(done, monotonic() - started, windows)
        # What has a node of its own is judged there.
        others = [one for one in results if one.table.name not in names]
        rest = _sum(others, done.stopped)
        found = checks.Counted(rules, violations_of(rest), samples_of(rest))
        checked = checks.kept_counts(lake, feed, key.path, found, windows)
        made = {one.table.name: one.done for one in results}
        for name in sorted(names):
            checked += discovered_checked(lake, feed, name, made.get(name, Applied()), windows)
        if key in context.selected_asset_keys:
            facts_of_all = {
                "dagster/row_count": done.rows,
                "changes": 0,
                "discovered": markdown_list(_in_words(met.discovered)),
            }
            shown = feed_assets.Shown(facts_of_all, numbers, of_run)
            yield feed_assets.made_by_window(
                context, key, shown, windows_with_events(lake, feed, windows)
            )
        yield from checked
        asset.finish_with_last(context, lake, feed, checked)

    return discovered


def _spec(feed: Feed) -> dg.AssetSpec:
    spec = dg.AssetSpec(
        feed_key("discovered", feed),
        deps=[feed_key("silver", feed)],
        kinds={"gold", "deltalake"},
        description="The current state of every table that the stream describes and the feed file does not declare:"
        " gold tables of their own, with the key and types that the stream gives.",
    )
    return spec_of_feed(feed, spec)


def spec_of_table(feed: Feed, table: Table) -> dg.AssetSpec:
    """A node for one of the tables, with its columns: the catch-all asset makes it, and reports it window by window."""
    plain = next(specs_of(feed, table))
    return spec_of_feed(feed, plain).replace_attributes(
        deps=[feed_key("discovered", feed)],
        description=f"One row per key of {code(table.name)}, which its stream describes and no feed file declares.",
        partitions_def=feed_assets.partitions_of(feed),
    )


def _report_windows(
    context: dg.AssetExecutionContext, feed: Feed, one: TableResult, brought: ChangesByWindow
) -> None:
    """Report the table for each window of the run that had changes of it."""
    lineage = lineage_of(one.table, feed_key("silver", feed))
    asked = {*feed_assets.windows_of_run(context)}
    of_windows = {
        window: numbers
        for window, numbers in sorted(changes_of_tables(brought, [one.table.name]).items())
        if window in asked
    }
    # Once for the run, with its last window: the UI shows the columns of the newest materialization.
    of_last = schema_of(feed, one.table, one.done.columns)
    for made in one.done.tables:
        facts_of_table: dict[str, Any] = {
            "dagster/row_count": made.rows,
            "dagster/column_lineage": lineage,
        }
        for window, numbers in of_windows.items():
            key, metadata = named_gold_key(feed, made.name), {**facts_of_table, **numbers}
            metadata |= of_last if window == max(of_windows) else {}
            context.log_event(dg.AssetMaterialization(key, metadata=metadata, partition=window))


def _applied(
    context: dg.AssetExecutionContext,
    lake: Lake,
    feed: Feed,
    met: Tables,
    brought: ChangesByWindow,
) -> list[TableResult]:
    """Bring all discovered tables up to the windows, each on its own; ends the step if some failed."""
    windows = asset.landed_windows_of_run(context, lake, feed)
    results: list[TableResult] = []
    failed: list[TableResult] = []
    for one in apply.apply_all(lake, feed, [*met.discovered.values()], windows):
        name = gold_name(one.table.name, feed.table_names)
        if one.error is not None:
            context.log.error(f"gold.{feed.name}.{name}: {one.error}")
            failed.append(one)
        elif one.done.tables or one.done.waits_for:
            log_apply(context, feed, name, one.done)
            _report_windows(context, feed, one, brought)
        results.append(one)
    gold_asset.end_if_failed(feed, failed)
    return results


def _sum(results: Iterable[TableResult], stopped: Mapping[str, Stopped]) -> Applied:
    """What was done for some of the tables, together."""
    done = Applied(stopped=stopped)
    for one in results:
        done = done.plus(one.done)
    return done


def _in_words(discovered: Mapping[str, Table]) -> Iterator[str]:
    """The tables with the keys and types that the stream gives them, a line each."""
    for name, table in discovered.items():
        columns = ", ".join(f"{column} {kind}" for column, kind in table.columns.items())
        yield f"{name}: key ({', '.join(table.key) or 'none'}), columns {columns}"


def stopped_in(feed: Feed, met: Tables) -> dict[str, Stopped]:
    """The gold tables without a declaration that are not made, each with the reason."""
    return {
        name: one
        for name, one in met.stopped.items()
        if not any(declared in feed.tables for declared in one.declared)
    }
