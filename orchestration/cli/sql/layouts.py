"""The rows that a statement gives, as a person or a program reads them: a table, JSON lines, or CSV.

Put a format of ``weir query`` here. Not here: the statement (``statement``), and the texts of values
(``spark_answer``, ``arrow_answer``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from orchestration.console import put_csv, put_json_text
from orchestration.sheets import Grid, Sheet
from transforms.errors import QueryRefused

FORMATS = ("table", "jsonl", "csv")


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of an answer.

    ``columns``: their names, of which several may be the same. ``texts``: one list per row, of its values as texts,
    None for a null. ``json_lines``: one JSON object per row. ``binary``: the numbers, from 0, of the columns of bytes,
    whose texts are base64.
    """

    columns: Sequence[str]
    texts: Callable[[], Iterator[list[str | None]]]
    json_lines: Callable[[], Iterator[str]]
    binary: frozenset[int] = frozenset()


def print_rows(answer: Answer, style: str, out: TextIO | None = None) -> None:
    """Print the rows: an aligned table, one JSON object a line, or CSV with a header; ``out``: not standard output."""
    if style == "jsonl":
        for line in answer.json_lines():
            put_json_text(line, out)
    elif style == "csv":
        put_csv([answer.columns], out)
        put_csv((["" if one is None else one for one in row] for row in answer.texts()), out)
    else:
        table = Grid()
        for name in answer.columns:
            table.column(name, "anywhere")
        for row in answer.texts():
            table.row(*["NULL" if value is None else value for value in row])
        Sheet(out, width=10_000).grid(table)


def refuse_repeated(columns: Sequence[str]) -> None:
    """Refuse JSON objects that would have a name twice.

    Raises:
        QueryRefused: several columns have one name.
    """
    repeated = sorted({name for name in columns if list(columns).count(name) > 1})
    if repeated:
        fault = (
            f"several columns are called {', '.join(repeated)}: give them names of their own (AS)"
        )
        raise QueryRefused("--format jsonl", fault)
