"""How far a feed has come in each tablet of a YugabyteDB stream, ``offsets.<feed>``, and the asset of it.

YugabyteDB keeps a checkpoint per stream and tablet and knows no consumers, of which several may read one stream: this
table has the feed's own.
"""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Mapping, Sequence

import dagster as dg
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from assets.columns import layers
from assets.control import progress, transactions
from assets.feed_assets import (
    feed_key,
    markdown_metadata,
    spec_of_feed,
    table_metadata,
    window_step,
)
from assets.retries import retried
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from transforms.display import Markdown, own_head, table
from transforms.families.yugabyte.checkpoints import BEHIND, CHECKPOINT, REACHED
from transforms.feed.feed import Feed


def write_offsets(lake: Lake, feed: Feed) -> list[Row]:
    """Write the consumer's offsets of all tablets as they are now, and return the rows (``layers.Offsets``).

    They follow from silver and from what has landed, and from no earlier offsets.
    """
    unread = progress.unread_windows(lake, feed)
    open_from = _open_from(lake, feed, unread)
    silver = lake.table(Layer.SILVER, feed.name).read()
    found = offsets(silver, open_from, feed.name, min(unread, default=None))
    rows = found.orderBy("stream", "tablet").collect()
    table = lake.in_process_table(Layer.OFFSETS, feed.name)
    table.rewrite([row.asDict() for row in rows])
    return rows


def _open_from(lake: Lake, feed: Feed, unread: Sequence[str]) -> dict[str, list[int]]:
    """Where the first open transaction of each tablet begins."""
    events = transactions.read_open_events(lake, feed)
    states = transactions.states_of_transactions(lake, feed, events, unread)
    still = {one.id for one in states if one.commit is None}
    found: dict[str, list[int]] = {}
    if still:
        for row in lake.in_process_table(Layer.TRANSACTIONS, feed.name).rows(
            ["id", "log_position"]
        ):
            if row["id"] in still:
                tablet = row["id"].partition("/")[0]
                found[tablet] = min(found.get(tablet, row["log_position"]), row["log_position"])
    return found


def offsets(
    silver: DataFrame,
    open_from: Mapping[str, Sequence[int]],
    consumer: str,
    first_unread: str | None,
) -> DataFrame:
    """One row per stream and tablet (``layers.Offsets``), from the checkpoints in silver.

    An offset is behind a commit that was read (``REACHED``), before the tablet's first open transaction
    (``open_from``), and before the first window that has landed and is not read. ``consumer``: the feed's name.
    """
    term, index = [F.col("after")[name].cast("bigint") for name in REACHED]
    is_told = F.col("after")["term"].isNotNull() | term.isNotNull()
    position = F.concat(F.slice("log_position", 1, 2), F.array(term, index, F.lit(BEHIND)))
    notes = silver.where((F.col("derived") == CHECKPOINT) & is_told).withColumn(
        "log_position", position
    )
    positions = [
        part
        for tablet, numbers in open_from.items()
        for part in (F.lit(tablet), F.array(*map(F.lit, numbers)).cast("array<bigint>"))
    ]
    known = (
        F.create_map(*positions) if positions else F.create_map().cast("map<string,array<bigint>>")
    )
    notes = notes.withColumn("open_from", F.try_element_at(known, F.col("stream")))
    is_behind_commits = (
        term.isNotNull()
        & (F.col("open_from").isNull() | (F.col("log_position") < F.col("open_from")))
        & (F.lit(True) if first_unread is None else F.col("window") < first_unread)
    )
    furthest = F.max_by(
        F.struct(term.alias("term"), index.alias("index"), F.lit(0).alias("write_id")),
        F.when(is_behind_commits, F.col("log_position")),
    )
    reached = F.when(is_behind_commits, F.struct("log_position", "window"))
    found = notes.groupBy(F.col("after")["stream_id"].alias("of_stream"), "stream").agg(
        furthest.alias("at"), F.max(reached).alias("reached")
    )
    return found.select(
        F.col("of_stream").alias("stream"),
        F.col("stream").alias("tablet"),
        F.lit(consumer).alias("consumer"),
        F.col("at.term").alias("term"),
        F.col("at.index").alias("index"),
        F.col("at.write_id").alias("write_id"),
        F.col("reached.window").alias("window"),
    )


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's offsets asset: behind everything else, for an offset says what is done."""
    spec = dg.AssetSpec(
        feed_key("offsets", feed),
        deps=[feed_key("progress", feed)],
        kinds={"offsets", "deltalake"},
        description="One row per stream and tablet: the checkpoint behind the last commit that is in gold.",
        metadata=table_metadata(feed, Layer.OFFSETS),
    )

    @dg.multi_asset(specs=[spec_of_feed(feed, spec)], **window_step(feed, "offsets"))
    @retried
    def consumer_offsets(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> dg.MaterializeResult[None]:
        rows = write_offsets(lake, feed)
        context.log.info(f"offsets.{feed.name}: {counted(len(rows), 'tablet')}")
        return dg.MaterializeResult(
            metadata={"dagster/row_count": len(rows), "offsets": markdown_metadata(as_table(rows))}
        )

    return consumer_offsets


def as_table(rows: Sequence[Row]) -> Markdown:
    """The offsets as a table."""
    cells = [["" if cell is None else cell for cell in row] for row in rows]
    return table(own_head(*layers.Offsets.schema.names), cells)
