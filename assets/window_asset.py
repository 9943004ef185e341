"""What the Dagster assets of a feed have in common: they are made window by window, and are Delta tables.

Put here what every such asset is declared with, so that one that is added behaves like the others. Not here: an asset's
own key, dependencies, kinds and description (its ``asset`` module), and how a feed is sliced (``partitions``).
"""

from __future__ import annotations

from typing import Final, TypedDict

import dagster as dg
from pyspark.sql import types as T

from assets import partitions
from assets.asset_keys import group_of
from assets.columns.described import accounts, flow
from assets.layers import Layer
from assets.metadata_words import explained
from transforms.feed.feed import Feed


class WindowStep(TypedDict):
    """Parameters that ``dg.multi_asset`` takes."""

    name: str
    partitions_def: dg.PartitionsDefinition
    backfill_policy: dg.BackfillPolicy
    pool: str


def window_step(feed: Feed, step: str) -> WindowStep:
    """How a step over the feed's windows is declared: ``@dg.multi_asset(specs=…, **window_step(feed, "bronze"))``.

    A range of windows is one run. Runs of one ``step`` of a feed take turns, for they write the same tables.
    """
    return WindowStep(
        name=f"{step}_{feed.name}",
        partitions_def=partitions.windows_of(feed),
        backfill_policy=dg.BackfillPolicy.single_run(),
        pool=f"{step}_{feed.name}",
    )


def of_feed(feed: Feed, spec: dg.AssetSpec) -> dg.AssetSpec:
    """The spec of one of the feed's assets, with what all have, from its group to the words for its metadata."""
    running, group = feed.running, group_of(feed, spec.key)
    whole = spec.replace_attributes(group_name=group).merge_attributes(
        owners=running.owners, tags=running.tags, metadata=explained(spec.key.path[0])
    )
    if running.freshness is None or group != feed.name or spec.key.path[0] == "landing":
        return whole
    policy = dg.FreshnessPolicy.time_window(
        fail_window=running.freshness.fail, warn_window=running.freshness.warn
    )
    return whole.replace_attributes(freshness_policy=policy)


def table_metadata(
    feed: Feed, layer: Layer, schema: T.StructType
) -> dict[str, str | dg.TableSchema]:
    """The feed's table of this layer as Dagster's UI shows it: its name in SQL, and its columns."""
    columns = [
        dg.TableColumn(one.name, one.dataType.simpleString(), _DESCRIBED[layer][one.name])
        for one in schema.fields
    ]
    return {
        "dagster/table_name": f"{layer}.{feed.name}",
        "dagster/column_schema": dg.TableSchema(columns),
    }


_DESCRIBED: Final = {
    Layer.BRONZE: flow.BRONZE,
    Layer.SILVER: flow.SILVER,
    Layer.QUARANTINE: flow.QUARANTINE,
    Layer.OFFSETS: accounts.OFFSETS,
}
"""What the columns of these tables hold: the sentences of the reference."""
