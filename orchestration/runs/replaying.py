"""Windows of records that were mended, run again through the same assets as ever.

Put here which windows a replay runs, and what became of the records. Not here: recording what was mended
(``assets/upkeep/mending``), and the run (``execute``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import dagster as dg

from assets.bookkeeping import ledger, window_progress
from assets.bookkeeping.quarantine.opened import Quarantine
from assets.bookkeeping.quarantine.records import QuarantinedRecord
from assets.bookkeeping.quarantine.words import record_line
from assets.lake import Lake
from orchestration.runs import execute, planning
from orchestration.runs.outcome import Outcome
from orchestration.runs.plan import Plan, bounded
from transforms.feed.feed import Feed


def replayed(
    lake: Lake,
    feed: Feed,
    windows: Collection[str],
    instance: dg.DagsterInstance | None = None,
) -> list[Outcome]:
    """Run these windows, and those that wait anyway: after a change of the feed file gold waits for all of them.

    ``instance``: whose history the run is in; without one, that of every ``weir run``.
    """
    unfinished = window_progress.unfinished(lake, feed, ledger.read_objects(lake, feed))
    plan = bounded(feed, sorted({*windows, *unfinished}), [], print_error=False)

    def rest(done: Plan) -> Plan:
        return planning.rest(lake, done)

    return execute.run([plan], lake, rest, instance)


def outcome_lines(
    now: Quarantine, chosen: Sequence[QuarantinedRecord]
) -> Iterator[tuple[str, bool]]:
    """What became of each record, and whether it is still in quarantine."""
    after = {one.id: one for one in now.records}
    for one in chosen:
        record = after.get(one.id)
        if record is None or record.state == "mended":
            yield f"{now.feed.name}: mended: {record_line(one)}", False
        else:
            yield f"{now.feed.name}: still in quarantine: {record_line(record)}", True
