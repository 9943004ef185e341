"""The story of one key, as values: what happened to it, what waits, and what does not count.

Put here a fact that ``weir explain`` shows. Not here: finding the facts (``explain``), and printing them
(``orchestration/cli/explain.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

Image = Mapping[str, str | None] | None
"""A row's columns as texts; None where there is no row."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where one delivery of an event was read; ``repaired``: who gave another payload for its record, or empty."""

    window: str
    object: str
    line: int
    repaired: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One event of the key, or of a scope that it is in, and the row after it."""

    operation: str
    effect: str
    log_position: Sequence[int]
    event_at: datetime | None
    attribute_ops: Mapping[str, str]
    before_image: Mapping[str, str | None]
    after_image: Mapping[str, str | None]
    scope: Mapping[str, str | None] | None
    moved_from: Sequence[str | None] | None
    derived: str | None
    is_tied: bool
    counted: bool
    row: Image
    copies: int
    deliveries: tuple[Delivery, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """One change of the key that waits for its transaction."""

    operation: str
    transaction: str
    delivery: Delivery


@dataclass(frozen=True, slots=True)
class Ignored:
    """One event of the key, or of the whole table, that does not count: why, and where it was read."""

    reason: str
    detail: str
    delivery: Delivery


@dataclass(frozen=True, slots=True)
class Base:
    """The key's row at the watermark, below which its history is compacted; ``copies``: how many rows there were."""

    compaction_watermark: Sequence[int]
    row: Image
    copies: int


@dataclass(frozen=True, slots=True)
class KeyStory:
    """All that is known of one key; ``key`` has its parts as silver writes them."""

    key: tuple[str | None, ...]
    steps: tuple[Step, ...]
    waiting: tuple[Waiting, ...]
    ignored: tuple[Ignored, ...] = ()
    base: Base | None = None
