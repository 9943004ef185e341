"""Windows of records that were mended, run again through the same assets as ever.

Put here which windows a replay runs. Not here: recording what was mended (``assets/upkeep/mending``), and the run
(``execute``).
"""

from __future__ import annotations

from collections.abc import Collection

from assets.bookkeeping import ledger, window_progress
from assets.lake import Lake
from orchestration.runs import execute, planning
from orchestration.runs.outcome import Outcome
from orchestration.runs.plan import Plan, bounded
from transforms.feed.feed import Feed


def replayed(lake: Lake, feed: Feed, windows: Collection[str]) -> list[Outcome]:
    """Run these windows, and those that wait anyway: after a change of the feed file gold waits for all of them."""
    unfinished = window_progress.unfinished(lake, feed, ledger.read_objects(lake, feed))
    plan = bounded(feed, sorted({*windows, *unfinished}), [], print_error=False)

    def rest(done: Plan) -> Plan:
        return planning.rest(lake, done)

    return execute.run([plan], lake, rest)
