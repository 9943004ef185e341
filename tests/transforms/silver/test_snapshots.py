"""When a snapshot is known to be complete: marked at both ends, and no offset between them is missing."""

from __future__ import annotations

import json

import pytest

from transforms.silver.snapshots import (
    Snapshot,
    SnapshotKey,
    Stretches,
    snapshots_of,
    stretches_in_texts,
)

AT = (0, 1, 70, 0, -1)


def account(
    *offsets: tuple[int, int],
    begins: tuple[int, ...] = (),
    ends: tuple[int, ...] = (),
    partition: int = 0,
    at: tuple[int, ...] | None = AT,
) -> list[str]:
    marked = {offset: at or (0, 1, offset, -1) for offset in begins}
    return stretches_in_texts(
        {SnapshotKey(at, "shop.item", partition): Stretches([*offsets], marked, {*ends})}
    )


@pytest.mark.parametrize(
    ("accounts", "windows"),
    [
        ([account((5, 9), begins=(5,), ends=(9,))], {"0"}),
        ([account((5, 9), begins=(5,)), account((10, 12), ends=(12,))], {"0", "1"}),
        ([account((10, 12), ends=(12,)), account((5, 9), begins=(5,))], {"0", "1"}),
        # The same rows in two windows, and rows that were delivered again.
        ([account((5, 9), begins=(5,), ends=(9,)), account((6, 7))], {"0", "1"}),
        # The mark alone is a table of one row.
        ([account((5, 5), begins=(5,), ends=(5,))], {"0"}),
        ([account((5, 9), begins=(5,))], None),
        ([account((5, 9), ends=(9,))], None),
        ([account((5, 6), (8, 9), begins=(5,), ends=(9,))], None),
        ([account((5, 6), begins=(5,)), account((8, 9), ends=(9,))], None),
        # A row before the first and one behind the last are of another table.
        ([account((5, 9), begins=(6,), ends=(8,))], {"0"}),
        ([account((5, 9), begins=(9,), ends=(5,))], None),
    ],
)
def test_a_snapshot_is_complete_where_no_row_between_its_marks_is_missing(
    accounts: list[list[str]], windows: set[str] | None
) -> None:
    named = [(str(number), some) for number, some in enumerate(accounts)]
    found = snapshots_of(named, may_be_parted=False)
    every = {window for window, _ in named}
    assert found == [Snapshot(AT, frozenset(windows or every), is_complete=windows is not None)]


def test_a_snapshot_in_several_partitions_is_complete_only_where_the_topic_itself_is_read() -> None:
    parts = [
        ("0", account((5, 9), begins=(5,))),
        ("1", account((0, 3), ends=(3,), partition=1)),
        ("1", account((7, 7), partition=2)),
    ]
    windows = frozenset({"0", "1"})
    assert snapshots_of(parts, may_be_parted=False) == [Snapshot(AT, windows, is_complete=False)]
    assert snapshots_of(parts, may_be_parted=True) == [Snapshot(AT, windows)]
    gap = [*parts, ("1", account((9, 9), partition=2))]
    assert snapshots_of(gap, may_be_parted=True) == [Snapshot(AT, windows, is_complete=False)]


def test_snapshots_without_a_place_in_the_log_are_told_apart_by_their_first_row() -> None:
    one = ("0", account((5, 9), begins=(5,), ends=(9,), at=None))
    other = ("1", account((20, 24), begins=(20,), ends=(24,), at=None))
    assert snapshots_of([one, other], may_be_parted=False) == [
        Snapshot((0, 1, 5, -1), frozenset({"0", "1"})),
        Snapshot((0, 1, 20, -1), frozenset({"0", "1"})),
    ]


def test_a_snapshot_full_of_gaps_is_not_put_together() -> None:
    (text,) = account(*[(2 * at, 2 * at) for at in range(1_001)], begins=(0,), ends=(2_000,))
    assert json.loads(text)[1] == []
