"""Windows of records that were repaired, run again through the same assets as ever.

Put here which windows a replay runs, and what became of the records. Not here: recording what was repaired
(``assets/upkeep/repairing``), and the run (``execute``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import dagster as dg

from assets.bookkeeping import ledger, window_progress
from assets.bookkeeping.quarantine.opened import Quarantine
from assets.bookkeeping.quarantine.records import Records
from assets.bookkeeping.quarantine.words import record_line
from assets.lake import Lake
from orchestration.runs import execute, planning
from orchestration.runs.outcome import Outcome
from orchestration.runs.plan import Plan, bounded
from transforms.feed.feed import Feed

SHOWN = 50
"""So many records that are repaired, and that are not, are named at most."""


def replayed(
    lake: Lake,
    feed: Feed,
    windows: Collection[str],
    instance: dg.DagsterInstance,
) -> list[Outcome]:
    """Run these windows, and those that wait anyway: after a change of the feed file gold waits for all of them.

    ``instance``: whose history the run is in.
    """
    unfinished = window_progress.unfinished(lake, feed, ledger.read_objects(lake, feed))
    plan = bounded(feed, sorted({*windows, *unfinished}), [], print_error=False)

    def rest(done: Plan) -> Plan:
        return planning.rest(lake, done)

    return execute.run([plan], lake, instance, rest)


def outcome_lines(now: Quarantine, chosen: Records) -> tuple[list[str], list[str]]:
    """What became of records, in lines: those that are repaired, and those that are still in quarantine."""
    there = now.records.among(chosen)
    left = there.without(there.where(state="repaired"))
    name = now.feed.name
    return (
        [*_lines(f"{name}: repaired", chosen.without(left))],
        [*_lines(f"{name}: still in quarantine", left)],
    )


def _lines(what: str, records: Records) -> Iterator[str]:
    for one in records[:SHOWN]:
        yield f"{what}: {record_line(one)}"
    if len(records) > SHOWN:
        yield f"{what}: {len(records) - SHOWN:,} more"
