"""The faults of a feed file: the file, the key, and what is wrong, in words for the person who wrote it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from transforms.near_names import did_you_mean


class InvalidKey(ValueError):
    """A part of a feed file is not valid: which key, why, as the end of a sentence, and what is known instead."""

    def __init__(self, key: str, fault: str, known: Collection[str] = ()) -> None:
        self.key, self.fault, self.known = key, fault, known
        super().__init__(f"{key} {fault}")


def check_among(
    key: str, name: str, what: str, known: Collection[str], shown: Collection[str] = ()
) -> None:
    """Refuse a name that is not among the ``known`` ones, with the one that it may be; ``shown``: those to list."""
    if name not in known:
        raise InvalidKey(key, f"{name!r} is not among {what}{did_you_mean(name, known)}", shown)


@contextmanager
def below(key: str) -> Iterator[None]:
    """Faults in here are of keys below this one."""
    try:
        yield
    except InvalidKey as unfit:
        raise InvalidKey(f"{key}.{unfit.key}", unfit.fault, unfit.known) from None
