"""Names and texts as Spark's SQL takes them, whatever characters they have.

Put here how such text is quoted: whatever else becomes part of a statement, of a column's name or of a condition goes
through here. Not here: which names gold's columns and tables have (``transforms/feed``).
"""

from __future__ import annotations

from collections.abc import Iterable


def quoted(name: str) -> str:
    """A name in the quotes that SQL takes it in, as one part: a dot in it parts nothing."""
    return "`" + name.replace("`", "``") + "`"


def all_quoted(names: Iterable[str]) -> list[str]:
    """The names, each in its quotes."""
    return [quoted(name) for name in names]


def literal(text: str) -> str:
    """A text in its quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
