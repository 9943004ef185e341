"""Silver to gold for all tables that a feed does not declare and its stream describes: one catch-all asset."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator
from time import monotonic

import dagster as dg

from assets import current_state, gold, partitions, verdicts
from assets.current_state import Applied
from assets.discovered_tables import discovered
from assets.lake import Lake
from assets.wording import counted
from expectations import gold as rules
from transforms.feed import Feed


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's catch-all asset."""
    key = ["undeclared", feed.name]

    @dg.asset(
        key=key,
        deps=[["silver", feed.name]],
        check_specs=verdicts.specs(key, rules.RULES),
        group_name=feed.name,
        partitions_def=partitions.windows_of(feed),
        backfill_policy=dg.BackfillPolicy.single_run(),
        pool=f"undeclared_{feed.name}",
        kinds={"gold", "deltalake"},
        description="The current state of every table that the stream describes and the feed file does not declare:"
        " gold tables of their own, with key and types as the stream tells them.",
    )
    def undeclared(
        context: dg.AssetExecutionContext, lake: Lake
    ) -> Iterator[dg.MaterializeResult[None]]:
        windows = partitions.keys_of(context)
        started = monotonic()
        tables = discovered(lake, feed)
        done = Applied()
        for name, table in tables.items():
            of_table = current_state.apply(lake, feed, table, windows)
            if of_table.tables or of_table.waits_for:
                gold.tell(context, feed, name, of_table)
            done = done.plus(of_table)
        context.log.info(
            f"{feed.name}: {counted(len(tables), 'table')} that only the stream describes"
        )
        yield dg.MaterializeResult(
            metadata={
                **gold.facts(done, monotonic() - started),
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
                verdicts.results(key, rules.RULES, gold.violations_of(done), windows)
            ),
        )

    return undeclared
