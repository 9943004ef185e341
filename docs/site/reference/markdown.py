"""Markdown, as the pages of the reference need it: tables, and texts from docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with this head."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell(one) for one in line)} |" for line in lines) + "\n"


def cell(text: str) -> str:
    """A text as one cell: in one line, and with no sign that would end the cell."""
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|")


def prose(docstring: str) -> str:
    """A docstring's text: code between single signs, and nothing that a page would take for a tag."""
    text = docstring.replace("``", "`")
    return "".join(
        part if number % 2 else part.replace("<", "&lt;")
        for number, part in enumerate(re.split(r"(`[^`]*`)", text))
    )


def code(text: str) -> str:
    """A text in the letters of code."""
    return f"`{text}`"


def page(title: str, intro: str, *parts: str) -> str:
    """A whole page, which says that it is made from the code."""
    made = "<!-- Made from the code by `make docs`: change the code, not this page. -->"
    return "\n".join([made, f"# {title}\n", f"{intro}\n", *parts]).rstrip() + "\n"
