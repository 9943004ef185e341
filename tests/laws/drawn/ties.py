"""Updates that have one position and start from each other: every source of random histories draws them alike."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random

from tests.laws.oracle.event import Image


def tied_links(
    rng: Random, row: Callable[[], Image], some: Callable[[], Image], narrow: Callable[[], Image]
) -> list[tuple[Image, Image]]:
    """Updates of one row at one position: a chain of images, two, one that returns, or none."""
    length = rng.randint(2, 5)
    images = [row()]
    images += [images[0] | some() for _ in range(length)]
    shape = rng.choice(["chain", "partial chain", "two chains", "return", "fork"])
    if shape == "partial chain":
        images = [narrow() for _ in images]
    if shape == "return":
        images[-1] = images[0]
    links = [(images[0] if shape == "fork" else old, new) for old, new in pairwise(images)]
    if shape == "two chains":
        links.pop(length // 2)
    return links
