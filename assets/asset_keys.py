"""The keys and groups of a feed's Dagster assets: ``[layer, feed, title]``, where the title reads by itself.

Dagster's graph shows a key's last part alone, so no two nodes may share it: ``shop_bronze``, and in gold the table's
name. Put here what an asset is called and where the UI puts it. Not here: what an asset is declared with
(``window_asset``), and what it does (its ``asset`` module).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import dagster as dg

from transforms.feed.feed import Feed
from transforms.feed.table_names import TOMBSTONES, asset_name, gold_name

UPKEEP: Final = frozenset({"progress", "offsets", "compaction", "report"})
"""The first parts of the keys of what Weir keeps for itself: not what a person means by "Materialize all"."""


def feed_key(kind: str, feed: Feed) -> dg.AssetKey:
    """The key of the one asset of this kind that the feed has: ``bronze / shop / shop_bronze``."""
    return dg.AssetKey([kind, feed.name, f"{feed.name}_{kind}"])


def table_name_of(path: Sequence[str]) -> str:
    """The name that `weir query` has for what an asset makes: ``silver.shop``, ``gold.shop.customers``."""
    kind, feed, *title = path
    return ".".join((kind, feed) if title == [f"{feed}_{kind}"] else path)


def gold_key(feed: Feed, table: str) -> dg.AssetKey:
    """The key of the gold asset of a table, by the source's name: ``gold / shop / customers``."""
    return named_gold_key(feed, gold_name(table, feed.table_names))


def named_gold_key(feed: Feed, name: str) -> dg.AssetKey:
    """The key of a gold asset, by the gold table's own name."""
    return dg.AssetKey(["gold", feed.name, asset_name(name)])


def gold_keys(feed: Feed) -> list[dg.AssetKey]:
    """The keys of the gold assets of all declared tables."""
    return [gold_key(feed, table.name) for table in feed.tables.values()]


def upkeep_group(feed: Feed) -> str:
    """The group of what Weir keeps for itself."""
    return f"{feed.name}_upkeep"


def group_of(feed: Feed, key: dg.AssetKey) -> str:
    """The group that an asset of the feed is in: the feed's, or that of its upkeep."""
    is_upkeep = key.path[0] in UPKEEP or key.path[-1].endswith(TOMBSTONES)
    return upkeep_group(feed) if is_upkeep else feed.name
