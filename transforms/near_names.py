"""Which declared name was probably meant, where nothing came of it and the stream has another one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest_unmet(met: str, unmet: Iterable[str]) -> str | None:
    """The declared name of which nothing came, and that was probably meant for one that came and is not declared.

    What stands before the last dot is a schema, or a type of nodes, and is often left out, so only the rest is
    compared; of several with the same rest, the one that has the same before it is taken.
    """
    before, _, end = met.rpartition(".")
    by_end = {
        one.rpartition(".")[2]: one
        for one in sorted(unmet, key=lambda one: (one.rpartition(".")[0] == before, one))
    }
    close = get_close_matches(end, by_end, n=1)
    return by_end[close[0]] if close else None
