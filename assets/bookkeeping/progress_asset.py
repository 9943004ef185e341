"""The Dagster asset of progress: the last step of a window records that it is in gold.

Put here what Dagster is shown of it. Not here: when a window counts as finished (``window_progress``).
"""

# No postponed annotations here: Dagster reads the functions' own.
import dagster as dg

from assets import partitions
from assets.bookkeeping import window_progress
from assets.lake import Lake
from assets.window_asset import window_asset
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
    if source.describes_tables:
        upstream.append(["undeclared", feed.name])
    upstream += [
        [extra.key, feed.name] for extra in source.extras_of(feed) if not extra.follows_progress
    ]

    @dg.asset(
        key=["progress", feed.name],
        deps=upstream or [["silver", feed.name]],
        kinds={"progress", "deltalake"},
        description="One row per window that went all the way to gold; `weir run` leaves such windows out.",
        **window_asset(feed, "progress"),
    )
    def progress(context: dg.AssetExecutionContext, lake: Lake) -> dg.MaterializeResult[None]:
        windows = partitions.keys_of(context)
        objects = window_progress.finish(lake, feed, windows)
        noun = "record" if feed.reads_topics else "object"
        context.log.info(
            f"{feed.name}: {counted(len(windows), 'window')} finished, from {counted(objects, noun)}"
        )
        return dg.MaterializeResult(metadata={"windows": len(windows), "objects": objects})

    return progress
