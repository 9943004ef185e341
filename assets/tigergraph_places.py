"""Where an edge stands in its far end's partition: a message of its own says so.

An edge is kept where it begins. Its other end is told of it by the mirrored edge's message, or, where the edge has no
mirror, by an ``insert-only`` of the vertex; all of one request have one timestamp. Not here: what is done with these
places (``assets/gold_columns/streams.py``).

Vendor: TigerGraph documentation, "CDC Message Examples", extra CDC message for edge update.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats.tigergraph.tables import DISCRIMINATOR, ENDS, MIRROR, UID


def elsewhere(silver: DataFrame, feed: Feed, table: str) -> tuple[str, DataFrame] | None:
    """The column of a scope that names the far end, and the places there of a table's changes; None for vertices.

    One row per message of the far end: the change's ``event_id``, ``stream``, ``position``.
    """
    if not table.startswith("edge_"):
        return None
    is_mirror = table.endswith(MIRROR)
    far = "from" if is_mirror else "to"
    shown = table.removesuffix(MIRROR)
    other = shown if is_mirror else shown + MIRROR
    inserts = silver.where((F.col("effect") == "merge") & F.col("derived").isNull())
    edges = inserts.where((F.col("declared") == table) & F.col("scope").isNull()).alias("edge")
    if other in feed.tables:
        partners = inserts.where(F.col("declared") == other).alias("partner")
        same = F.lit(True)
        for name in (*ENDS, DISCRIMINATOR):
            same = same & (F.col("edge.after")[name] == F.col("partner.after")[name])
    else:
        partners = inserts.where(F.col("operation") == "insert-only").alias("partner")
        of_type = F.concat(F.lit("vertex_"), F.col("edge.after")[f"{far}_type"])
        same = (F.col("partner.declared") == of_type) & (
            F.col("partner.after")[UID] == F.col("edge.after")[f"{far}_uid"]
        )
    at_once = F.col("edge.event_at") == F.col("partner.event_at")
    places = edges.join(partners, same & at_once).select(
        F.col("edge.event_id"), F.col("partner.stream"), F.col("partner.position")
    )
    return f"{far}_type", places
