"""The sizes of a curve, as the scale of a run asks for them."""

from __future__ import annotations

from collections.abc import Sequence

from bench.sizes import Sizes

LEAST = 10
"""What is left of any size, however much a run divides it."""


def points(full: Sequence[int], sizes: Sizes) -> list[int]:
    """The sizes of the full curve, each divided by the run's ``shrunk``, in rising order and each once."""
    return sorted({shrunk(size, sizes) for size in full})


def shrunk(size: int, sizes: Sizes) -> int:
    """One size of the full curve, divided by the run's ``shrunk``."""
    return max(LEAST, size // sizes.shrunk)
