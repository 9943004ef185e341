"""The last step of a window: write down that it is in gold."""

# No postponed annotations here: Dagster reads the functions' own.
import dagster as dg

from assets import partitions
from assets.bookkeeping import ledger
from assets.lake import Lake
from assets.wording import counted
from transforms.feed.feed import Feed
from transforms.feed.table_names import asset_name, gold_name
from transforms.formats import FORMATS


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's progress asset: downstream of every gold table, and of what only its format has beside these."""
    upstream = [
        ["gold", feed.name, asset_name(gold_name(table.name, feed.table_names))]
        for table in feed.tables.values()
    ]

    source = FORMATS[feed.format]
    if source.tells_tables:
        upstream.append(["undeclared", feed.name])
    upstream += [
        [extra.key, feed.name] for extra in source.extras_of(feed) if not extra.follows_progress
    ]

    @dg.asset(
        key=["progress", feed.name],
        deps=upstream or [["silver", feed.name]],
        group_name=feed.name,
        partitions_def=partitions.windows_of(feed),
        backfill_policy=dg.BackfillPolicy.single_run(),
        pool=f"progress_{feed.name}",
        kinds={"progress", "deltalake"},
        description="One row per window that went all the way to gold; `weir run` leaves such windows out.",
    )
    def progress(context: dg.AssetExecutionContext, lake: Lake) -> dg.MaterializeResult[None]:
        windows = partitions.keys_of(context)
        objects = ledger.finish(lake, feed, windows)
        noun = "record" if feed.reads_topics else "object"
        context.log.info(
            f"{feed.name}: {counted(len(windows), 'window')} in gold, from {counted(objects, noun)}"
        )
        return dg.MaterializeResult(metadata={"windows": len(windows), "objects": objects})

    return progress
