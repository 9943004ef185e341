"""Positions that begin again, and snapshots that nothing puts in order, as accounts show them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.change import BEHIND_ALL_POINTS
from transforms.event import PART, WITHOUT_POINT
from transforms.silver.log_resets import restarts, unordered_snapshots
from transforms.silver.snapshots import SnapshotKey, Stretches, stretches_in_texts


def account(window: str, first: Any, last: Any, newest: int | None, **more: Any) -> dict[str, Any]:
    return {
        **{"table": "item", "declared": "shop.item", "window": window, "changes": 3},
        **{"first_position": first, "last_position": last, "newest_event_at": newest},
        **{"stream": None, "snapshots": [], "trails": [], "falls": []},
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


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, "1"]), st.integers(0, 1), st.integers(0, 5), st.integers(0, 5)
        ),
        max_size=8,
    )
)
def test_of_many_windows_the_first_that_is_below_any_before_it_is_told(
    drawn: list[tuple[str | None, int, int, int]],
) -> None:
    windows = [
        account(f"{at:02}", [epoch, 1, low], [epoch, 1, low + 1], newest, stream=stream)
        for at, (stream, epoch, low, newest) in enumerate(drawn)
    ]
    below = [
        (windows[later]["window"], windows[at]["window"])
        for later, (stream, epoch, low, newest) in enumerate(drawn)
        for at, before in enumerate(drawn[:later])
        if before[:2] == (stream, epoch) and low + 1 < before[2] and newest > before[3]
    ]
    assert [(one.window, one.before) for one in restarts(windows)] == below[:1]


def account_of(
    window: str, snapshots: dict[tuple[int, ...], int], changes: dict[tuple[int, ...], int]
) -> dict[str, Any]:
    """An account with snapshots by their points, and changes without one by their log files; each at its offset."""
    found = {
        SnapshotKey(point, "t", 0): Stretches([(offset, offset)])
        for point, offset in snapshots.items()
    }
    for file, offset in changes.items():
        first = (*file, BEHIND_ALL_POINTS + offset, 1, -1)
        found[SnapshotKey(file, "t", 0, WITHOUT_POINT)] = Stretches(begins={0: first})
    texts = stretches_in_texts(found)
    return account(window, [0, 1, 1, 5, 0, 0], [0, 1, 2], None, snapshots=texts)


FIRST, SECOND, OPENED = (0, 1, 1, 5, 0, -1), (0, 1, 2, 5, 0, -1), (1, 1, 2, 5, 0, -1)
ONE, TWO, TWO_OF_EPOCH = (0, 1, 1), (0, 1, 2), (1, 1, 2)


@pytest.mark.parametrize(
    ("accounts", "found"),
    [
        # Of one window, and of several.
        ([("03", {FIRST: 0, SECOND: 9}, {ONE: 3, TWO: 5})], ("03", "03")),
        ([("03", {FIRST: 0}, {TWO: 5}), ("05", {SECOND: 9}, {TWO: 12})], ("05", "03")),
        # What stands in its file came behind it.
        ([("03", {FIRST: 0, SECOND: 9}, {ONE: 3, TWO: 15})], None),
        ([("03", {FIRST: 0}, {ONE: 3}), ("04", {SECOND: 9}, {}), ("05", {}, {TWO: 11})], None),
        # One snapshot, delivered twice; and changes that have a point.
        ([("03", {FIRST: 0}, {ONE: 3}), ("04", {FIRST: 8}, {ONE: 12})], None),
        ([("03", {FIRST: 0}, {}), ("04", {SECOND: 9}, {})], None),
        # The epoch has been opened, and holds a snapshot of its own.
        ([("03", {FIRST: 0}, {TWO: 3}), ("04", {OPENED: 9}, {TWO_OF_EPOCH: 12})], None),
        ([("03", {FIRST: 0, OPENED: 9}, {TWO: 3})], None),
    ],
)
def test_a_second_snapshot_that_has_a_place_is_in_no_order_with_changes_that_have_none(
    accounts: list[Any], found: tuple[str, str] | None
) -> None:
    made = [account_of(*one) for one in accounts]
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
        # A tablet's snapshot has its point in the log, but nothing tells whether it is complete.
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
