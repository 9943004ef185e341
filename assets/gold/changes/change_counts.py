"""What kinds of change a gold table has, and how many are new: what the accounts tell before silver is read.

Put here what the accounts say of a table's changes. Not here: the changes (``table_changes``, ``silver_files``), and
the accounts themselves (``assets/bookkeeping/accounting.py``).
"""

from __future__ import annotations

from collections.abc import Sequence

from assets.bookkeeping import accounting
from assets.lake import Lake
from assets.layers import Layer
from transforms.change_kinds import ChangeKinds
from transforms.feed.feed import Feed


def kinds_and_counts(
    lake: Lake, feed: Feed, name: str, windows: Sequence[str]
) -> tuple[ChangeKinds, int]:
    """What kinds of change one gold table has, by the accounts of all windows, and how many of them are new at most."""
    accounts = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
    columns = ["window", "change_kinds", "changes", "derived"]
    rows = accounts.rows(columns, {"table": [name]})
    change_kinds = ChangeKinds.of({word for row in rows for word in row["change_kinds"] or ()})
    # Changes that a commit releases may have come in any window.
    counted = (
        rows if change_kinds.transactions else [one for one in rows if one["window"] in windows]
    )
    return change_kinds, sum(one["changes"] + one["derived"] for one in counted)
