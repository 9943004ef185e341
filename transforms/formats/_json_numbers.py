"""JSON's numbers as they are written: reading one as a double changes its digits (1.10, 1e400, thirty of them).

Spark reads a number into a text through a double where it is not whole, and so does it with every number of a document
that becomes a text. In quotes they are safe. Not here: what a number means.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

_FRACTION = r"[:\[,]\s*(?:-?[0-9]+[.eE]|-0)"
_NUMBER = r'\G((?:[^"0-9-]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+)(-?[0-9][0-9.eE+-]*+)'
"""A number, with all that stands before it since the last one: strings are passed over. It never goes back."""

# Of those that Unicode leaves to private use: no text of a source begins with it.
_MARK = "\ue000"


def exact(text: Column) -> Column:
    """JSON with its numbers as texts, where reading them might change their digits."""
    return _quoted(text, F.lit(True), "")


def marked(text: Column, where: Column) -> Column:
    """The same of what is to become numbers again: texts with a mark."""
    return _quoted(text, where, _MARK)


def unmarked(text: Column) -> Column:
    """With marked texts as the numbers that they were."""
    return F.when(
        text.contains(_MARK), F.regexp_replace(text, f'"?{_MARK}([0-9.eE+-]+)"?', "$1")
    ).otherwise(text)


def _quoted(text: Column, where: Column, mark: str) -> Column:
    replaced = F.regexp_replace(text, _NUMBER, f'$1"{mark}$2"')
    return F.when(where & text.rlike(_FRACTION), replaced).otherwise(text)
