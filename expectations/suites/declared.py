"""A declared expectation as one of Great Expectations' own, and what is wrong with it where it cannot be one.

Put here what asks Great Expectations which expectations there are. Not here: what can be said without it
(``orchestration/feeds/running``), and running them (``asked``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from expectations import gx
from expectations.suites.arguments import typed_arguments
from transforms.feed.checks import DeclaredExpectation

NEEDS_DATABASE: Final = frozenset(
    {
        *("expect_column_values_to_match_like_pattern", "expect_query_results_to_match_comparison"),
        "expect_column_values_to_match_like_pattern_list",
        "expect_column_values_to_not_match_like_pattern",
        "expect_column_values_to_not_match_like_pattern_list",
        "expect_table_row_count_to_equal_other_table",
    }
)
"""Those that only a database can answer: neither pandas nor Spark does."""

ONLY_PANDAS: Final = frozenset(
    {
        *("expect_column_values_to_be_of_type", "expect_column_values_to_be_in_type_list"),
        "expect_column_values_to_be_dateutil_parseable",
    }
)
"""Those that Great Expectations cannot ask of Spark's frames."""

ONLY_SPARK: Final = frozenset({"unexpected_rows_expectation"})
"""Those that it cannot ask of pandas' frames."""

SEVERITY: Final = {"block": "critical", "warn": "warning"}
"""What a feed file calls a severity, and what Great Expectations does."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a declared expectation, and what is known instead."""

    said: str
    known: tuple[str, ...] = ()


def known_kinds() -> list[str]:
    """The names of all expectations that can be declared."""
    gx.import_gx()
    from great_expectations.expectations.registry import (
        list_registered_expectation_implementations,
    )

    found = list_registered_expectation_implementations()
    return sorted(name for name in found if name not in NEEDS_DATABASE)


def fault_of(one: DeclaredExpectation, types: Mapping[str, str]) -> Fault | None:
    """Why this cannot be one of Great Expectations' expectations; None where it can. ``types``: of the columns."""
    gx.import_gx()
    from great_expectations.compatibility.pydantic import ValidationError

    known = known_kinds()
    if one.kind in NEEDS_DATABASE:
        return Fault("can be asked of a database only; a regex does the same as a LIKE pattern")
    if one.kind not in known:
        close = get_close_matches(one.kind, known, n=1)
        hint = f"; did you mean {close[0]}" if close else ""
        return Fault(f"is no expectation of Great Expectations{hint}", tuple(known))
    try:
        expectation_of(one, types)
    except ValidationError as wrong:
        return _of_validation(one, wrong)
    except (TypeError, ValueError) as wrong:
        return Fault(f"cannot be used: {wrong}")
    return None


def _of_validation(one: DeclaredExpectation, wrong: Any) -> Fault:
    """The first of the faults that pydantic found, in words."""
    (first, *_) = wrong.errors()
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "value_error.extra":
        own = sorted(set(_class_of(one.kind).__fields__) - _NOT_WRITTEN)
        close = get_close_matches(name, own, n=1)
        hint = f"; did you mean {close[0]}" if close else ""
        return Fault(f"has no argument {name}{hint}", tuple(own))
    if first["type"] == "value_error.missing":
        return Fault(f"needs the argument {name}")
    said = first["msg"]
    return Fault(f"cannot be used: {said}" if name == "__root__" else f"{name}: {said}")


_NOT_WRITTEN: Final = frozenset(
    {
        *("id", "meta", "result_format", "catch_exceptions", "rendered_content", "severity"),
        *("windows", "batch_id", "library_metadata"),
    }
)
"""Fields of every expectation that are no arguments of it."""


def expectation_of(one: DeclaredExpectation, types: Mapping[str, str]) -> Any:
    """The expectation as Great Expectations has it.

    Raises:
        ValidationError: (pydantic's) it has no such argument, or not of this kind.
        ValueError: an argument is no value of its column's type.
    """
    column = one.column or _text(one.arguments.get("column"))
    arguments = typed_arguments(one.kind, one.arguments, types.get(column) if column else None)
    if one.column is not None:
        arguments["column"] = one.column
    if "row_condition" in arguments:
        # The one language of conditions that means the same to pandas and to Spark.
        arguments.setdefault("condition_parser", "great_expectations")
    made = _class_of(one.kind)(**arguments, severity=SEVERITY[one.severity])
    made.meta = {"check": one.check}
    return made


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _class_of(kind: str) -> Any:
    from great_expectations.expectations.registry import get_expectation_impl

    return get_expectation_impl(kind)
