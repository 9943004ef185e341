"""The checks of a TigerGraph graph that compare its tables, and so run after all of them are applied.

Put here what a reader of the checks gets to see. Not here: which edges break a rule (``tigergraph_edges``), the rules
(``expectations/tigergraph.py``), and how edges go with their vertices (``transforms/formats/tigergraph``).
"""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic

import dagster as dg
from pyspark.sql import DataFrame

from assets import checks
from assets.asset_keys import feed_key, gold_keys
from assets.bookkeeping import landed_windows, progress_asset
from assets.executors.choice import SPARK
from assets.executors.told import EXECUTOR
from assets.gold import gold_tables, tigergraph_edges
from assets.lake import Lake
from assets.layers import Layer
from assets.retries import retried
from assets.window_asset import of_feed, window_step
from assets.wording import counted
from expectations import tigergraph as rules
from expectations.feed_rules import as_set
from transforms.display.markdown import NOTHING, Markdown, bullets
from transforms.feed.feed import Feed
from transforms.feed.table_names import TOMBSTONES

SHOWN = 10
"""How many of the violations are named."""


@dataclass(frozen=True, slots=True)
class Violations:
    """How many edges, or partitions, break each rule, and samples of them; by the rule's name."""

    violations: dict[str, int]
    samples: dict[str, Markdown]


def build(feed: Feed) -> dg.AssetsDefinition:
    """The checks of one feed's graph, downstream of all its gold tables."""
    key, in_force = feed_key("graph", feed), as_set(rules.RULES, feed.checks)
    spec = dg.AssetSpec(
        key,
        deps=gold_keys(feed),
        kinds={"check"},
        description="Whether edges and vertices fit each other, and both directions of an edge.",
    )

    @dg.multi_asset(
        specs=[of_feed(feed, spec)],
        check_specs=checks.specs(key.path, in_force),
        **window_step(feed, "graph"),
    )
    @retried
    def graph(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> Iterator[dg.MaterializeResult[None]]:
        windows = landed_windows.of_run(context, lake, feed)
        started = monotonic()
        found = check(lake, feed)
        counted_rules = checks.Counted(
            as_set(rules.RULES, feed.checks), found.violations, found.samples
        )
        for name, number in found.violations.items():
            if number:
                context.log.warning(f"{feed.name}: {name}: {counted(number, 'violation')}")
        checked = checks.kept_counts(lake, feed, key.path, counted_rules, windows)
        yield dg.MaterializeResult(
            metadata={"seconds": round(monotonic() - started, 1), EXECUTOR: SPARK},
            check_results=checked,
        )
        progress_asset.finish_with_last(context, lake, feed, checked)

    return graph


def check(lake: Lake, feed: Feed) -> Violations:
    """Count what breaks each rule in a feed's gold tables."""
    tables = {
        name: table
        for name, table in gold_tables.mirrors(lake, feed).items()
        if lake.table(Layer.GOLD, feed.name, name).exists()
        and lake.table(Layer.GOLD, feed.name, name + TOMBSTONES).exists()
    }
    found = {
        rules.NO_DANGLING_EDGE.name: tigergraph_edges.with_deleted_end(
            lake, feed, tables, is_older=True
        ),
        rules.NO_EDGE_AWAITS_ITS_VERTEX.name: tigergraph_edges.with_deleted_end(
            lake, feed, tables, is_older=False
        ),
        rules.MIRRORED_EDGES_AGREE.name: tigergraph_edges.unlike_mirrors(lake, feed, tables),
    }
    found[rules.TIDS_RISE_WITH_SOURCE_TIME.name] = tigergraph_edges.restarts_of(lake, feed)
    counts = {name: _counted(broken) for name, broken in found.items()}
    return Violations(
        {name: number for name, (number, _) in counts.items()},
        {name: seen for name, (_, seen) in counts.items() if seen},
    )


def _counted(broken: DataFrame | None) -> tuple[int, Markdown]:
    """How many violations there are, and the first of them, a line each."""
    if broken is None:
        return 0, NOTHING
    once = broken.localCheckpoint()
    some = once.orderBy("what").limit(SHOWN).collect()
    return once.count(), bullets(row["what"] for row in some)
