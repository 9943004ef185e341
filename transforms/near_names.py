"""Names that were probably meant for names that are not known, as the end of a sentence about them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant; None where none is like it.

    What stands before the last dot is a schema, or a type of nodes, and is often left out, so only the rest has to be
    alike; of several with the same rest, the one that is nearest as a whole is taken. The case of letters makes no name
    unlike another: Oracle writes all names in capitals, and people do not.
    """
    by_end: dict[str, dict[str, list[str]]] = {}
    for one in known:
        by_end.setdefault(_end(one), {}).setdefault(one.casefold(), []).append(one)
    close = get_close_matches(_end(name), by_end, n=1)
    if not close:
        return None
    whole = by_end[close[0]]
    (folded,) = get_close_matches(name.casefold(), whole, n=1, cutoff=0)
    return get_close_matches(name, whole[folded], n=1, cutoff=0)[0]


def _end(name: str) -> str:
    return name.rpartition(".")[2].casefold()


def but_for_case(names: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """By each name that is not known, the known one that has other letters only by their case, if there is one."""
    names, known = sorted(names), {*known}
    folded = {one.casefold(): one for one in known}
    return {
        one: folded[one.casefold()]
        for one in names
        if one not in known and one.casefold() in folded
    }


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about a name that is not known: which one was probably meant, if there is one."""
    close = nearest(name, known)
    if close is None:
        return ""
    only = " (only the case of letters differs)" if but_for_case([name], [close]) else ""
    return f"; did you mean {close}{only}"
