"""Dgraph's triples to wide tables of nodes: one for each of a feed's ``types``, written again by each run."""

# No postponed annotations here: Dagster reads the functions' own.
from time import monotonic

import dagster as dg

from assets.columns import dgraph_nodes
from assets.control import asset
from assets.executors.choice import EXECUTOR, SPARK
from assets.feed_assets import feed_key, gold_keys, spec_of_feed, window_step
from assets.retries import retried
from assets.storage.lake import Lake, Layer
from assets.storage.locks import writing
from assets.wording import counted
from transforms.feed.feed import Feed
from transforms.feed.names import gold_name


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

    @dg.multi_asset(specs=[spec_of_feed(feed, spec)], **window_step(feed, "nodes"))
    @retried
    def of_nodes(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> dg.MaterializeResult[None]:
        started = monotonic()
        sizes = write_nodes(lake, feed)
        for name, rows in sizes.items():
            context.log.info(f"gold.{feed.name}.{name}: {counted(rows, 'node')}")
        asset.finish_with_last(context, lake, feed, [])
        seconds = round(monotonic() - started, 1)
        return dg.MaterializeResult(metadata={"seconds": seconds, EXECUTOR: SPARK, **sizes})

    return of_nodes
