"""A record's shape: all that decides what its event is, but for the row's values and for where and when it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from transforms.event import SnapshotRow, Transaction, Value
from transforms.record import BronzeRecord


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What many records of a feed share: one object for all of them.

    ``before``, ``after``: the columns that the images of their events mention, in the order of the images.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]


class Shaped(NamedTuple):
    """One record, as far as its shape does not say it: the event that its format's ``decode`` gives has the same.

    ``before``, ``after``: the values of the shape's columns. The other fields are those of ``Event``.
    """

    shape: Shape
    before: Sequence[Value]
    after: Sequence[Value]
    log_position: tuple[int, ...]
    identity: tuple[str | None, ...]
    segment: int | None
    event_at: int | None
    extracted_at: int | None
    transaction: Transaction | None = None
    snapshot: SnapshotRow | None = None


ReadShape = Callable[[BronzeRecord], Shaped | None]
"""One record by its shape; None where it has to be decoded by itself, for any reason; what it raises stands for None.

All records of one shape become one event each, without a fault, whose fields are alike but for those of ``Shaped``.
"""
