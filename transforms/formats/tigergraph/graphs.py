"""Which graph's tables a message is for, and what follows from it.

Vertices and edges of one graph stay in it. A type that all graphs share (GLOBAL) is one for all of them, and edges of
any graph may touch its vertices: which ones, only the feed's ``graph`` tells.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats.tigergraph import constants
from transforms.formats.tigergraph.tables import GLOBAL


def in_graphs(effects: Column, feed: Feed) -> Column:
    """The effects, each with its ``graph``; one of a GLOBAL type is there for every graph that it reaches."""
    if feed.table_names == "plain":
        return F.transform(effects, lambda one: one.withField("graph", _unless_shared(one, feed)))

    def every(one: Column) -> Column:
        def of_graph(graph: Column, at: Column) -> Column:
            # An event is one; the others follow from it.
            derived = F.when(at > 0, F.coalesce(one["derived"], one["operation"]))
            return one.withField("graph", graph).withField(
                "derived", derived.otherwise(one["derived"])
            )

        return F.transform(_reached(one, feed), of_graph)

    return F.flatten(F.transform(effects, every))


def is_unknown(feed: Feed) -> Column:
    """True for a message on a GLOBAL type where nothing says which graphs' edges touch it, or that it is GLOBAL."""
    if feed.table_names == "plain":
        return F.lit(False)
    reached = F.concat(
        F.array_compact(F.array("name")), F.transform("scopes", lambda one: one["table"])
    )
    known = constants.graphs(feed)
    strange = F.exists(reached, lambda name: F.try_element_at(known, name).isNull())
    return (F.col("graph") == GLOBAL) & strange


def _unless_shared(one: Column, feed: Feed) -> Column:
    """The graph where tables are named by type alone: what follows from a message may be of another, or of none."""
    shared = F.coalesce(_declared(one, feed) == F.array(F.lit(GLOBAL)), F.lit(False))
    is_own = one["name"].isNotNull() & one["derived"].isNull() & ~shared
    return F.when(is_own & (F.col("graph") != GLOBAL), F.col("graph"))


def _reached(one: Column, feed: Feed) -> Column:
    """The graphs whose tables an effect is for."""
    declared, own = _declared(one, feed), F.array("graph")
    shared = declared == F.array(F.lit(GLOBAL))
    may_spread = one["derived"].isNotNull() | (one["operation"] == "delete-all")
    return (
        F.when(one["name"].isNull(), F.array(F.lit(None).cast("string")))
        .when(shared, declared)
        .when(may_spread & (F.col("graph") == GLOBAL) & declared.isNotNull(), declared)
        .otherwise(own)
    )


def _declared(one: Column, feed: Feed) -> Column:
    return F.try_element_at(constants.graphs(feed), one["name"])
