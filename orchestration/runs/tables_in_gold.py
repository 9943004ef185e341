"""Tables that only the stream describes and that gold has: known when the code location is loaded, and not before.

Put here what Dagster's pages ask of them. Not here: how a stream describes a table (``assets/bookkeeping``), and their
assets (``assets/gold/undeclared_asset``).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from assets.bookkeeping import discovered_tables
from assets.delta import delta_rs
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import gold_name
from transforms.formats import FORMATS


def tables_in_gold(lake: Lake, feed: Feed) -> Mapping[str, Table]:
    """The tables in gold that the feed file does not declare; none where the warehouse cannot be asked now."""
    if not FORMATS[feed.format].describes_tables:
        return {}
    try:
        folders = delta_rs.folders(lake.path(Layer.GOLD, feed.name), lake.warehouse)
        found = discovered_tables.discovered(lake, feed) if folders else {}
    except Exception as fault:  # whatever it is, the pages come up, and the first run meets it
        warnings.warn(f"{feed.name}: its tables in gold are not known: {fault}", stacklevel=2)
        return {}
    return {
        name: table
        for name, table in found.items()
        if gold_name(table.name, feed.table_names) in folders
    }
