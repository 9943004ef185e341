"""What kinds of change a table has seen, as words that its books keep: a fold does only the work that they ask for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.schema_changes import is_column_drop

DEPENDS, MOVES, TRANSACTIONS, SCOPE = "depends", "moves", "transactions", "scope"
DROPS: Final = "drops a column"
"""Not what a fold needs to know, but what a feed may refuse."""


@dataclass(frozen=True, slots=True, order=True)
class Shape:
    """Which columns a scoped change gives values for, and whether it is for keys of one stream only."""

    columns: tuple[str, ...]
    of_stream: bool


WHOLE_TABLE = Shape((), of_stream=False)


@dataclass(frozen=True, slots=True)
class Traits:
    """What changes of one table there are, in all its windows.

    ``depends``: some look at the row's values (attribute operations, conditional removes). ``moves``: some take values
    from another key's row. ``transactions``: some wait for a commit. ``scopes``: the shapes of the scoped ones.
    """

    depends: bool = False
    moves: bool = False
    transactions: bool = False
    scopes: tuple[Shape, ...] = ()

    @classmethod
    def of(cls, words: Iterable[str]) -> Traits:
        """Read the books' words."""
        known = set(words)
        shapes = (word.removeprefix(SCOPE) for word in known if word.startswith(SCOPE))
        return cls(
            depends=DEPENDS in known,
            moves=MOVES in known,
            transactions=TRANSACTIONS in known,
            scopes=tuple(sorted(_shape(shape) for shape in shapes)),
        )


def _shape(text: str) -> Shape:
    of_stream, columns = json.loads(text)
    return Shape(tuple(columns), bool(of_stream))


def words(*, incomplete_move: Column) -> Column:
    """The words of one event, an array; ``incomplete_move`` is true where it takes values from another key's row."""
    depends = (F.size("attribute_ops") > 0) | (F.col("effect") == "remove_if")
    columns = F.to_json(F.array_sort(F.map_keys("scope")))
    of_stream = F.when(F.col("stream").isNotNull(), F.lit("1")).otherwise(F.lit("0"))
    scope = F.concat(F.lit(f"{SCOPE}["), of_stream, F.lit(","), columns, F.lit("]"))
    found = F.array(
        F.when(depends, F.lit(DEPENDS)),
        F.when(incomplete_move, F.lit(MOVES)),
        F.when(F.col("transaction").isNotNull(), F.lit(TRANSACTIONS)),
        F.when(F.col("scope").isNotNull(), scope),
        F.when(is_column_drop(), F.lit(DROPS)),
    )
    return F.filter(found, lambda word: word.isNotNull())
