"""The Dagster asset of a YugabyteDB feed's offsets: it writes how far the feed has come in every tablet.

Put here what Dagster is shown of it. Not here: which offsets these are (``yugabyte_checkpoints``).
"""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Sequence

import dagster as dg
from pyspark.sql import Row

from assets.asset_keys import feed_key
from assets.bookkeeping.yugabyte_checkpoints import OFFSETS, write
from assets.lake import Lake
from assets.layers import Layer
from assets.retries import retried
from assets.shown_markdown import as_metadata
from assets.window_asset import of_feed, table_metadata, window_step
from assets.wording import counted
from transforms.display.markdown import Markdown, own_head, table
from transforms.feed.feed import Feed


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's offsets asset: behind everything else, for an offset says what is done."""
    spec = dg.AssetSpec(
        feed_key("offsets", feed),
        deps=[feed_key("progress", feed)],
        kinds={"offsets", "deltalake"},
        description="One row per stream and tablet: the checkpoint behind the last commit that is in gold.",
        metadata=table_metadata(feed, Layer.OFFSETS, OFFSETS),
    )

    @dg.multi_asset(specs=[of_feed(feed, spec)], **window_step(feed, "offsets"))
    @retried
    def consumer_offsets(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> dg.MaterializeResult[None]:
        rows = write(lake, feed)
        context.log.info(f"offsets.{feed.name}: {counted(len(rows), 'tablet')}")
        return dg.MaterializeResult(
            metadata={
                "dagster/row_count": len(rows),
                "offsets": as_metadata(as_table(rows)),
            }
        )

    return consumer_offsets


def as_table(rows: Sequence[Row]) -> Markdown:
    """The offsets as a table."""
    head = [field.name for field in OFFSETS.fields]
    return table(
        own_head(*head), [["" if row[name] is None else row[name] for name in head] for row in rows]
    )
