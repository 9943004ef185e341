"""Changes that seem to have fallen: whether they came before, in another window, which is no reset."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from assets.bookkeeping.accounting import StoredAccount
from assets.silver.plan import SilverPlan
from transforms.silver import trails
from transforms.silver.trails import Fallen


def with_new_falls(plan: SilverPlan, accounts: Sequence[StoredAccount]) -> Sequence[StoredAccount]:
    """The accounts with those falls whose changes are in no other window; silver has all rows of the plan's windows.

    A source that sends changes again has them stand below what it sent before. Silver is read for it only where changes
    seem to have fallen.
    """
    of_tables: dict[str, list[StoredAccount]] = defaultdict(list)
    for row in (*plan.others, *accounts):
        if row["changes"]:
            of_tables[row["table"]].append(row)
    return [{**row, "falls": _new_falls(plan, row, of_tables[row["table"]])} for row in accounts]


def _new_falls(
    plan: SilverPlan, row: StoredAccount, of_table: Sequence[StoredAccount]
) -> list[str]:
    if not row["trails"] and not row["falls"]:
        return []
    others = [one for one in of_table if one["window"] != row["window"]]
    before = [one for one in others if one["window"] < row["window"]]
    before.sort(key=lambda one: str(one["window"]))
    found = [trails.read_fallen(text) for text in row["falls"]]
    found += trails.below(row, before)
    left = ((key, fallen.without(_known(plan, fallen, others))) for key, fallen in found)
    return sorted(trails.text_of_fallen(key, one) for key, one in left if one is not None)


def _known(plan: SilverPlan, fallen: Fallen, others: Sequence[StoredAccount]) -> frozenset[str]:
    """Which of these events are in other windows, too."""
    positions = [position for _, _, position in fallen.events]
    windows = [
        str(one["window"])
        for one in others
        if _reaches(one["first_position"], one["last_position"], min(positions), max(positions))
    ]
    if not windows:
        return frozenset()
    where = {"window": windows, "event_id": [one for one, _, _ in fallen.events]}
    rows = plan.silver.now().read(["event_id"], where)
    return frozenset(rows["event_id"].to_pylist())


def _reaches(
    first: Sequence[int] | None,
    last: Sequence[int] | None,
    lowest: tuple[int, ...],
    highest: tuple[int, ...],
) -> bool:
    """Whether a window with these first and last positions may have an event between these, of whatever epoch."""
    if not first or not last:
        return False
    ends = [tuple(one[1:]) for one in (first, last)]
    return ends[0] <= highest and lowest[: len(ends[1])] <= ends[1]
