"""The expectations that feed files declare, as Great Expectations' own, and asked of a table's rows."""

from __future__ import annotations

import operator
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from types import ModuleType
from typing import Any, Final

from transforms.column_types.registry import column_type
from transforms.column_types.texts import Boolean, String
from transforms.column_types.times import Date, Timestamp
from transforms.feed.feed import DeclaredExpectation
from transforms.near_names import did_you_mean

SAMPLES: Final = 20
"""Maximum number of rows shown that break an expectation."""


@dataclass(frozen=True, slots=True)
class ExpectationAnswer:
    """What Great Expectations answers to one expectation.

    ``description``: the expectation as a sentence. ``observed``: what it found, as text; None where it only counts.
    ``asked`` and ``broken``: how many rows were looked at, and how many of them break it; None where it is about the
    table as a whole. ``samples``: the keys and the values of some of these. ``error``: why it could not be asked.
    """

    declared: DeclaredExpectation
    passed: bool
    description: str
    observed: str | None
    asked: int | None
    broken: int | None
    samples: Sequence[Mapping[str, object]]
    error: str | None


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that are asked about: a frame of pandas or of Spark, the columns' Spark SQL types, and the key."""

    frame: Any
    is_spark: bool
    types: Mapping[str, str]
    key: Sequence[str]


def ask(
    suite: str, expectations: Sequence[DeclaredExpectation], rows: Rows
) -> tuple[list[ExpectationAnswer], list[dict[str, Any]]]:
    """An answer to each expectation, and the results as Great Expectations stores them, as JSON.

    Of a frame of Spark each sample is a pass over all rows, whether there is anything to show or not: there samples are
    taken only of the expectations that some row breaks.
    """
    samples = {"result_format": "SUMMARY", "unexpected_index_column_names": [*rows.key]}
    wanted = {"result_format": "BASIC"} if rows.is_spark else samples
    of_check = _outcomes(suite, expectations, rows, wanted)
    broken = [one for one in expectations if rows.is_spark and _is_broken(of_check[one.check])]
    if broken:
        of_check |= _outcomes(suite, broken, rows, samples)
    answers = [_answer(one, of_check[one.check]) for one in expectations]
    return answers, [of_check[one.check] for one in expectations]


def _is_broken(outcome: Mapping[str, Any]) -> bool:
    return not outcome["success"] or bool(outcome["result"].get("unexpected_count"))


def _outcomes(
    suite: str,
    expectations: Sequence[DeclaredExpectation],
    rows: Rows,
    wanted: Mapping[str, object],
) -> dict[str, dict[str, Any]]:
    """What Great Expectations finds, by check, in the result format that is wanted."""
    module = import_gx()
    context = module.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    # Great Expectations would persist a frame of Spark, and never free it.
    source = (
        context.data_sources.add_spark(name="weir", persist=False)
        if rows.is_spark
        else context.data_sources.add_pandas(name="weir")
    )
    batch = source.add_dataframe_asset(name=suite).add_batch_definition_whole_dataframe("rows")
    made = [expectation_of(one, rows.types) for one in expectations]
    result = batch.get_batch(batch_parameters={"dataframe": rows.frame}).validate(
        module.ExpectationSuite(name=suite, expectations=made),
        result_format={**wanted, "partial_unexpected_count": SAMPLES},
    )
    outcomes = [_to_keep(one) for one in result.to_json_dict()["results"]]
    return {one["expectation_config"]["meta"]["check"]: one for one in outcomes}


def _to_keep(outcome: dict[str, Any]) -> dict[str, Any]:
    """The result of one expectation without what only this run knows, and with what its page shows of the samples."""
    config, result = outcome["expectation_config"], outcome["result"]
    config.pop("id", None)
    config["kwargs"].pop("batch_id", None)
    result.pop("unexpected_index_query", None)
    listed = result.get("partial_unexpected_index_list")
    if listed:
        # Its pages show rows with their keys only from the lists of all rows, which may be very long.
        result["unexpected_index_list"] = listed[:SAMPLES]
        result["unexpected_list"] = result.get("partial_unexpected_list", [])[:SAMPLES]
    return outcome


def _answer(declared: DeclaredExpectation, outcome: Mapping[str, Any]) -> ExpectationAnswer:
    result, config = outcome["result"], outcome["expectation_config"]
    return ExpectationAnswer(
        declared=declared,
        passed=bool(outcome["success"]),
        description=config.get("description") or _described(config),
        observed=_observed(result),
        asked=result.get("element_count"),
        broken=result.get("unexpected_count"),
        samples=_samples(result, config["kwargs"].get("column")),
        error=_error(outcome.get("exception_info") or {}),
    )


def _described(config: Mapping[str, Any]) -> str:
    """The expectation's name and arguments as a sentence of sorts."""
    kwargs = {name: one for name, one in config["kwargs"].items() if name != "batch_id"}
    column = kwargs.pop("column", None)
    words = str(config["type"]).replace("_", " ")
    of = f"{column}: " if column else ""
    given = ", ".join(f"{name} {value}" for name, value in kwargs.items())
    return f"{of}{words}" + (f" ({given})" if given else "")


def _observed(result: Mapping[str, Any]) -> str | None:
    value = result.get("observed_value")
    return None if value is None else str(value)


def _samples(result: Mapping[str, Any], column: str | None) -> list[dict[str, object]]:
    listed = result.get("partial_unexpected_index_list")
    if listed:
        return [dict(one) for one in listed[:SAMPLES]]
    values = result.get("partial_unexpected_list") or ()
    return [{column or "value": value} for value in values[:SAMPLES]]


def _error(raised: Mapping[str, Any]) -> str | None:
    """The first exception, which stands in the answer itself or below the name of a metric."""
    for one in (raised, *raised.values()):
        if isinstance(one, Mapping) and one.get("raised_exception"):
            return str(one.get("exception_message") or "an unknown error")
    return None


# A declared expectation as one of Great Expectations' own, and what is wrong with it where it cannot be one.


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
    import_gx()
    from great_expectations.expectations.registry import (
        list_registered_expectation_implementations,
    )

    found = list_registered_expectation_implementations()
    return sorted(name for name in found if name not in NEEDS_DATABASE)


def fault_of(one: DeclaredExpectation, types: Mapping[str, str]) -> Fault | None:
    """Why this cannot be one of Great Expectations' expectations; None where it can. ``types``: of the columns."""
    import_gx()
    from great_expectations.compatibility.pydantic import ValidationError

    known = known_kinds()
    if one.kind in NEEDS_DATABASE:
        return Fault("can be asked of a database only; a regex does the same as a LIKE pattern")
    if one.kind not in known:
        fault = f"is no expectation of Great Expectations{did_you_mean(one.kind, known)}"
        return Fault(fault, tuple(known))
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
        return Fault(f"has no argument {name}{did_you_mean(name, own)}", tuple(own))
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
    if arguments.get("condition_parser", _CONDITIONS) == _CONDITIONS:
        arguments.pop("condition_parser", None)
        if (text := _text(arguments.get("row_condition"))) is not None:
            arguments["row_condition"] = _condition(text, types)
    made = _class_of(one.kind)(**arguments, severity=SEVERITY[one.severity])
    made.meta = {"check": one.check}
    return made


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


_CONDITIONS: Final = "great_expectations"
"""The one language of conditions that means the same to pandas and to Spark."""

_CONDITION: Final = re.compile(
    r"""\s*col\(\s*(?P<mark>["'])(?P<column>(?:(?!(?P=mark)).)+)(?P=mark)\s*\)\s*"""
    r"""(?:(?P<notnull>\.notnull\(\))|(?P<operator>[=!]=|[<>]=?)\s*"""
    r"""(?:(?P<quote>["'])(?P<text>[^"']*)(?P=quote)|(?P<bare>[-+.\w]+)))\s*""",
    re.IGNORECASE,
)
_COMPARED: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    **{"==": operator.eq, "!=": operator.ne},
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
}


def _condition(text: str, types: Mapping[str, str]) -> Any:
    """A condition on rows, as Great Expectations has it, with a value of its column's type.

    Read by itself, it would take the first of several comparisons and drop the others; and pandas finds no row where a
    boolean, or a number, is compared with a text.

    Raises:
        ValueError: it is not one comparison of one column, or the value is none of the column's type.
    """
    from great_expectations.expectations.row_conditions import Column

    found = _CONDITION.fullmatch(text)
    if found is None:
        raise ValueError(
            f"{text!r} is no condition. Expected is one comparison of one column, such as"
            """ col("status") == "paid", col("amount") > 10, col("is_open") == true or col("name").notnull()"""
        )
    column = Column(found["column"])
    if found["notnull"]:
        return column.is_not_null()
    condition = _COMPARED[found["operator"]](
        column, _compared_with(found, types.get(found["column"]))
    )
    # To pandas a null is unlike every text, to Spark it is neither like nor unlike one.
    return column.is_not_null() & condition if found["operator"] == "!=" else condition


def _compared_with(found: re.Match[str], type_name: str | None) -> object:
    """The value of a condition; a day or a moment stays the text that pandas and Spark both read."""
    said = found["text"] if found["bare"] is None else found["bare"]
    kind = None if type_name is None else column_type(type_name)
    if isinstance(kind, Date | Timestamp):
        _time(said, kind)
        return said
    if kind is None and found["bare"] is None:
        return said
    value = _converted(said, type_name)
    if isinstance(value, str) and not isinstance(kind, String):
        raise ValueError(f"{said!r} is neither a number nor true or false; put a text in quotes")
    return value


def _class_of(kind: str) -> Any:
    from great_expectations.expectations.registry import get_expectation_impl

    return get_expectation_impl(kind)


# An expectation's arguments, from the texts of a feed file to the values that Great Expectations takes.
# Every scalar of a feed file is the text that was written, so that a text column may be compared with ``no`` or
# ``007``. What a text stands for is decided by the argument, and where it is compared with values of a column, by its
# type.


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
    kind: str, arguments: Mapping[str, object], type_name: str | None
) -> dict[str, object]:
    """The arguments of an expectation of this kind; ``type_name``: the Spark SQL type of its column, where known.

    Raises:
        ValueError: a text is no value of the column's type.
    """
    return {
        name: value
        if name in TEXTS
        else _converted(value, type_name if name in OF_COLUMN and kind in BY_VALUE else None)
        for name, value in arguments.items()
    }


def _converted(value: object, type_name: str | None) -> object:
    if isinstance(value, Mapping):
        return {str(name): _converted(one, type_name) for name, one in value.items()}
    if isinstance(value, list):
        return [_converted(one, type_name) for one in value]
    if not isinstance(value, str):
        return value
    kind = None if type_name is None else column_type(type_name)
    if isinstance(kind, String):
        return value
    if isinstance(kind, Date | Timestamp):
        return _time(value, kind)
    if isinstance(kind, Boolean) or kind is None:
        found = _WORDS.get(value.lower())
        if found is not None:
            return found
    if _NUMBER.fullmatch(value):
        return int(value) if re.fullmatch(r"[-+]?\d+", value) else float(value)
    if type_name is not None:
        raise ValueError(f"{value!r} is no value of type {type_name}")
    return value


def _time(text: str, kind: Date | Timestamp) -> date | datetime:
    """A date, or a moment, which without a zone is one of UTC."""
    try:
        if isinstance(kind, Date):
            return date.fromisoformat(text)
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is no value of type {kind.name}") from None
    return moment.replace(tzinfo=UTC) if kind.in_utc and not moment.tzinfo else moment


# Great Expectations, imported on first use: the import takes seconds, which a run without need of it does not spend.
# Needed is it for the expectations that feed files declare, and for Data Docs. The built-in rules are counted in the
# passes that write the tables, and judged without it (``rule``).


def import_gx() -> ModuleType:
    """Great Expectations, imported on the first call; from more than one thread, too. It reports to nobody."""
    # Unless somebody has chosen otherwise, it would tell its maker over the network that it is used.
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    with _IMPORTING, _known_main():
        import great_expectations
    return great_expectations


_IMPORTING = threading.Lock()


@contextmanager
def _known_main() -> Iterator[None]:
    """Give the main module a file while Great Expectations is imported, where it has none.

    Importing Great Expectations imports pyspark's connect package. Where ``__main__`` has no ``__file__``, pyspark
    believes it is in a doctest, and exits if an optional package is missing. Runs that Dagster's daemon launches have
    such a ``__main__``.
    """
    main = sys.modules["__main__"]
    if hasattr(main, "__file__"):
        yield
        return
    main.__file__ = "dagster"
    try:
        yield
    finally:
        del main.__file__
