"""What compaction must not pass: a snapshot whose last rows may be still to come."""

from __future__ import annotations

from typing import Any

import pytest

from assets.gold.snapshot_deletes import first_unfinished
from transforms.event import PART
from transforms.feed.feed import Feed
from transforms.silver.snapshots import SnapshotKey, Stretches, stretches_in_texts

FEED = Feed("shop", "yugabyte", "landing")
POINT = (0, 1, 60, 42, 9)


def account(window: str, last: tuple[int, ...], *points: tuple[int, ...]) -> dict[str, Any]:
    """An account of a tablet whose newest change stands there, with rows of snapshots at these points."""
    parts = {SnapshotKey(one, "tablet", 0, PART): Stretches([(0, 0)]) for one in points}
    texts = stretches_in_texts(parts)
    found = {"window": window, "changes": 3, "snapshots": texts}
    return {**found, "first_position": [0, 1, 1], "last_position": [*last]}


@pytest.mark.parametrize(
    ("accounts", "unfinished"),
    [
        ([account("01", POINT, POINT)], POINT),
        # What comes behind it in a later window shows that it is whole, a late change does not.
        ([account("01", POINT, POINT), account("02", (0, 1, 60, 43, 0))], None),
        ([account("01", POINT, POINT), account("02", (0, 1, 60, 20, 0))], POINT),
        ([account("01", POINT, POINT), account("02", (0, 1, 60, 42, 1))], POINT),
        ([account("01", (0, 1, 60, 43, 0)), account("02", POINT, POINT)], POINT),
        # Positions of several streams do not compare.
        ([account("01", (0, 1), POINT), account("02", (0, 1))], None),
    ],
)
def test_a_part_of_a_table_is_unfinished_until_changes_come_behind_it(
    accounts: list[dict[str, Any]], unfinished: tuple[int, ...] | None
) -> None:
    assert first_unfinished(FEED, accounts) == unfinished
