"""Silver to gold for all tables that a feed does not declare and its stream describes: one catch-all asset.

Put here what differs from declared tables. Not here: declared tables (``gold_asset``), and how the stream describes a
table (``transforms/silver/conforming/discovered_tables.py``).
"""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator, Mapping
from time import monotonic

import dagster as dg

from assets import checks, partitions, per_window
from assets.asset_keys import feed_key
from assets.bookkeeping import discovered_tables, progress_asset
from assets.gold import gold_asset
from assets.gold.applied import Applied
from assets.gold.apply import apply_feed
from assets.gold.apply.apply_feed import TableResult
from assets.gold.apply_reports import facts, report, samples_of, violations_of
from assets.gold.changes.changes_by_window import changes_by_window, of_tables
from assets.lake import Lake
from assets.retries import retried
from assets.window_asset import of_feed, window_step
from assets.wording import counted
from expectations.feed_rules import gold_rules
from transforms.feed.feed import Feed, Table
from transforms.silver.conforming.discovered_tables import Stopped, Tables


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's catch-all asset."""
    key, rules = feed_key("undeclared", feed), gold_rules(feed)
    spec = dg.AssetSpec(
        key,
        deps=[feed_key("silver", feed)],
        kinds={"gold", "deltalake"},
        description="The current state of every table that the stream describes and the feed file does not declare:"
        " gold tables of their own, with the key and types that the stream gives.",
    )

    @dg.multi_asset(
        specs=[of_feed(feed, spec)],
        check_specs=checks.specs(key.path, rules),
        **window_step(feed, "undeclared"),
    )
    @retried
    def undeclared(
        context: dg.AssetExecutionContext, lake: Lake
    ) -> Iterator[dg.MaterializeResult[None]]:
        windows = partitions.keys_of(context)
        started = monotonic()
        met = discovered_tables.look(lake, feed)
        done = _applied(context, lake, feed, met, windows)
        context.log.info(
            f"{feed.name}: {counted(len(met.described), 'table')} that only the stream describes"
        )
        numbers = of_tables(changes_by_window(lake, feed, windows), met.described)
        per_window.add(context, key, numbers, facts(done, monotonic() - started, windows))
        found = checks.Counted(rules, violations_of(done), samples_of(done))
        checked = checks.kept_counts(lake, feed, key.path, found, windows)
        yield dg.MaterializeResult(
            metadata={
                "dagster/row_count": done.rows,
                "changes": 0,
                "described": dg.MetadataValue.md(_in_words(met.described)),
            },
            check_results=checked,
        )
        progress_asset.finish_with_last(context, lake, feed, checked)

    return undeclared


def _applied(
    context: dg.AssetExecutionContext, lake: Lake, feed: Feed, met: Tables, windows: list[str]
) -> Applied:
    """Bring all described tables up to the windows, each on its own; ends the step if some failed."""
    done = Applied(stopped=stopped_in(feed, met))
    failed: list[TableResult] = []
    for one in apply_feed.apply_all(lake, feed, [*met.described.values()], windows):
        if one.error is not None:
            context.log.error(f"gold.{feed.name}.{one.table.name}: {one.error}")
            failed.append(one)
        elif one.done.tables or one.done.waits_for:
            report(context, feed, one.table.name, one.done)
        done = done.plus(one.done)
    gold_asset.end_if_failed(feed, failed)
    return done


def _in_words(described: Mapping[str, Table]) -> str:
    """The tables with the keys and types that the stream gives them, a line of Markdown each."""
    lines = []
    for name, table in described.items():
        columns = ", ".join(f"{column} {kind}" for column, kind in table.columns.items())
        lines.append(f"- {name}: key ({', '.join(table.key) or 'none'}), columns {columns}")
    return "\n".join(lines) or "none"


def stopped_in(feed: Feed, met: Tables) -> dict[str, Stopped]:
    """The gold tables without a declaration that are not made, each with the reason."""
    return {
        name: one
        for name, one in met.stopped.items()
        if not any(declared in feed.tables for declared in one.declared)
    }
