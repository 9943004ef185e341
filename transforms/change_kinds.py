"""What kinds of change a table has seen, as its accounting keeps them: a fold does only the work that they ask for.

Put here the labels that the accounting stores, and reading them back. Not here: which kinds one event is
(``silver/facts``), and what a fold does about them (``gold``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

DEPENDS, MOVES, TRANSACTIONS, SCOPE = "depends", "moves", "transactions", "scope"
UPSERTS: Final = "upserts"
DROPS: Final = "drops a column"
"""The label of a column drop: a fold does not need it, but a feed may refuse such a change."""
STREAMS: Final = "streams"
"""How the label begins that names the streams of a window's changes; where there are more than two, it names two."""


@dataclass(frozen=True, slots=True, order=True)
class ScopeShape:
    """Which columns a range delete gives values for, and whether it is for keys of one stream only."""

    columns: tuple[str, ...]
    of_stream: bool


WHOLE_TABLE = ScopeShape((), of_stream=False)


@dataclass(frozen=True, slots=True)
class ChangeKinds:
    """Which kinds of change there are of one table, in all its windows.

    ``depends``: some need the row's present values (attribute operations, conditional removes). ``moves``: some take
    values from another key's row. ``transactions``: some wait for a commit. ``upserts``: some update a row that need
    not be there, as an insert does in Cassandra. ``scopes``: the shapes of range deletes.
    """

    depends: bool = False
    moves: bool = False
    transactions: bool = False
    upserts: bool = False
    scopes: tuple[ScopeShape, ...] = ()

    @classmethod
    def of(cls, labels: Iterable[str]) -> ChangeKinds:
        """The kinds that an accounting's labels name."""
        known = set(labels)
        shapes = (label.removeprefix(SCOPE) for label in known if label.startswith(SCOPE))
        return cls(
            depends=DEPENDS in known,
            moves=MOVES in known,
            transactions=TRANSACTIONS in known,
            upserts=UPSERTS in known,
            scopes=tuple(sorted(_shape(shape) for shape in shapes)),
        )


def streams_label(streams: Sequence[str]) -> str:
    """The label of changes that came from these streams; changes without a stream have one, too."""
    return STREAMS + json.dumps([*streams], separators=(",", ":"), ensure_ascii=False)


def streams_of(labels: Iterable[str]) -> set[str] | None:
    """The streams that an accounting's labels name; None where no label does: an earlier version of Weir wrote it."""
    listed = [label.removeprefix(STREAMS) for label in labels if label.startswith(STREAMS)]
    return {stream for text in listed for stream in json.loads(text)} if listed else None


def _shape(text: str) -> ScopeShape:
    of_stream, columns = json.loads(text)
    return ScopeShape(tuple(columns), bool(of_stream))
