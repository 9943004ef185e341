"""Which windows are old enough to be compacted, and finished."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assets.bookkeeping import accounting, ledger, window_progress
from assets.lake import Lake
from assets.layers import Layer
from assets.wording import counted
from transforms.feed.feed import Feed
from transforms.feed.windows import parse_window


@dataclass(frozen=True, slots=True)
class Eligible:
    """The windows whose changes may be compacted: those up to ``last``, None where there are none.

    ``held_back_by``: a phrase for each thing that keeps newer windows out.
    """

    last: str | None
    held_back_by: tuple[str, ...]


def eligible_windows(lake: Lake, feed: Feed, quarantined: Mapping[str, int]) -> Eligible:
    """The windows that are older than the retention, before the first one that is not read or not decided.

    ``quarantined``: how many events of each window are in quarantine and may yet be fixed.
    """
    assert feed.retention.kept is not None
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name, columns=accounting.COLUMNS).read(
        ["window"]
    )
    windows = sorted(accounts["window"].unique().to_pylist())
    if not windows:
        return Eligible(None, ("nothing is in silver yet",))
    newest = parse_window(windows[-1], feed.window)
    old = [one for one in windows if newest - parse_window(one, feed.window) >= feed.retention.kept]
    reasons = (
        [f"retention: all windows since {windows[len(old)]} are kept"]
        if len(old) < len(windows)
        else []
    )
    undecided = {
        window: f"{counted(events, 'event')} in quarantine"
        for window, events in quarantined.items()
    }
    for window in window_progress.unfinished(lake, feed, ledger.read_objects(lake, feed)):
        undecided[window] = "not in gold yet"
    first = min(undecided, default=None)
    if first is not None and old and first <= old[-1]:
        old = [one for one in old if one < first]
        advice = (
            f"; repair the records (`weir quarantine list {feed.name}`), dismiss them"
            f" (`weir quarantine dismiss {feed.name}`), or list the window under `compaction: {{dismissed: [...]}}`"
        )
        reasons.append(
            f"window {first}: {undecided[first]}{advice if first in quarantined else ''}"
        )
    return Eligible(old[-1] if old else None, tuple(reasons))
