"""What is done before silver is derived under another declaration than it was: nothing may count as made of the old.

A feed file may be put back before gold has followed it, or a run may end in between: silver has other changes then than
those that gold was made from, under a declaration that progress and gold name as their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from assets.bookkeeping import discovered_tables
from assets.bookkeeping.added_columns import with_added
from assets.bookkeeping.window_progress import PROGRESS
from assets.lake import Lake
from assets.layers import Layer
from assets.locks import writing
from transforms.feed.digest import table_digest
from transforms.feed.feed import Feed

DECLARATION: Final = "weir.declaration"
"""The property of a gold table that holds the digest of the declaration that it was made with."""


def reopen(
    lake: Lake, feed: Feed, declared: Mapping[str, str], earlier: Sequence[Mapping[str, Any]]
) -> None:
    """Let windows that were derived under another declaration count as unfinished, and have gold made again from all.

    Before their silver is replaced, so that a run may end at any point. Gold tables that were made under the present
    declaration stay as they are: what another table is declared as has changed nothing in their silver.

    Args:
        lake: The warehouse.
        feed: The feed, with its recorded decisions.
        declared: The windows that are to be derived, and under which declaration.
        earlier: The accounts that they have before.

    Raises:
        TableBusy: another run writes a gold table of the feed.
    """
    stale = {
        row["window"]
        for row in earlier
        if row["declaration"] != declared.get(row["window"], row["declaration"])
    }
    if not stale:
        return
    progress = lake.in_process_table(Layer.PROGRESS, feed.name, columns=PROGRESS)
    if progress.exists:
        with writing(lake, Layer.PROGRESS, feed.name):
            progress.replace_windows([], stale)
    tables = discovered_tables.tables_of(lake, feed)
    made = {(row["table"], row["declared"]) for row in earlier if row["window"] in stale}
    for name, of in sorted((name, of) for name, of in made if name is not None and of is not None):
        gold = lake.in_process_table(Layer.GOLD, feed.name, name)
        table = tables.get(of)
        if table and gold.properties.get(DECLARATION) == table_digest(
            feed, with_added(lake, feed, table, name)
        ):
            continue
        if gold.properties.get(DECLARATION):
            with writing(lake, Layer.GOLD, feed.name, of):
                undeclare(lake, feed, name)


def undeclare(lake: Lake, feed: Feed, name: str) -> None:
    """Let a gold table count as made under no declaration, for a caller that holds its lock."""
    gold = lake.in_process_table(Layer.GOLD, feed.name, name)
    if not gold.properties.get(DECLARATION):
        return
    if gold.may_be_written:
        gold.set_properties({DECLARATION: ""})
    else:
        lake.table(Layer.GOLD, feed.name, name).set_properties({DECLARATION: ""})
