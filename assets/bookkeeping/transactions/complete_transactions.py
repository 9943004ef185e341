"""Transactions over several windows that are complete: which of them a run releases to gold."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pyarrow as pa

from assets.bookkeeping import window_progress
from assets.bookkeeping.transactions import open_events, transaction_states
from assets.bookkeeping.transactions.landed_objects import Landed
from assets.lake import Lake
from transforms.feed.feed import Feed


def complete(
    lake: Lake,
    feed: Feed,
    windows: Sequence[str],
    accounts: pa.Table,
    brought_before: Collection[str],
) -> dict[str, tuple[tuple[int, ...], bool]] | None:
    """The complete ones of the transactions that no window holds whole: by id the commit, and whether it is new.

    New: it was not complete by the windows that are in gold already, ``windows`` left out. Gold may not have what
    silver has of any other window, and only a run of ``windows`` brings it there. None where every transaction is whole
    in its window.

    Args:
        lake: the warehouse.
        feed: the feed with its recorded decisions.
        windows: those that the run brings.
        accounts: all accounts of the feed.
        brought_before: the other windows that gold has (``window_progress.brought_before``).
    """
    events = open_events.read(lake, feed)
    if events is not None and not events.num_rows:
        return None
    landed = Landed.read(lake, feed, but=windows)
    declared = window_progress.declarations(feed, landed.doubtful)
    rows = accounts.select(window_progress.READ_ACCOUNTS.names).to_pylist()
    missing = landed.unread(declared, rows)
    in_silver = {*accounts["window"].to_pylist(), *windows}
    not_in_gold = in_silver.difference(brought_before)
    began_after = not_in_gold.intersection(landed.noted)
    now = transaction_states.states(lake, feed, events, missing)
    earlier = transaction_states.states(
        lake, feed, events, sorted({*missing, *began_after}), without=sorted(not_in_gold)
    )
    known = {one.id for one in earlier if one.commit is not None}
    return {one.id: (one.commit, one.id not in known) for one in now if one.commit is not None}
