"""Texts and the declared Spark SQL types: does a text fit, what is its canonical form, what is its typed value.

Everything here is ``Column -> Column``. Which column has which type is the feed's word (``feed.Table.columns``).
"""

from __future__ import annotations

import re

from pyspark.sql import Column
from pyspark.sql import functions as F

_NESTED = re.compile(r"^\s*(array|map|struct)\s*<", re.IGNORECASE)
_DECIMAL = re.compile(
    r"^\s*(?:decimal|numeric|dec)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)\s*$", re.IGNORECASE
)
_TEXT = re.compile(r"^\s*(string|binary)\s*$", re.IGNORECASE)


def typed(text: Column, type_name: str) -> Column:
    """The text's value in the declared type; null where it does not fit (``fits`` says so beforehand)."""
    if _NESTED.match(type_name):
        return F.from_json(text, type_name)
    return text.try_cast(type_name)


def fits(text: Column, type_name: str) -> Column:
    """True where the text is null, or becomes a value of the type without losing anything."""
    if _TEXT.match(type_name):
        return F.lit(True)
    value = typed(text, type_name)
    holds = text.isNull() | value.isNotNull()
    if _DECIMAL.match(type_name):
        # Spark rounds to the declared scale without a word: 1.239 would become 1.24.
        exact = text.try_cast("decimal(38,18)")
        return holds & (text.isNull() | exact.isNull() | (exact == value))
    return holds


def canonical(text: Column, type_name: str) -> Column:
    """One text for all ways to write a value: ``010`` and ``10`` are one int, ``1.5`` and ``1.50`` one decimal."""
    if _TEXT.match(type_name) or _NESTED.match(type_name):
        return text
    return typed(text, type_name).cast("string")


def by_type(
    types: list[str], type_of: Column, of_type: dict[str, Column], otherwise: Column
) -> Column:
    """Choose among columns by the name of a type: ``of_type[t]`` where ``type_of`` is ``t``."""
    choice = otherwise
    for name in reversed(types):
        choice = F.when(type_of == F.lit(name), of_type[name]).otherwise(choice)
    return choice
