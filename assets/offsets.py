"""The consumer's offsets: how far a feed has come in every tablet, ``offsets.<feed>``.

A source's own checkpoints are per stream and tablet and know no consumers; several may read one stream. This is Weir's
own place, under the feed's name. Not here: which checkpoint counts (``transforms/offsets.py``).
"""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Sequence

import dagster as dg
from pyspark.sql import Row

from assets import partitions, transactions
from assets.lake import Lake, columns_of
from assets.wording import counted
from transforms.feed import Feed
from transforms.offsets import OFFSETS, offsets


def write(lake: Lake, feed: Feed) -> list[Row]:
    """Write where the consumer stands now, and give it: a function of silver and of what has landed."""
    events = lake.table("transactions", feed.name)
    unread = transactions.unread(lake, feed)
    waiting = None
    if events.exists():
        still = transactions.standing(lake, feed, unread, but=()).where("commit IS NULL")
        waiting = events.read().join(still.select("id"), on="id", how="left_semi")
    silver = lake.table("silver", feed.name).read()
    found = offsets(silver, waiting, feed.name, min(unread, default=None))
    rows = found.orderBy("stream", "tablet").collect()
    kept = lake.spark.createDataFrame(rows, OFFSETS).coalesce(1)
    lake.table("offsets", feed.name).replace_where(kept, "true")
    return rows


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's offsets asset: behind everything else, for an offset says what is done."""

    @dg.asset(
        key=["offsets", feed.name],
        deps=[["progress", feed.name]],
        group_name=feed.name,
        partitions_def=partitions.windows_of(feed),
        backfill_policy=dg.BackfillPolicy.single_run(),
        pool=f"offsets_{feed.name}",
        kinds={"offsets", "deltalake"},
        description="One row per stream and tablet: the checkpoint behind the last commit that is in gold.",
        metadata={
            "dagster/column_schema": columns_of(OFFSETS),
            "dagster/table_name": f"offsets.{feed.name}",
        },
    )
    def consumer_offsets(
        context: dg.AssetExecutionContext, lake: Lake
    ) -> dg.MaterializeResult[None]:
        rows = write(lake, feed)
        context.log.info(f"offsets.{feed.name}: {counted(len(rows), 'tablet')}")
        return dg.MaterializeResult(
            metadata={
                "dagster/row_count": len(rows),
                "offsets": dg.MetadataValue.md(as_table(rows)),
            }
        )

    return consumer_offsets


def as_table(rows: Sequence[Row]) -> str:
    """The offsets as a Markdown table."""
    head = [field.name for field in OFFSETS.fields]
    lines = [["" if row[name] is None else str(row[name]) for name in head] for row in rows]
    return "\n".join(
        "| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *lines]
    )
