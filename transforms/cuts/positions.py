"""Positions of many changes at once, as rows of numbers: which stand behind a position, and in which order they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from transforms.change import (
    BEFORE_ALL_FILES,
    BEHIND_ALL_POINTS,
    BY_OFFSET,
    IN_FILE,
    POINT,
    LogPosition,
)
from transforms.gold.fold_rows import NO_NUMBER, position_matrix

Matrix: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Mask: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"
Ranks: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"


def matrix_of(log_positions: pa.ListArray, stable: pa.Array | None = None) -> Matrix:
    """One row of numbers per position, filled up with ``NO_NUMBER``; there is no null among them.

    ``stable``: how many numbers of each are the same in every delivery of its event, if only these are wanted; null
    where all are.
    """
    found = position_matrix(log_positions)
    if found is None:
        return np.empty((len(log_positions), 0), np.int64)
    if stable is None:
        return found
    width = found.shape[1]
    lengths = stable.fill_null(width).to_numpy(zero_copy_only=False)
    if (lengths >= width).all():
        return found
    return np.where(np.arange(width) < lengths[:, None], found, NO_NUMBER)


def lengths_of(positions: Matrix) -> Ranks:
    """How many numbers each position has."""
    found: Ranks = (positions != NO_NUMBER).sum(axis=1)
    return found


def are_by_offset(positions: Matrix) -> Mask:
    """``partition_of`` is not None: of each whole position, whether it stands by its offset in a topic."""
    lengths = lengths_of(positions)
    found: Mask = lengths == BY_OFFSET
    if positions.shape[1] >= IN_FILE:
        is_behind = positions[:, POINT] >= BEHIND_ALL_POINTS
        is_before = positions[:, POINT - 1] == BEFORE_ALL_FILES
        found |= (lengths == IN_FILE) & (is_behind | is_before)
    return found


def are_beyond(positions: Matrix, log_position: Sequence[int]) -> Mask:
    """Of each position whether it stands behind this one."""
    width = max(positions.shape[1], len(log_position))
    missing = width - positions.shape[1]
    if missing:
        positions = np.pad(positions, ((0, 0), (0, missing)), constant_values=NO_NUMBER)
    asked = [*log_position, *[NO_NUMBER] * (width - len(log_position))]
    found = np.zeros(len(positions), bool)
    is_equal = np.ones(len(positions), bool)
    for column, number in zip(positions.T, asked, strict=True):
        found |= is_equal & (column > number)
        is_equal &= column == number
    return found


def ranks_of(positions: Matrix) -> tuple[Ranks, Matrix]:
    """The rank of each position among the different ones, from 0 on, and these in their order."""
    # What all of them share says nothing of the order: epoch and phase, as a rule.
    differing = [column for column in positions.T if (column != column[0]).any()]
    if not differing:
        return np.zeros(len(positions), np.int64), positions[:1]
    order = np.lexsort(differing[::-1])
    is_new = np.zeros(len(positions), bool)
    for column in differing:
        ordered = column[order]
        is_new[1:] |= ordered[1:] != ordered[:-1]
    ranks = np.empty(len(positions), np.int64)
    ranks[order] = np.cumsum(is_new)
    is_new[0] = True
    return ranks, positions[order[is_new]]


def as_tuples(positions: Matrix) -> list[LogPosition]:
    """Each position by itself."""
    if not (positions == NO_NUMBER).any():
        return [*map(tuple, positions.tolist())]
    return [tuple(n for n in one if n != NO_NUMBER) for one in positions.tolist()]
