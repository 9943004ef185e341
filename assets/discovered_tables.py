"""The tables of a feed: those that its file declares, and those that only its stream describes.

What a stream says of a table is in the accounts of its windows. Not here: what a description makes of a table
(``transforms/silver/discovered_tables.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import functions as F

from assets.lake import Lake
from transforms.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.silver import discovered_tables


def tables_of(lake: Lake, feed: Feed) -> Mapping[str, Table]:
    """All tables of the feed, by the name that silver has under ``declared``."""
    return {**feed.tables, **discovered(lake, feed)}


def discovered(lake: Lake, feed: Feed) -> dict[str, Table]:
    """The tables that the feed file does not declare and that the stream has described, in whatever window.

    Raises:
        KeyDrift: the stream has described one of them with two keys.
    """
    if not FORMATS[feed.format].tells_tables:
        return {}
    accounts = lake.table("accounting", feed.name)
    if not accounts.exists():
        return {}
    others = F.col("declared").isNotNull() & ~F.col("declared").isin(list(feed.tables))
    rows = (
        accounts.read().where(others).select("declared", F.explode("stream_schemas").alias("said"))
    )
    found: dict[str, list[discovered_tables.Description]] = {}
    # A description without a key says what an event of the whole table was for, and no more.
    for row in rows.where("said.key IS NOT NULL").distinct().collect():
        columns = tuple((one["name"], one["type"]) for one in row["said"]["columns"])
        found.setdefault(row["declared"], []).append((tuple(row["said"]["key"]), columns))
    return {name: discovered_tables.table(feed, name, said) for name, said in sorted(found.items())}
