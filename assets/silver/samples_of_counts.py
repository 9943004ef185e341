"""Where a window's accounts say that something was counted, and what quarantine says of it: lines for a reader.

Put here samples of what a rule of silver counts. Not here: the counts (``violations``), and samples that only one rule
has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from assets.bookkeeping.accounting import StoredAccount
from assets.bookkeeping.quarantine import samples
from assets.lake import Lake
from expectations import silver as rules
from transforms.display.markdown import Markdown, bullets
from transforms.feed.feed import Feed
from transforms.formats import FORMATS

SHOWN: Final = 10
"""So many lines are shown of a rule."""

_OF_COUNT: Final = {
    "null_keys": rules.NO_NULL_KEY.name,
    "duplicates": rules.NO_EVENT_TWICE.name,
    "too_late": rules.NOTHING_TOO_LATE.name,
    "held": rules.NOTHING_HELD.name,
}
"""The rules that are broken as often as the accounts count something."""


def samples_of_counts(feed: Feed, accounts: Sequence[StoredAccount]) -> dict[str, Markdown]:
    """In which window and table each thing was counted, as Markdown, by the rule's name."""
    found = {rule: _lines(accounts, count) for count, rule in _OF_COUNT.items()}
    for warning in FORMATS[feed.format].warnings:
        found[warning.rule] = _lines(
            [{**row, **(row["warnings"] or {})} for row in accounts], warning.word
        )
    return found


def _lines(accounts: Iterable[Mapping[str, Any]], count: str) -> Markdown:
    numbers = [(row.get(count, 0), row["window"], row["table"] or "(no table)") for row in accounts]
    most = sorted((one for one in numbers if one[0]), key=lambda one: (-one[0], *one[1:]))
    return bullets(f"{table}: {number:,} in {window}" for number, window, table in most[:SHOWN])


def samples_of_quarantine(
    lake: Lake, feed: Feed, windows: Sequence[str], accounts: Sequence[StoredAccount]
) -> dict[str, Markdown]:
    """The open records of what these windows have in quarantine, by reason; read where there is any."""
    if not any(row["quarantined"] for row in accounts):
        return {}
    found = samples.of_windows(lake, feed, windows)
    return {rules.NOTHING_QUARANTINED.name: found} if found else {}
