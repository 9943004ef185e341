"""The verbs that both executors have, and what a stage is to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

import pyarrow as pa

from transforms.change import Key

Frame = TypeVar("Frame")
"""A frame of one executor: an Arrow table, or one of Spark's."""


class Stage(Protocol):
    """A plain callable from Arrow batches to Arrow batches, made from frozen values; ``schema``: what comes out."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of what comes out."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What the stage makes of the batches."""


class Ranges(NamedTuple):
    """A column of numbers below ``size``: rows with the same one belong together, and neighbours side by side.

    ``tasks``: among how many the numbers are divided evenly, where an executor has several (``Executor.tasks``).
    """

    column: str
    size: int
    tasks: int


class Executor(Protocol[Frame]):
    """What silver and a fold ask of whoever runs them.

    Keys are lists of texts (``key``). Where a count is given, it says how many rows a frame has at most, so that Spark
    can choose how to join or shuffle it.
    """

    @property
    def name(self) -> str:
        """What a summary calls it."""

    def frame_of(self, keys: Sequence[Key]) -> Frame:
        """One row per key: ``key``."""

    def union(self, frames: Sequence[Frame]) -> Frame:
        """The rows of frames that have the same columns."""

    def where(self, frame: Frame, column: str, value: str) -> Frame:
        """The rows that have this value in the column."""

    def select(self, frame: Frame, columns: dict[str, str]) -> Frame:
        """These columns, each under a new name."""

    def distinct(self, frame: Frame) -> Frame:
        """Each of the rows once."""

    def among(self, frame: Frame, keys: Frame, on: str, count: int | None) -> Frame:
        """The rows whose column ``on`` is that of some row of ``keys``."""

    def without(self, frame: Frame, keys: Frame, on: str) -> Frame:
        """The rows whose column ``on`` is that of no row of ``keys``."""

    def grouped(self, frame: Frame, roots: Frame | None) -> Frame:
        """The rows with the ``group`` of their ``key``: its ``root`` where ``roots`` has one, else the key itself."""

    def shaped(self, frame: Frame, what: int | None = None) -> Frame:
        """The rows with exactly the columns ``FOLD_ROWS``; ``what``: of this kind."""

    def together(self, frame: Frame, most: int | None) -> Frame:
        """The rows with those of each group together, in the order of ``what`` and ``log_position``.

        ``most``: how many changes there may be; None where that is not known.
        """

    def staged_together(self, frame: Frame, most: int | None, stage: Stage) -> Frame:
        """What a stage makes of the rows that are brought ``together``."""

    def sorted(
        self, frame: Frame, by: Sequence[str], within: Sequence[str], most: int | None = None
    ) -> Frame:
        """The rows with those that agree in the columns ``by`` together, in the order of ``within``.

        ``most``: of how many records they are; None where that is not known.
        """

    def tasks(self, frame: Frame, most: int) -> int:
        """Among how many tasks rows of so many records are to be divided."""

    def in_order(self, frame: Frame, by: str, ranges: Ranges) -> Frame:
        """The rows in the order of ``by``, those that belong together (``ranges``) in one task."""

    def looked_up(self, frame: Frame, lists: Frame, on: str, column: str) -> Frame:
        """The rows with the list that ``lists`` has in a column for their ``on``; an empty one where it has none."""

    def containing(self, frame: Frame, column: str, some: Sequence[bytes]) -> Frame:
        """The rows with one of these sequences of bytes in the column."""

    def filled(self, frame: Frame, column: str) -> Frame:
        """The rows that have bytes in the column."""

    def staged(self, frame: Frame, stage: Stage) -> Frame:
        """What a stage makes of the rows, as they come."""

    def filed(self, frame: Frame, stage: Stage) -> Frame:
        """What a stage makes of the rows, but for what its tasks write into files of a table."""

    def kept(self, frame: Frame) -> Frame:
        """The frame, computed once: it does not read tables again, whatever is committed to them."""

    def cached(self, frame: Frame) -> Frame:
        """The frame, computed when it is asked for first, and kept for those who ask later, until it is ``freed``."""

    def freed(self, frame: Frame) -> None:
        """Give up what is kept of a frame."""

    def collected(self, frame: Frame) -> pa.Table:
        """The rows in this process; they are few."""
