"""Dgraph's triples to wide tables of nodes: one table for each of a feed's ``types``, written again by each run.

Put here the asset and when its tables are written. Not here: what a row is (``assets/columns/dgraph_nodes.py``).
"""

# No postponed annotations here: Dagster reads the functions' own.
from time import monotonic

import dagster as dg

from assets.asset_keys import feed_key, gold_keys
from assets.bookkeeping import progress_asset
from assets.columns import dgraph_nodes
from assets.executors.choice import SPARK
from assets.executors.told import EXECUTOR
from assets.lake import Lake
from assets.layers import Layer
from assets.locks import writing
from assets.retries import retried
from assets.window_asset import of_feed, window_step
from assets.wording import counted
from transforms.feed.feed import Feed
from transforms.feed.table_names import gold_name


def write_nodes(lake: Lake, feed: Feed) -> dict[str, int]:
    """Write every table of nodes from the triples that gold has now; returns how many nodes each has, by name."""
    (triples,) = feed.tables.values()
    source = lake.table(Layer.GOLD, feed.name, gold_name(triples.name, feed.table_names))
    sizes = {}
    for node_type, names in feed.types.items():
        name = f"{dgraph_nodes.TABLE}{node_type}"
        predicates = [feed.predicates[predicate] for predicate in names]
        table = lake.table(Layer.GOLD, feed.name, name)
        with writing(lake, Layer.GOLD, feed.name, name):
            table.create(dgraph_nodes.wide(source.read(), node_type, predicates), {})
        sizes[name] = table.read().count()
    return sizes


def build(feed: Feed) -> dg.AssetsDefinition:
    """The asset of all tables of nodes of one feed."""
    spec = dg.AssetSpec(
        feed_key("nodes", feed),
        deps=gold_keys(feed),
        kinds={"gold", "deltalake"},
        description=f"One row per node, for {', '.join(feed.types)}: a column for each declared predicate.",
    )

    @dg.multi_asset(specs=[of_feed(feed, spec)], **window_step(feed, "nodes"))
    @retried
    def of_nodes(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> dg.MaterializeResult[None]:
        started = monotonic()
        sizes = write_nodes(lake, feed)
        for name, rows in sizes.items():
            context.log.info(f"gold.{feed.name}.{name}: {counted(rows, 'node')}")
        progress_asset.finish_with_last(context, lake, feed, [])
        seconds = round(monotonic() - started, 1)
        return dg.MaterializeResult(metadata={"seconds": seconds, EXECUTOR: SPARK, **sizes})

    return of_nodes
