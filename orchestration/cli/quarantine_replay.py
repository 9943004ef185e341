"""``weir quarantine replay``: records through their windows once more, repaired or as they are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assets.control.decisions import signed
from assets.maintenance import repair
from assets.maintenance.repair import Repaired
from assets.picked_ids import PickedIds
from assets.quarantine import files
from assets.quarantine.records import Quarantine, quarantine_of
from assets.quarantine.words import record_line
from assets.wording import counted
from orchestration.cli.options import Place
from orchestration.cli.quarantine import opened
from orchestration.console import put, put_lines, say, waiting
from orchestration.definitions import job_to_gold
from orchestration.runs import execution, summary
from orchestration.runs.history import open_history
from orchestration.sheets import Sheet
from orchestration.spark.java import check_java
from transforms.errors import DecisionRefused


@dataclass(frozen=True, slots=True)
class Ways:
    """Who replays; whether the run is left to ``weir run``; whether what would be quarantined again is recorded."""

    by: str | None = None
    later: bool = False
    force: bool = False


def replay(place: Place, name: str, picked: PickedIds, ways: Ways) -> int:
    """Record what was repaired, run the windows, and say what became of each record.

    ``picked.ids``: ids, files and folders that ``export`` has written. Returns the exit code: 1 where a step or a
    blocking check failed, or a record is still in quarantine.
    """
    check_java()
    quarantine = opened(place, name)
    lake, feed = quarantine.lake, quarantine.feed
    # What is no file or folder has to be an id.
    paths = [Path(one) for one in picked.ids if Path(one).exists()]
    ids = [one for one in picked.ids if not Path(one).exists()]
    repaired = repaired_files(quarantine, paths)
    chosen = quarantine.records.with_ids({one.record.id for one in repaired})
    if ids or picked.everything or not paths:
        as_they_are = quarantine.picked(PickedIds(ids, picked.everything, picked.reason))
        chosen = chosen.plus(as_they_are)
    if repaired:
        signature = signed(feed, picked.reason, ways.by)
        changed = repair.repair_records(lake, feed, repaired, signature, unseen=ways.force)
        for one in changed:
            put(f"{feed.name}: recorded: another payload for {record_line(one)}")
        if same := len(repaired) - len(changed):
            put(f"{feed.name}: {counted(same, 'file')} with what is read already")
    if not chosen:
        put(f"{feed.name}: nothing to replay: no file was changed, and no record is open")
        return 0
    if ways.later:
        put(
            f"{feed.name}: {counted(len(chosen.windows), 'window')} due: `weir run --feed {feed.name}`"
        )
        return 0
    say(f"the tables are in {lake.warehouse}")
    with waiting("starting"), open_history(os.environ, place.feeds) as instance:
        outcomes = execution.replayed(lake, feed, chosen.windows, instance, job_to_gold)
    summary.show_summary(outcomes, Sheet())
    became, left = execution.outcome_lines(quarantine_of(lake, feed), chosen)
    put_lines([*became, *left])
    return 1 if left or any(one.failed for one in outcomes) else 0


def repaired_files(quarantine: Quarantine, paths: Sequence[Path]) -> list[Repaired]:
    """The records of these files and folders, with what is in the files now."""
    read = [(path, one) for path in paths for one in files.read_back(quarantine.feed, path)]
    known = {one.id: one for one in quarantine.records.with_ids({one.id for _, one in read})}
    for path, one in read:
        if one.id not in known:
            raise DecisionRefused(
                quarantine.feed.name,
                f"{path}: its record {one.id[:12]} is none that is or was in quarantine of this warehouse",
            )
    return [Repaired(known[one.id], one.payload) for _, one in read]
