"""A graph's tables beside each other: the checks that only hold, or fail, when all of them are applied.

Not here: how edges go with their vertices (``transforms/formats/tigergraph``).
"""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from time import monotonic

import dagster as dg
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets import checks, partitions
from assets.columns import restarts
from assets.columns.gold import EVENT_AT, newest_tombstones
from assets.gold import gold_tables
from assets.lake import Lake
from assets.layers import Layer
from assets.window_asset import window_asset
from assets.wording import counted
from expectations import tigergraph as rules
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import TOMBSTONES, asset_name, gold_name
from transforms.formats.tigergraph.tables import DISCRIMINATOR, ENDS, GLOBAL, MIRROR, UID, shared

SHOWN = 10
"""So many of what is found are named."""

TOLERANCE = "1 HOUR"
"""A request that began so long before others may end after them."""


@dataclass(frozen=True, slots=True)
class Found:
    """How many edges, or partitions, break each rule, and the first of them."""

    violations: dict[str, int]
    samples: dict[str, str]


def key_of(feed: Feed) -> list[str]:
    """The asset of a graph's checks."""
    return ["graph", feed.name]


def build(feed: Feed) -> dg.AssetsDefinition:
    """The checks of one feed's graph, downstream of all its gold tables."""
    key = key_of(feed)

    @dg.asset(
        key=key,
        deps=[
            ["gold", feed.name, asset_name(gold_name(table.name, feed.table_names))]
            for table in feed.tables.values()
        ],
        check_specs=checks.specs(key, rules.RULES),
        kinds={"check"},
        description="Whether edges and vertices fit each other, and both directions of an edge.",
        **window_asset(feed, "graph"),
    )
    def graph(
        context: dg.AssetExecutionContext, lake: Lake
    ) -> Iterator[dg.MaterializeResult[None]]:
        windows = partitions.keys_of(context)
        started = monotonic()
        found = check(lake, feed)
        for name, number in found.violations.items():
            if number:
                context.log.warning(f"{feed.name}: {name}: {counted(number, 'violation')}")
        yield dg.MaterializeResult(
            metadata={"seconds": round(monotonic() - started, 1)},
            check_results=list(
                checks.results(key, rules.RULES, found.violations, windows, found.samples)
            ),
        )

    return graph


def check(lake: Lake, feed: Feed) -> Found:
    """Look at all edges of a feed's gold."""
    tables = {
        name: table
        for name, table in gold_tables.mirrors(lake, feed).items()
        if lake.table(Layer.GOLD, feed.name, name).exists()
        and lake.table(Layer.GOLD, feed.name, name + TOMBSTONES).exists()
    }
    found = {
        rules.NO_DANGLING_EDGE.name: _with_deleted_end(lake, feed, tables, is_older=True),
        rules.NO_EDGE_AWAITS_A_VERTEX.name: _with_deleted_end(lake, feed, tables, is_older=False),
        rules.MIRRORED_EDGES_AGREE.name: _unlike(lake, feed, tables),
    }
    found[rules.TIDS_RISE_WITH_SOURCE_TIME.name] = _restarts(lake, feed)
    told = {name: _counted(broken) for name, broken in found.items()}
    return Found(
        {name: number for name, (number, _) in told.items()},
        {name: seen for name, (_, seen) in told.items() if seen},
    )


def _counted(broken: DataFrame | None) -> tuple[int, str]:
    """How many there are, and the first of them, a line each."""
    if broken is None:
        return 0, ""
    once = broken.localCheckpoint()
    some = once.orderBy("what").limit(SHOWN).collect()
    return once.count(), "\n".join(f"- {row['what']}" for row in some)


def _restarts(lake: Lake, feed: Feed) -> DataFrame:
    """One row per partition whose tids began anew: ``what``."""
    found = restarts.of_streams(lake.table(Layer.SILVER, feed.name).read(), TOLERANCE)
    what = F.format_string(
        "partition %s: from tid %d on nothing is newer than %s, and a lower tid is of %s",
        *("stream", F.get("place", F.lit(2))),
        *(F.col(name).cast("string") for name in ("newest", "newest_before")),
    )
    return found.select(what.alias("what"))


def _with_deleted_end(
    lake: Lake, feed: Feed, tables: dict[str, Table], *, is_older: bool
) -> DataFrame | None:
    """One row per edge with a deleted vertex: ``what``; those no newer than the delete, or the others."""
    tombstones = [
        _tombstones(lake, feed, name, table) for name, table in tables.items() if _is_vertex(table)
    ]
    edges = [
        _edges(lake, feed, name, table) for name, table in tables.items() if not _is_vertex(table)
    ]
    if not tombstones or not edges:
        return None
    gone = reduce(DataFrame.unionByName, tombstones)
    ends = reduce(DataFrame.unionByName, edges)
    older = F.coalesce(F.col(EVENT_AT) <= F.col("deleted_at"), F.lit(True))
    met = ends.join(gone, on=["graph", "type", "uid"]).where(older if is_older else ~older)
    return met.select("what").distinct()


def _tombstones(lake: Lake, feed: Feed, name: str, table: Table) -> DataFrame:
    """One row per vertex that is deleted: ``graph``, ``type``, ``uid``, ``deleted_at``."""
    rows = lake.table(Layer.GOLD, feed.name, name).read().select(UID)
    tombstones = newest_tombstones(
        lake.table(Layer.GOLD, feed.name, name + TOMBSTONES).read(), table
    )
    return tombstones.join(rows, on=UID, how="left_anti").select(
        F.lit(name.removesuffix(table.name)).alias("graph"),
        F.lit(table.name.removeprefix("vertex_")).alias("type"),
        F.col(UID).alias("uid"),
        F.col(EVENT_AT).alias("deleted_at"),
    )


def _edges(lake: Lake, feed: Feed, name: str, table: Table) -> DataFrame:
    """Two rows per edge, one for each end: ``graph``, ``type``, ``uid``, ``what``, and when it was last changed."""
    end = F.explode(
        F.array(
            *[
                F.struct(F.col(f"{one}_type").alias("type"), F.col(f"{one}_uid").alias("uid"))
                for one in ("from", "to")
            ]
        )
    )
    rows = lake.table(Layer.GOLD, feed.name, name).read()
    ends = rows.select(_shown(name).alias("what"), EVENT_AT, end.alias("end"))
    graph = F.lit(name.removesuffix(table.name))
    if feed.table_names != "plain":
        # An edge of one graph may touch vertices that all graphs share.
        is_shared = F.col("end.type").isin(shared(feed))
        graph = F.when(is_shared, F.lit(f"{GLOBAL}__")).otherwise(graph)
    return ends.select(graph.alias("graph"), "end.*", "what", EVENT_AT)


def _unlike(lake: Lake, feed: Feed, tables: dict[str, Table]) -> DataFrame | None:
    """One row per edge whose two directions are not the same, or of which one is missing: ``what``."""
    found = []
    for name, table in tables.items():
        other = name + MIRROR
        if other not in tables:
            continue
        own, mirrored = (lake.table(Layer.GOLD, feed.name, one).read() for one in (name, other))
        columns = [*ENDS, DISCRIMINATOR]
        values = F.to_json(_attributes(table), {"ignoreNullFields": "false"})
        ours = own.select(*columns, values.alias("ours"))
        theirs = mirrored.select(*columns, values.alias("theirs"))
        both = ours.join(theirs, on=columns, how="full_outer")
        differ = ~F.col("ours").eqNullSafe(F.col("theirs"))
        found.append(both.where(differ).select(_shown(name).alias("what")))
    return reduce(DataFrame.unionByName, found) if found else None


def _attributes(table: Table) -> Column:
    """An edge's attributes as one value; the entries of maps have no order of their own."""
    values = [F.lit(True).alias("is_there")]
    for name, kind in table.columns.items():
        if name not in table.key:
            value = F.col(f"`{name}`")
            is_map = kind.startswith("map<")
            values.append((F.array_sort(F.map_entries(value)) if is_map else value).alias(name))
    return F.struct(*values)


def _shown(name: str) -> Column:
    """An edge as a reader of a check sees it."""
    parts = [F.lit(name), F.lit(": ")]
    for one in ENDS:
        parts += [F.col(one), F.lit(" ")]
    return F.concat(*parts, F.col(DISCRIMINATOR))


def _is_vertex(table: Table) -> bool:
    return table.name.startswith("vertex_")
