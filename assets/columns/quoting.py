"""Names and texts as Spark's SQL takes them, whatever characters they have."""

from __future__ import annotations


def quoted(name: str) -> str:
    """A name in the quotes that SQL takes it in, as one part: a dot in it parts nothing."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A text in its quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
