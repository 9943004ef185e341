"""Tables and coloured lines as they are printed at a terminal."""

from __future__ import annotations

import sys
from typing import Literal, Self, TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transforms.display import one_line

_LONGEST_NAME = 48


class Grid:
    """A table to be printed. Names and cells are shown as they are, each within its cell and in its line."""

    def __init__(self, *, is_narrow: bool = False) -> None:
        self._table = Table(
            box=box.SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
            padding=(0, 1, 0, 0) if is_narrow else (0, 1),
        )

    def column(self, head: str, wraps: Literal["anywhere", "between words", "never"]) -> None:
        """One more column; ``wraps``: where its cells go on in another line of theirs if there is no room."""
        self._table.add_column(
            Text(one_line(head)),
            no_wrap=wraps == "never",
            overflow="fold" if wraps == "anywhere" else "ellipsis",
            # A name of hundreds of characters would leave no room for the columns beside it.
            max_width=_LONGEST_NAME if wraps == "never" else None,
        )

    def numbers(self, head: str, wraps: Literal["between words", "never"]) -> None:
        """One more column, of numbers."""
        self.column(head, wraps)
        self._table.columns[-1].justify = "right"

    def row(self, *cells: str) -> None:
        """One more row."""
        self._table.add_row(*(Text(one_line(cell)) for cell in cells))

    def has_rows(self) -> bool:
        """Whether there is any row."""
        return bool(self._table.row_count)

    def on(self, console: Console) -> None:
        """Print it."""
        console.print(self._table)


class Sheet:
    """Where lines and tables are printed: standard output, or another text; as wide as a terminal, or this wide."""

    def __init__(self, out: TextIO | None = None, width: int = 120) -> None:
        is_terminal = (out or sys.stdout).isatty()
        self._console = Console(
            file=out,
            width=None if is_terminal else width,
            markup=False,
            emoji=False,
            highlight=False,
        )

    @classmethod
    def of_progress(cls) -> Self:
        """The one where progress is printed, for standard output has an answer."""
        return cls(sys.stderr)

    def line(self, text: str = "", style: str | None = None) -> None:
        """Print one line, unwrapped: a command in it must stay one that can be copied."""
        self._console.print(Text(one_line(text)), style=style, soft_wrap=True)

    def lines(self, text: str, style: str | None = None) -> None:
        """Print lines; those that follow the first are already told from lines of their own (``hanging``)."""
        for line in text.split("\n"):
            self.line(line, style)

    def grid(self, grid: Grid) -> None:
        """Print a table."""
        grid.on(self._console)
