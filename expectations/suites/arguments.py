"""An expectation's arguments, from the texts of a feed file to the values that Great Expectations takes.

Every scalar of a feed file is the text that was written, so that a text column may be compared with ``no`` or ``007``.
What a text stands for is decided by the argument, and where it is compared with values of a column, by its type.
Put here that decision. Not here: whether there is such an argument (``declared``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Final

TEXTS: Final = frozenset(
    {
        *("column", "column_A", "column_B", "column_list", "column_set", "ignore_row_if"),
        *("regex", "regex_list", "match_on", "strftime_format", "type_", "type_list", "method"),
        *("row_condition", "condition_parser", "description", "notes", "unexpected_rows_query"),
    }
)
"""Arguments that are texts whatever they look like."""

OF_COLUMN: Final = frozenset({"min_value", "max_value", "value_set"})
"""Arguments that are compared with values of the column, by these kinds of expectations:"""

BY_VALUE: Final = frozenset(
    {
        *("expect_column_values_to_be_between", "expect_column_values_to_be_in_set"),
        *("expect_column_values_to_not_be_in_set", "expect_column_distinct_values_to_be_in_set"),
        "expect_column_distinct_values_to_contain_set",
        "expect_column_distinct_values_to_equal_set",
        "expect_column_most_common_value_to_be_in_set",
        *("expect_column_min_to_be_between", "expect_column_max_to_be_between"),
    }
)
"""The others count, or take averages: what they compare is a number."""

_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_WORDS: Final = {"true": True, "false": False}


def typed_arguments(
    kind: str, arguments: Mapping[str, object], column_type: str | None
) -> dict[str, object]:
    """The arguments of an expectation of this kind; ``column_type``: the Spark SQL type of its column, where known.

    Raises:
        ValueError: a text is no value of the column's type.
    """
    return {
        name: value
        if name in TEXTS
        else _converted(value, column_type if name in OF_COLUMN and kind in BY_VALUE else None)
        for name, value in arguments.items()
    }


def _converted(value: object, column_type: str | None) -> object:
    if isinstance(value, Mapping):
        return {str(name): _converted(one, column_type) for name, one in value.items()}
    if isinstance(value, list):
        return [_converted(one, column_type) for one in value]
    if not isinstance(value, str):
        return value
    kind = (column_type or "").partition("(")[0]
    if kind in ("string", "varchar", "char"):
        return value
    if kind in ("date", "timestamp", "timestamp_ntz"):
        return _time(value, kind)
    if kind == "boolean" or column_type is None:
        found = _WORDS.get(value.lower())
        if found is not None:
            return found
    if _NUMBER.fullmatch(value):
        return int(value) if re.fullmatch(r"[-+]?\d+", value) else float(value)
    if column_type is not None:
        raise ValueError(f"{value!r} is no value of type {column_type}")
    return value


def _time(text: str, kind: str) -> date | datetime:
    """A date, or a moment, which without a zone is one of UTC."""
    try:
        if kind == "date":
            return date.fromisoformat(text)
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is no value of type {kind}") from None
    return moment if kind == "timestamp_ntz" or moment.tzinfo else moment.replace(tzinfo=UTC)
