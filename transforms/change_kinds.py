"""What kinds of change a table has seen, as its accounting keeps them: a fold does only the work that they ask for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

DEPENDS, MOVES, TRANSACTIONS, SCOPE = "depends", "moves", "transactions", "scope"
DROPS: Final = "drops a column"
"""Not what a fold needs to know, but what a feed may refuse."""
STREAMS: Final = "streams"
"""The word that says which streams a window's changes came from: two of them, where there are more."""


@dataclass(frozen=True, slots=True, order=True)
class Shape:
    """Which columns a scoped change gives values for, and whether it is for keys of one stream only."""

    columns: tuple[str, ...]
    of_stream: bool


WHOLE_TABLE = Shape((), of_stream=False)


@dataclass(frozen=True, slots=True)
class ChangeKinds:
    """What changes of one table there are, in all its windows.

    ``depends``: some look at the row's values (attribute operations, conditional removes). ``moves``: some take values
    from another key's row. ``transactions``: some wait for a commit. ``scopes``: the shapes of the scoped ones.
    """

    depends: bool = False
    moves: bool = False
    transactions: bool = False
    scopes: tuple[Shape, ...] = ()

    @classmethod
    def of(cls, words: Iterable[str]) -> ChangeKinds:
        """Read the accounts' words."""
        known = set(words)
        shapes = (word.removeprefix(SCOPE) for word in known if word.startswith(SCOPE))
        return cls(
            depends=DEPENDS in known,
            moves=MOVES in known,
            transactions=TRANSACTIONS in known,
            scopes=tuple(sorted(_shape(shape) for shape in shapes)),
        )


def streams_word(streams: Sequence[str]) -> str:
    """The word for changes that came from these streams; there is one for those that came from none, too."""
    return STREAMS + json.dumps([*streams], separators=(",", ":"), ensure_ascii=False)


def streams_of(words: Iterable[str]) -> set[str] | None:
    """The streams that the words tell of; None where they tell nothing: an earlier version of Weir wrote them."""
    told = [word.removeprefix(STREAMS) for word in words if word.startswith(STREAMS)]
    return {stream for text in told for stream in json.loads(text)} if told else None


def _shape(text: str) -> Shape:
    of_stream, columns = json.loads(text)
    return Shape(tuple(columns), bool(of_stream))
