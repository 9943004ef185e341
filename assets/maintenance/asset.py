"""The Dagster asset that keeps a feed's tables small: compaction, on a schedule of its own."""

# No postponed annotations here: Dagster reads the functions' own.
from typing import Final

import dagster as dg

from assets.control import discovered_tables
from assets.feed_assets import feed_key, gold_keys, markdown_metadata, spec_of_feed
from assets.gold import tables
from assets.maintenance.compaction import compact_feed
from assets.retries import retried
from assets.storage.lake import Lake
from assets.wording import counted
from transforms.display import own_head, table
from transforms.feed.feed import Feed
from transforms.silver.discovered_tables import stopped_in_words

HEAD: Final = own_head(
    *("table", "changes folded", "kept", "base rows", "tombstones dropped", "kept", "no further")
)
"""The columns of what a run shows."""


def key_of(feed: Feed) -> dg.AssetKey:
    """The asset's key."""
    return feed_key("compaction", feed)


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's compaction asset: it has no partitions, for it takes all windows that are old enough."""
    spec = dg.AssetSpec(
        key_of(feed),
        deps=gold_keys(feed) or [feed_key("silver", feed)],
        kinds={"compaction", "deltalake"},
        description="Old changes become base rows, superseded tombstones and small files go; gold stays as it is.",
    )

    # The pool is silver's: never beside a run that writes silver.
    @dg.multi_asset(
        name=f"compaction_{feed.name}", specs=[spec_of_feed(feed, spec)], pool=f"silver_{feed.name}"
    )
    @retried
    def compaction(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> dg.MaterializeResult[None]:
        lines: list[tuple[object, ...]] = []
        folded = dropped = 0
        for done in compact_feed(lake, feed, tables.mirrors(lake, feed), dry_run=False):
            context.log.info(
                f"gold.{feed.name}.{done.table}: {counted(done.folded, 'change')} folded into base rows,"
                f" {counted(done.superseded + done.expired, 'tombstone')} dropped"
            )
            folded += done.folded
            dropped += (gone := done.superseded + done.expired)
            counts = (done.folded, done.kept, done.base, gone, done.tombstones)
            lines.append((done.table, *counts, "; ".join(done.plan.held_back_by)))
        for line in stopped_in_words(discovered_tables.made_and_stopped(lake, feed).stopped):
            context.log.warning(f"{feed.name}: not compacted, because gold cannot be made: {line}")
        return dg.MaterializeResult(
            metadata={
                "changes_folded": folded,
                "tombstones_dropped": dropped,
                "tables": markdown_metadata(table(HEAD, lines)),
            }
        )

    return compaction
