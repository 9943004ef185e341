"""The faults of a feed file: the file, the key, and what is wrong, in words for the person who wrote it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from transforms.errors import FeedMisdeclared
from transforms.silver.schema_drift import did_you_mean


class FeedFaults(FeedMisdeclared):
    """Several faults of one feed file, ``faults``: all that can be found at once; the rest is the first one's."""

    def __init__(self, faults: Sequence[FeedMisdeclared]) -> None:
        first = faults[0]
        super().__init__(first.file, first.key, first.fault, first.known)
        self.faults = tuple(faults)
        lines = [f"  {str(fault).removeprefix(f'{first.file}: ')}" for fault in faults]
        self.args = (f"{first.file}: {len(faults)} faults:", *lines)


class Unfit(ValueError):
    """A part of a feed file is not valid: which key, why, as the end of a sentence, and what is known instead."""

    def __init__(self, key: str, fault: str, known: Collection[str] = ()) -> None:
        self.key, self.fault, self.known = key, fault, known
        super().__init__(f"{key} {fault}")


def check_among(
    key: str, name: str, what: str, known: Collection[str], shown: Collection[str] = ()
) -> None:
    """Refuse a name that is not among the ``known`` ones, with the one that it may be; ``shown``: those to list."""
    if name not in known:
        raise Unfit(key, f"{name!r} is not among {what}{did_you_mean(name, known)}", shown)


@contextmanager
def below(key: str) -> Iterator[None]:
    """Faults in here are of keys below this one."""
    try:
        yield
    except Unfit as unfit:
        raise Unfit(f"{key}.{unfit.key}", unfit.fault, unfit.known) from None
