"""How much a run of the bench does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Sizes:
    """``rows`` of the table that ``changes`` are applied to, small ``tables``, counted ``repeats`` and the ``seed``.

    The sizes of growth curves are divided by ``shrunk``.
    """

    rows: int
    changes: int
    tables: int
    repeats: int
    seed: int = 1
    shrunk: int = 1


SCALES: Mapping[str, Sizes] = MappingProxyType(
    {
        "small": Sizes(rows=100_000, changes=5_000, tables=2, repeats=2, shrunk=100),
        "full": Sizes(rows=10_000_000, changes=1_000_000, tables=50, repeats=3),
    }
)
