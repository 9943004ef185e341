"""How far a stream had come at some moment, and whether what comes late changes that."""

from __future__ import annotations

import pytest

from transforms.gold.range_deletes import Clock, Moment, clock_of


def at(number: int, time: int | None, *, is_new: bool = False) -> Moment:
    return Moment((0, 1, number), time, is_new)


def before(of_stream: Clock, time: int) -> list[int]:
    return [number for number in range(1, 7) if of_stream.is_before((0, 1, number, 9), time)]


def test_a_place_is_before_a_moment_while_nothing_up_to_it_is_newer() -> None:
    moments = [at(1, None), at(2, 10), at(3, 30), at(4, 20), at(5, 40)]
    of_stream = clock_of(moments, [5, 10, 25, 30, 99])
    assert before(of_stream, 5) == []
    assert before(of_stream, 10) == [2]
    assert before(of_stream, 25) == [2]
    assert before(of_stream, 30) == [2, 3, 4]
    # While nothing is newer, all positions that follow are before it, too; those ahead of the first known time are not.
    assert before(of_stream, 99) == [2, 3, 4, 5, 6]


def test_a_stream_without_times_is_before_nothing() -> None:
    assert before(clock_of([at(1, None)], [5]), 5) == []


@pytest.mark.parametrize(
    ("moments", "has_moved"),
    [
        ([at(1, 10), at(2, 20), at(3, 99, is_new=True)], False),
        ([at(1, 10), at(2, 40, is_new=True), at(3, 20)], True),
        ([at(1, 10), at(2, 24, is_new=True), at(3, 20)], False),
        ([at(1, 10), at(2, 20, is_new=True), at(2, 20), at(3, 20)], False),
        ([at(1, 7, is_new=True), at(2, None)], True),
        ([at(1, 70, is_new=True), at(2, None)], False),
    ],
    ids=[
        "later",
        "late and newer",
        "late, but not newer than a moment",
        "repeat",
        "begins",
        "after",
    ],
)
def test_a_clock_has_moved_where_the_answer_for_an_earlier_place_is_another(
    moments: list[Moment], has_moved: bool
) -> None:
    assert clock_of(moments, [25, 50]).has_moved is has_moved
