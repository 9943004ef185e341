"""Positions by columns are what they are as tuples: in their order, behind one another, by an offset or not."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from transforms.change import (
    BEFORE_ALL_FILES,
    BEHIND_ALL_POINTS,
    IN_FILE,
    LogPosition,
    partition_of,
)
from transforms.cuts.positions import are_beyond, are_by_offset, as_tuples, matrix_of, ranks_of

POSITIONS = pa.list_(pa.int64())


def drawn(chance: Random) -> LogPosition:
    """Few numbers, so that many are equal, or begin alike."""
    numbers = [
        0,
        chance.randint(0, 1),
        *(chance.randint(0, 2) for _ in range(chance.randint(0, 5))),
    ]
    if len(numbers) == IN_FILE:
        numbers[2] = chance.choice([BEFORE_ALL_FILES, 1])
        numbers[3] = chance.choice([0, 1, BEHIND_ALL_POINTS, BEHIND_ALL_POINTS + 1])
    return tuple(numbers)


@pytest.mark.parametrize("seed", range(20))
def test_they_compare_as_tuples_do(seed: int) -> None:
    chance = Random(f"positions {seed}")
    positions = [drawn(chance) for _ in range(chance.randint(1, 60))]
    if chance.random() < 0.5:
        positions = [one for one in positions if len(one) == len(positions[0])]
    # A part of a larger column, as a file's rows are.
    column = pa.array([(9,), *positions, (8, 8)], POSITIONS)[1:-1]
    matrix = matrix_of(column)
    ranks, ordered = ranks_of(matrix)
    distinct = as_tuples(ordered)
    assert distinct == sorted({*positions})
    assert [distinct[rank] for rank in ranks] == positions
    for asked in [(), drawn(chance), chance.choice(positions), (*positions[0], 0, 0, 0)]:
        assert are_beyond(matrix, asked).tolist() == [one > asked for one in positions]
    by_offset = [partition_of(one) is not None for one in positions]
    assert are_by_offset(matrix).tolist() == by_offset


def test_what_differs_between_deliveries_is_left_out() -> None:
    column = pa.array([(0, 1, 5, 7), (0, 1, 5), (0, 1, 5, 9)], POSITIONS)
    stable = pa.array([3, 3, None], pa.int32())
    ranks, ordered = ranks_of(matrix_of(column, stable))
    assert as_tuples(ordered) == [(0, 1, 5), (0, 1, 5, 9)]
    assert ranks.tolist() == [0, 0, 1]


def test_of_no_positions_there_is_nothing() -> None:
    none = matrix_of(pa.array([], POSITIONS))
    assert (len(are_beyond(none, (0, 1))), as_tuples(ranks_of(none)[1])) == (0, [])
