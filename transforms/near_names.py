"""Names that were probably meant for names that are not known, as the end of a sentence about them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant; None where none is like it.

    What stands before the last dot is a schema, or a type of nodes, and is often left out, so only the rest has to be
    alike; of several with the same rest, the one that is nearest as a whole is taken.
    """
    by_end: dict[str, list[str]] = {}
    for one in known:
        by_end.setdefault(one.rpartition(".")[2], []).append(one)
    close = get_close_matches(name.rpartition(".")[2], by_end, n=1)
    return get_close_matches(name, by_end[close[0]], n=1, cutoff=0)[0] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about a name that is not known: which one was probably meant, if there is one."""
    close = nearest(name, known)
    return f"; did you mean {close}" if close else ""
