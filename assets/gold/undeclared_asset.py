"""Silver to gold for all tables that a feed does not declare and its stream describes: one catch-all asset."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator
from time import monotonic

import dagster as dg

from assets import checks, partitions
from assets.bookkeeping import discovered_tables
from assets.gold import gold_asset
from assets.gold.applied import Applied
from assets.gold.apply import apply_feed
from assets.gold.apply.apply_feed import Brought
from assets.lake import Lake
from assets.window_asset import window_asset
from assets.wording import counted
from expectations import gold as rules
from transforms.feed.feed import Feed
from transforms.silver.conforming.discovered_tables import Stopped, Tables


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's catch-all asset."""
    key = ["undeclared", feed.name]

    @dg.asset(
        key=key,
        deps=[["silver", feed.name]],
        check_specs=checks.specs(key, rules.RULES),
        kinds={"gold", "deltalake"},
        description="The current state of every table that the stream describes and the feed file does not declare:"
        " gold tables of their own, with key and types as the stream tells them.",
        **window_asset(feed, "undeclared"),
    )
    def undeclared(
        context: dg.AssetExecutionContext, lake: Lake
    ) -> Iterator[dg.MaterializeResult[None]]:
        windows = partitions.keys_of(context)
        started = monotonic()
        met = discovered_tables.look(lake, feed)
        tables = met.described
        done = Applied(stopped=stopped_in(feed, met))
        failed: list[Brought] = []
        for one in apply_feed.apply_all(lake, feed, [*tables.values()], windows):
            if one.error is not None:
                context.log.error(f"gold.{feed.name}.{one.table.name}: {one.error}")
                failed.append(one)
            elif one.done.tables or one.done.waits_for:
                gold_asset.tell(context, feed, one.table.name, one.done)
            done = done.plus(one.done)
        gold_asset.refuse(feed, failed)
        context.log.info(
            f"{feed.name}: {counted(len(tables), 'table')} that only the stream describes"
        )
        yield dg.MaterializeResult(
            metadata={
                **gold_asset.facts(done, monotonic() - started),
                "described": dg.MetadataValue.md(
                    "\n".join(
                        f"- {name}: key ({', '.join(table.key) or 'none'}), columns"
                        f" {', '.join(f'{column} {kind}' for column, kind in table.columns.items())}"
                        for name, table in tables.items()
                    )
                    or "none"
                ),
            },
            check_results=list(
                checks.results(
                    key,
                    rules.RULES,
                    gold_asset.violations_of(done),
                    windows,
                    gold_asset.samples_of(done),
                )
            ),
        )

    return undeclared


def stopped_in(feed: Feed, met: Tables) -> dict[str, Stopped]:
    """The gold tables without a declaration that are not made, each with the reason."""
    return {
        name: one
        for name, one in met.stopped.items()
        if not any(declared in feed.tables for declared in one.declared)
    }
