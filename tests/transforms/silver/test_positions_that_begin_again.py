"""Positions that begin again, and snapshots that nothing puts in order, as accounts show them."""

from __future__ import annotations

from typing import Any

import pytest

from transforms.change import BEHIND_ALL_PLACES
from transforms.event import PART
from transforms.silver.log_resets import restarts, unordered_snapshots
from transforms.silver.snapshots import SnapshotKey, Stretches, stretches_in_texts


def account(window: str, first: Any, last: Any, newest: int | None, **more: Any) -> dict[str, Any]:
    return {
        **{"table": "item", "declared": "shop.item", "window": window, "changes": 3},
        **{"first_position": first, "last_position": last, "newest_event_at": newest},
        **{"stream": None, "snapshots": [], "segments": [], "trails": [], "falls": []},
        **more,
    }


HIGH = account("03", [0, 1, 100], [0, 1, 200], 10)


@pytest.mark.parametrize(
    ("later", "is_restart"),
    [
        (account("04", [0, 1, 5], [0, 1, 90], 11), True),
        # A late drop and a second delivery are as old as they were.
        (account("04", [0, 1, 5], [0, 1, 90], 9), False),
        (account("04", [0, 1, 5], [0, 1, 90], 10), False),
        (account("04", [0, 1, 5], [0, 1, 100], 11), False),
        (account("04", [0, 1, 300], [0, 1, 400], 11), False),
        # A single change is an outlier, and an epoch says that positions begin again.
        (account("04", [0, 1, 5], [0, 1, 90], 11, changes=1), False),
        (account("04", [1, 1, 5], [1, 1, 90], 11), False),
        (account("04", [0, 1, 5], [0, 1, 90], 11, stream="t1"), False),
        (account("04", [0, 0], [0, 0], 11), False),
        (account("04", [0, 1, 5], [0, 1, 90], None), False),
        (account("04", None, None, 11), False),
        (account("04", [0, 1, 5, 0], [0, 1, 90, 1], 11), False),
    ],
)
def test_a_window_begins_again_where_its_positions_are_lower_and_its_times_newer(
    later: dict[str, Any], is_restart: bool
) -> None:
    found = restarts([later, HIGH])
    assert [(one.table, one.declared, one.window, one.before) for one in found] == (
        [("item", "shop.item", "04", "03")] if is_restart else []
    )


def test_one_stream_alone_may_begin_again() -> None:
    before, after = (
        account("03", [0, 1, 100], [0, 1, 101], 10, stream="1"),
        account("04", [0, 1, 1], [0, 1, 2], 11, stream="1"),
    )
    assert [one.window for one in restarts([before, after])] == ["04"]
    assert restarts([before, {**after, "stream": "2"}]) == []
    assert restarts([before, account("04", [0, 1], [0, 1], 11)]) == []
    assert restarts([account("03", [0, 1], [0, 1], 10), account("04", [0, 1], [0, 1], 11)]) == []


def account_of_snapshot(
    window: str, last: list[int], files: set[int], *places: tuple[int, ...]
) -> dict[str, Any]:
    """An account with changes of these log files, and rows of the snapshots that were read at these places."""
    texts = stretches_in_texts(
        {SnapshotKey(place, "t", 0): Stretches([(0, 9)]) for place in places}
    )
    segments = [{"epoch": last[0], "segment": file} for file in files]
    first = [0, 1, 1, 5, 0, 0]
    return account(window, first, last, None, snapshots=texts, segments=segments)


FIRST, SECOND, OPENED = (0, 1, 1, 5, 0, -1), (0, 1, 2, 5, 0, -1), (1, 1, 2, 5, 0, -1)
PLACED, UNPLACED = [0, 1, 2, 900, 1, 7], [0, 1, 2, BEHIND_ALL_PLACES + 900, 1, 0]
IN_EPOCH = [1, 1, 2, BEHIND_ALL_PLACES + 900, 1, 0]


@pytest.mark.parametrize(
    ("accounts", "found"),
    [
        # Of one window, and of several.
        ([("03", UNPLACED, {1, 2}, FIRST, SECOND)], ("03", "03")),
        ([("03", UNPLACED, {1, 2}, FIRST), ("05", UNPLACED, {2}, SECOND)], ("05", "03")),
        ([("03", UNPLACED, {2, 3}, FIRST), ("04", [0, 1, 2], set(), SECOND)], ("04", "03")),
        # The snapshot stands in a file of which no change had come.
        ([("03", UNPLACED, {1}, FIRST), ("04", [0, 1, 2], set(), SECOND)], None),
        ([("03", UNPLACED, {1}, FIRST, SECOND), ("04", UNPLACED, {2})], None),
        # One snapshot, delivered twice; and changes that have a place.
        ([("03", UNPLACED, {1}, FIRST), ("04", UNPLACED, {1}, FIRST)], None),
        ([("03", PLACED, {1, 2}, FIRST), ("04", PLACED, {2}, SECOND)], None),
        # The epoch has been opened, and holds a snapshot of its own.
        ([("03", UNPLACED, {2}, FIRST), ("04", IN_EPOCH, {2}, OPENED)], None),
        ([("03", IN_EPOCH, {2}, FIRST, OPENED)], None),
    ],
)
def test_a_second_snapshot_that_has_a_place_is_in_no_order_with_changes_that_have_none(
    accounts: list[Any], found: tuple[str, str] | None
) -> None:
    made = [account_of_snapshot(*one) for one in accounts]
    told = [(one.window, one.before) for one in unordered_snapshots(reversed(made))]
    assert told == ([] if found is None else [found])


SNAPSHOT = [0, 0]
OF_A_TABLET = [0, 1]
TEXTS = stretches_in_texts({SnapshotKey((0, 1, 1, 11), "t1", 0, PART): Stretches([(0, 0)])})


@pytest.mark.parametrize(
    ("windows", "found"),
    [
        ([SNAPSHOT, [0, 1, 5], SNAPSHOT], ("2", "1")),
        ([[0, 1, 5], SNAPSHOT], ("1", "0")),
        # A first snapshot takes its time, and changes may stand beside it.
        ([SNAPSHOT, SNAPSHOT, [0, 1, 5]], None),
        ([SNAPSHOT], None),
        ([[0, 1, 5], [0, 1, 6]], None),
        # The epoch has been opened.
        ([SNAPSHOT, [0, 1, 5], [1, 0]], None),
        ([[0, 1, 5], None, SNAPSHOT], ("2", "0")),
        # A tablet's snapshot has its place in the log, but nothing tells whether it is complete.
        ([OF_A_TABLET, OF_A_TABLET, [0, 1, 5]], None),
        ([OF_A_TABLET, [0, 1, 5], OF_A_TABLET], ("2", "1")),
        ([[0, 1, 5], OF_A_TABLET], ("1", "0")),
    ],
)
def test_a_snapshot_behind_changes_is_in_no_order(
    windows: list[list[int] | None], found: tuple[str, str] | None
) -> None:
    accounts = [
        account(str(at), first, first, None, snapshots=TEXTS if first is OF_A_TABLET else [])
        for at, first in enumerate(windows)
    ]
    told = [(one.window, one.before) for one in unordered_snapshots(reversed(accounts))]
    assert told == ([] if found is None else [found])
