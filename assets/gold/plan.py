"""What is known of one gold table before its fold begins: read once, by one function, and handed on as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from assets.bookkeeping import accounting, snapshot_deletes, window_progress
from assets.bookkeeping.compacted import bases
from assets.bookkeeping.transactions import complete_transactions
from assets.columns import spelling
from assets.lake import Lake
from assets.layers import Layer
from transforms.change_kinds import WHOLE_TABLE, ChangeKinds, streams_of
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.gold.change import Position
from transforms.horizons import Horizon

SEVERAL: Final = 2
"""From so many streams on, a range delete of one has to be placed among the changes of another."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One gold table and the windows of a run.

    Args:
        feed: The feed, with its recorded decisions.
        table: The declared table, with the columns that gold has beyond its declaration.
        name: The gold table's own name.
        windows: The windows that the run brings.
        kinds: Which kinds of change the table has, in all its windows.
        most_new: How many of its changes are new at most.
        horizon: Up to where its history is in its base rows; None where nothing is compacted.
        released: The complete transactions that no window holds whole: by id the position of the commit, and whether
            the run has released it.
        waits: Whether changes wait that came before the stream described the table.
        complete_snapshots: The range deletes that complete snapshots stand for, as rows of silver.
        crosses: Whether range deletes may reach keys of other streams, and the feed has several.
        brought_before: The windows that gold had before the run, where the format's deletes cross streams.
    """

    feed: Feed
    table: Table
    name: str
    windows: frozenset[str]
    kinds: ChangeKinds = field(default_factory=ChangeKinds)
    most_new: int = 0
    horizon: Horizon | None = None
    released: Mapping[str, tuple[Position, bool]] | None = None
    waits: bool = False
    complete_snapshots: Sequence[Mapping[str, Any]] = ()
    crosses: bool = False
    brought_before: frozenset[str] = frozenset()

    @property
    def releases(self) -> bool:
        """Whether the run releases changes of windows that it does not bring."""
        return any(is_new for _, is_new in (self.released or {}).values())


def plan_of(lake: Lake, feed: Feed, table: Table, name: str, windows: Sequence[str]) -> TablePlan:
    """All that control tables say of one gold table (``name``) and these windows; nothing is asked of them later."""
    accounts = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
    columns = ["window", "change_kinds", "changes", "derived", "declared", "source_table"]
    rows = accounts.rows(columns, {"table": [name]})
    kinds = ChangeKinds.of({word for row in rows for word in row["change_kinds"] or ()})
    # Changes that a commit releases may have come in any window.
    counted = rows if kinds.transactions else [one for one in rows if one["window"] in windows]
    most_new = sum(one["changes"] + one["derived"] for one in counted)
    released = complete_transactions.complete(lake, feed, windows) if kinds.transactions else None
    waits = _waits(feed, table, rows)
    if waits:
        # Whether a waiting change moves a row to another key could not be known when it was counted.
        kinds = replace(kinds, moves=True)
    snapshots = snapshot_deletes.scoped_rows(feed, table.name, name)
    if snapshots:
        kinds = replace(kinds, scopes=tuple(sorted({*kinds.scopes, WHOLE_TABLE})))
    if table.spelled:
        shapes = (spelling.shape_in_gold(one, table) for one in kinds.scopes)
        kinds = replace(kinds, scopes=tuple(sorted(set(shapes))))
    crosses = may_cross(feed, kinds) and has_several_streams(lake, feed)
    before = window_progress.brought_before(lake, feed, windows) if crosses else frozenset()
    return TablePlan(
        feed=feed,
        table=table,
        name=name,
        windows=frozenset(windows),
        kinds=kinds,
        most_new=most_new,
        horizon=bases.horizons(lake, feed).get(name),
        released=released,
        waits=waits,
        complete_snapshots=tuple(snapshots),
        crosses=crosses,
        brought_before=before,
    )


def _waits(feed: Feed, table: Table, accounts: Sequence[Mapping[str, Any]]) -> bool:
    """Whether some window has waiting changes of a table that only the stream describes."""
    if table.name in feed.tables or not FORMATS[feed.format].describes_tables:
        return False
    return any(
        row["declared"] is None
        and row["source_table"] == table.name
        and row["changes"] + row["derived"] > 0
        for row in accounts
    )


def may_cross(feed: Feed, kinds: ChangeKinds) -> bool:
    """Whether range deletes of a table may reach keys of other streams, if its feed has several streams."""
    by_format = FORMATS[feed.format].crosses_streams
    return by_format and any(shape.of_stream for shape in kinds.scopes)


def has_several_streams(lake: Lake, feed: Feed) -> bool:
    """Whether a feed's changes came from several streams."""
    rows = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
    known: set[str] = set()
    for row in rows.rows(["change_kinds"]):
        known |= streams_of(row["change_kinds"] or ()) or set()
        if len(known) >= SEVERAL:
            return True
    return False
