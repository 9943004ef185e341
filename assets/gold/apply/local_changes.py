"""What a run brings for a small gold table: its changes in silver, read in this process and sorted for the fold.

Put here how much of silver an apply in this process reads. Not here: how it is read (``changes``), and what becomes of
the changes (``local_apply``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assets.gold.changes import new_changes, streams
from assets.gold.changes.new_changes import Run
from assets.gold.changes.silver_files import SilverFiles
from assets.gold.gold_table import GoldTable
from transforms.change_kinds import ChangeKinds


@dataclass(frozen=True, slots=True)
class RunChanges:
    """What a run brings; ``changes``: how many events; ``full_rebuild``: the table is made from all of silver."""

    silver: SilverFiles
    run: Run
    changes: int
    full_rebuild: bool


def gathered(
    gold: GoldTable, windows: Sequence[str], change_kinds: ChangeKinds, *, full_rebuild: bool
) -> RunChanges:
    """Read as much of silver as the kinds of changes ask for.

    Raises:
        TooLarge: It does not fit into this process.
    """
    silver, change_kinds = new_changes.silver_of(gold, windows, change_kinds)
    epochs = new_changes.epochs(gold.feed, silver)
    releases = any(is_new for _, is_new in silver.released.values())
    needs_all = bool(full_rebuild or change_kinds.scopes or epochs or releases)
    changes = silver.everything if needs_all else silver.of_windows
    run = new_changes.run(silver, changes, epochs, change_kinds)
    if streams.crosses(gold.feed, change_kinds):
        run, has_moved = new_changes.crossing(gold, run, silver)
        full_rebuild = full_rebuild or has_moved
    own = [one for one in changes if one.is_new and one.key is not None]
    return RunChanges(silver, run, sum(not one.change.is_derived for one in own), full_rebuild)
