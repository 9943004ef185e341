"""The checks of a TigerGraph graph that compare its tables: edges that do not fit their vertices or each other."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from time import monotonic

import dagster as dg
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from assets.columns.gold import AS_JSON, newest_tombstones
from assets.columns.quoting import quoted
from assets.control import asset, decisions
from assets.executors.choice import EXECUTOR, SPARK
from assets.feed_assets import feed_key, gold_keys, spec_of_feed, window_step
from assets.gold import tables as tables_of_gold
from assets.gold.tables import GoldTable
from assets.quality import checks
from assets.retries import retried
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from expectations import tigergraph as rules
from expectations.feed_rules import as_set
from transforms.display import NO_MARKDOWN, Markdown, bullets
from transforms.feed.feed import Feed, Table
from transforms.feed.names import TOMBSTONES
from transforms.formats.tigergraph.declarations import (
    DISCRIMINATOR,
    ENDS,
    GLOBAL,
    MIRROR,
    UID,
    shared_vertices,
)
from transforms.gold.columns import EVENT_AT, IS_DELETED

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
        specs=[spec_of_feed(feed, spec)],
        check_specs=checks.specs_of_rules(key.path, in_force),
        **window_step(feed, "graph"),
    )
    @retried
    def graph(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> Iterator[dg.MaterializeResult[None]]:
        windows = asset.landed_windows_of_run(context, lake, feed)
        started = monotonic()
        found = check_graph(lake, feed)
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
        asset.finish_with_last(context, lake, feed, checked)

    return graph


def check_graph(lake: Lake, feed: Feed) -> Violations:
    """Count what breaks each rule in a feed's gold tables."""
    tables = {
        name: table
        for name, table in tables_of_gold.mirrors(lake, feed).items()
        if tables_of_gold.exists(lake, feed, name)
    }
    found = {
        rules.NO_DANGLING_EDGE.name: with_deleted_end(lake, feed, tables, is_older=True),
        rules.NO_EDGE_AWAITS_ITS_VERTEX.name: with_deleted_end(lake, feed, tables, is_older=False),
        rules.MIRRORED_EDGES_AGREE.name: unlike_mirrors(lake, feed, tables),
    }
    found[rules.TIDS_RISE_WITH_SOURCE_TIME.name] = restarts_of(lake, feed)
    counts = {name: _counted(broken) for name, broken in found.items()}
    return Violations(
        {name: number for name, (number, _) in counts.items()},
        {name: seen for name, (_, seen) in counts.items() if seen},
    )


def _counted(broken: DataFrame | None) -> tuple[int, Markdown]:
    """How many violations there are, and the first of them, a line each."""
    if broken is None:
        return 0, NO_MARKDOWN
    once = broken.localCheckpoint()
    some = once.orderBy("what").limit(SHOWN).collect()
    return once.count(), bullets(row["what"] for row in some)


TOLERANCE = "1 HOUR"
"""A request may begin this long before others and end after them, so that its times say nothing."""


def restarts_of(lake: Lake, feed: Feed) -> DataFrame:
    """One row per partition whose tids started over: ``what``, a sentence."""
    found = restarted_streams(lake.table(Layer.SILVER, feed.name).read(), TOLERANCE)
    what = F.format_string(
        "partition %s: no event from tid %d on is later than %s, but an event with a lower tid is from %s",
        *("stream", F.get("log_position", F.lit(2))),
        *(F.col(name).cast("string") for name in ("newest", "newest_before")),
    )
    return found.select(what.alias("what"))


def with_deleted_end(
    lake: Lake, feed: Feed, tables: dict[str, Table], *, is_older: bool
) -> DataFrame | None:
    """One row per edge with a deleted vertex: ``what``, the edge; None where the feed has no edges or no deletes.

    ``is_older``: edges no newer than the delete of the vertex; else the other ones. Where a delete waits for a person,
    since nobody knows which came first, edges of about its time are among the other ones.
    """
    held = decisions.with_recorded(lake, feed).decisions.held()
    waits = {one.table for one in held if one.is_of_order}
    tombstones = [
        _tombstones(lake, feed, name, table) for name, table in tables.items() if _is_vertex(table)
    ]
    edges = [
        _edges(lake, feed, name, table, waits=name in waits)
        for name, table in tables.items()
        if not _is_vertex(table)
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
    rows = lake.table(Layer.GOLD, feed.name, name).read()
    # What gold was made under: it may wait for the windows of a changed declaration.
    if IS_DELETED in rows.columns:
        gone = rows.where(IS_DELETED)
    else:
        tombstones = lake.table(Layer.GOLD, feed.name, name + TOMBSTONES).read()
        newest = newest_tombstones(tombstones, table)
        gone = newest.join(rows.select(UID), on=UID, how="left_anti")
    return gone.select(
        F.lit(name.removesuffix(table.name)).alias("graph"),
        F.lit(table.name.removeprefix("vertex_")).alias("type"),
        F.col(UID).alias("uid"),
        F.col(EVENT_AT).alias("deleted_at"),
    )


def _edges(lake: Lake, feed: Feed, name: str, table: Table, *, waits: bool) -> DataFrame:
    """Two rows per edge, one for each end: ``graph``, ``type``, ``uid``, ``what``, and when it was changed last."""
    at = F.col(EVENT_AT) + F.expr(f"INTERVAL {TOLERANCE}") if waits else F.col(EVENT_AT)
    end = F.explode(
        F.array(
            *[
                F.struct(F.col(f"{one}_type").alias("type"), F.col(f"{one}_uid").alias("uid"))
                for one in ("from", "to")
            ]
        )
    )
    rows = GoldTable(lake, feed, table, name).live()
    ends = rows.select(_shown(name).alias("what"), at.alias(EVENT_AT), end.alias("end"))
    graph = F.lit(name.removesuffix(table.name))
    if feed.table_names != "plain":
        # An edge of one graph may touch vertices that all graphs share.
        is_shared = F.col("end.type").isin(shared_vertices(feed))
        graph = F.when(is_shared, F.lit(f"{GLOBAL}__")).otherwise(graph)
    return ends.select(graph.alias("graph"), "end.*", "what", EVENT_AT)


def unlike_mirrors(lake: Lake, feed: Feed, tables: dict[str, Table]) -> DataFrame | None:
    """One row per edge whose two directions differ or of which one is missing: ``what``; None without mirrors."""
    found = []
    for name, table in tables.items():
        other = name + MIRROR
        if other not in tables:
            continue
        own, mirrored = (GoldTable(lake, feed, table, one).live() for one in (name, other))
        columns = [*ENDS, DISCRIMINATOR]
        values = F.to_json(_attributes(table), AS_JSON)
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
            value = F.col(quoted(name))
            is_map = kind.startswith("map<")
            values.append((F.array_sort(F.map_entries(value)) if is_map else value).alias(name))
    return F.struct(*values)


def _shown(name: str) -> Column:
    """An edge in words: its table, its ends and its discriminator."""
    parts = [F.lit(name), F.lit(": ")]
    for one in ENDS:
        parts += [F.col(one), F.lit(" ")]
    return F.concat(*parts, F.col(DISCRIMINATOR))


def _is_vertex(table: Table) -> bool:
    return table.name.startswith("vertex_")


CLOCK_NUMBERS = 3
"""Epoch, phase and the source's first number: what of a position time is measured at."""


def restarted_streams(silver: DataFrame, tolerance: str) -> DataFrame:
    """One row per stream that started over: ``stream``, ``log_position``, ``newest`` from there on, ``newest_before``.

    All events from that position on are older, by more than ``tolerance`` (as a Spark SQL interval: ``1 HOUR``), than
    some event before it. A single older event means nothing: the source may have begun it long before.
    """
    of_epoch = Window.partitionBy("stream", F.get("log_position", F.lit(0))).orderBy("log_position")
    return (
        silver.where("stream IS NOT NULL")
        .groupBy("stream", F.slice("log_position", 1, CLOCK_NUMBERS).alias("log_position"))
        .agg(F.max("event_at").alias("at"))
        .select(
            *("stream", "log_position"),
            F.max("at").over(of_epoch.rowsBetween(0, Window.unboundedFollowing)).alias("newest"),
            F.max("at")
            .over(of_epoch.rowsBetween(Window.unboundedPreceding, -1))
            .alias("newest_before"),
        )
        .where(F.col("newest") + F.expr(f"INTERVAL {tolerance}") < F.col("newest_before"))
        .groupBy("stream")
        .agg(
            F.min_by(F.struct("log_position", "newest", "newest_before"), "log_position").alias(
                "first"
            )
        )
        .select("stream", "first.*")
    )
