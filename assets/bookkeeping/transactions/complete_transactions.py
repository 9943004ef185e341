"""Transactions over several windows that are complete: which of them a run releases to gold.

Put here what a run asks of them. Not here: the stored events of such transactions (``open_events``), how far
each of them has come (``transaction_states``), what a person sees of open ones (``open_transactions``), and when one is
complete (``transforms/silver/open_transactions.py``).
"""

from __future__ import annotations

from collections.abc import Sequence

from assets.bookkeeping import accounting, window_progress
from assets.bookkeeping.transactions import open_events, transaction_states
from assets.bookkeeping.transactions.landed_objects import _landed, unread
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed


def complete(
    lake: Lake, feed: Feed, windows: Sequence[str]
) -> dict[str, tuple[tuple[int, ...], bool]] | None:
    """The complete ones of the transactions that no window holds whole: by id the commit, and whether it is new.

    New: it was not complete by the windows that are in gold already, ``windows`` left out. Gold may not have what
    silver has of any other window, and only a run of ``windows`` brings it there. None where every transaction is whole
    in its window.
    """
    if not open_events.table_of(lake, feed).count():
        return None
    missing = unread(lake, feed, windows)
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name, columns=accounting.COLUMNS).read(
        ["window"]
    )
    in_silver = {*accounts["window"].to_pylist(), *windows}
    not_in_gold = in_silver - window_progress.brought_before(lake, feed, windows)
    landed = not_in_gold.intersection(_landed(lake, feed))
    now = transaction_states.states(lake, feed, missing)
    earlier = transaction_states.states(
        lake, feed, sorted({*missing, *landed}), without=sorted(not_in_gold)
    )
    known = {one.id for one in earlier if one.commit is not None}
    return {one.id: (one.commit, one.id not in known) for one in now if one.commit is not None}
