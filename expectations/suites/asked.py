"""A suite of expectations, asked of a table's rows: a frame of pandas, or of Spark.

Put here how Great Expectations is run and what it answers. Not here: reading the rows (``assets/quality``), and what an
expectation is made of (``declared``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from expectations import gx
from expectations.suites.declared import expectation_of
from transforms.feed.checks import DeclaredExpectation

SAMPLES: Final = 20
"""So many of the rows that break an expectation are shown."""


@dataclass(frozen=True, slots=True)
class Answer:
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
) -> tuple[list[Answer], list[dict[str, Any]]]:
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
    module = gx.import_gx()
    context = module.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    # Great Expectations would persist a frame of Spark, and never free it.
    source = (
        context.data_sources.add_spark(name="weir", persist=False)
        if rows.is_spark
        else context.data_sources.add_pandas(name="weir")
    )
    batch = source.add_dataframe_asset(name=suite).add_batch_definition_whole_dataframe("rows")
    made = context.suites.add(module.ExpectationSuite(name=suite))
    for one in expectations:
        made.add_expectation(expectation_of(one, rows.types))
    validation = module.ValidationDefinition(name=suite, data=batch, suite=made)
    result = context.validation_definitions.add(validation).run(
        batch_parameters={"dataframe": rows.frame},
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


def _answer(declared: DeclaredExpectation, outcome: Mapping[str, Any]) -> Answer:
    result, config = outcome["result"], outcome["expectation_config"]
    return Answer(
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
