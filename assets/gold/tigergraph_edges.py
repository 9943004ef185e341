"""Edges of a graph that do not fit their vertices, or their other direction: one row for each, as frames.

Put here what finds such edges. Not here: what a reader of the checks sees (``tigergraph_checks``), and how edges go
with their vertices (``transforms/formats/tigergraph``).
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns import restarts
from assets.columns.gold import newest_tombstones
from assets.columns.quoting import quoted
from assets.columns.types import AS_JSON
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import TOMBSTONES
from transforms.formats.tigergraph.tables import DISCRIMINATOR, ENDS, GLOBAL, MIRROR, UID, shared
from transforms.gold.columns import EVENT_AT

TOLERANCE = "1 HOUR"
"""A request may begin this long before others and end after them, so that its times say nothing."""


def restarts_of(lake: Lake, feed: Feed) -> DataFrame:
    """One row per partition whose tids started over: ``what``, a sentence."""
    found = restarts.of_streams(lake.table(Layer.SILVER, feed.name).read(), TOLERANCE)
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

    ``is_older``: edges no newer than the delete of the vertex; else the other ones.
    """
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
    """Two rows per edge, one for each end: ``graph``, ``type``, ``uid``, ``what``, and the edge's last change."""
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


def unlike_mirrors(lake: Lake, feed: Feed, tables: dict[str, Table]) -> DataFrame | None:
    """One row per edge whose two directions differ or of which one is missing: ``what``; None without mirrors."""
    found = []
    for name, table in tables.items():
        other = name + MIRROR
        if other not in tables:
            continue
        own, mirrored = (lake.table(Layer.GOLD, feed.name, one).read() for one in (name, other))
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
