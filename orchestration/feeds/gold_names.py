"""Whether the tables of a feed file can stand beside each other in gold.

Put here what is checked of all tables' names together. Not here: how a table's name in gold is made
(``transforms/feed/table_names``).
"""

from __future__ import annotations

from transforms.errors import FeedMisdeclared, TableNameCollision
from transforms.feed.feed import Feed
from transforms.feed.table_names import HISTORY, TOMBSTONES, asset_name, gold_name


def check_gold_names(file: str, feed: Feed) -> None:
    """Refuse names that the feed's tables cannot have in gold or in Dagster.

    Raises:
        FeedMisdeclared: one is no name for a gold table.
        TableNameCollision: two tables would become one gold table.
    """
    sources: dict[str, str] = {}
    for table in feed.tables:
        gold = gold_name(table, feed.table_names)
        for ending in (TOMBSTONES, HISTORY):
            if gold.lower().endswith(ending):
                fault = f"a gold table's name cannot end with {ending}, as {gold} does"
                raise FeedMisdeclared(file, f"tables.{table}", f"{fault} (see table_names)")
        # SQL does not tell names apart by case.
        if other := sources.get(gold.lower()):
            raise TableNameCollision(feed.name, gold, (other, table))
        sources[gold.lower()] = table
    assets: dict[str, str] = {}
    for table, gold in ((table, gold_name(table, feed.table_names)) for table in feed.tables):
        if other := assets.get(asset_name(gold)):
            fault = f"would be the same asset in Dagster as {other}, {asset_name(gold)}"
            raise FeedMisdeclared(file, f"tables.{table}", fault)
        assets[asset_name(gold)] = table
