"""Declared expectations: what a feed file's texts become, what is wrong with them, and what is answered."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from expectations import silver, suites
from expectations.feed_rules import as_set, known_rules, silver_rules
from expectations.rule import judge
from expectations.suites import BY_VALUE, ExpectationAnswer, Rows, ask, fault_of, typed_arguments
from transforms.feed.feed import CheckSetting, DeclaredExpectation, Feed
from transforms.formats import FORMATS

# Great Expectations and what it imports use names that Python is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TYPES = {
    "id": "bigint",
    "name": "string",
    "price": "decimal(10,2)",
    "day": "date",
    "at": "timestamp",
    "ok": "boolean",
}
FRAME = pd.DataFrame(
    {
        "id": pd.array([1, 2, 3, 9_007_199_254_740_993], dtype=pd.Int64Dtype()),
        "name": ["no", "yes", "007", None],
        "price": [Decimal("1.10"), Decimal("2.20"), Decimal("-3.00"), None],
        "day": [date(2025, 11, 19), date(2025, 11, 20), None, date(2025, 11, 21)],
        "at": pd.to_datetime(
            ["2025-11-19 22:00", "2025-11-20 00:00", None, "2025-11-21 00:00"], utc=True
        ),
        "ok": pd.array([True, False, None, True], dtype=pd.BooleanDtype()),
    }
)


def expectation(
    kind: str, column: str | None = None, /, severity: str = "warn", **arguments: object
) -> DeclaredExpectation:
    return DeclaredExpectation(kind, kind, column, arguments, severity, "expectations")  # type: ignore[arg-type]


def answer(one: DeclaredExpectation) -> ExpectationAnswer:
    assert fault_of(one, TYPES) is None
    (found,), _ = ask("zoo", [one], Rows(FRAME, False, TYPES, ["id"]))
    assert found.error is None
    return found


CASES: Mapping[str, tuple[DeclaredExpectation, DeclaredExpectation, list[object]]] = {
    "texts stay texts": (
        expectation("expect_column_values_to_be_in_set", "name", value_set=["no", "yes", "007"]),
        expectation("expect_column_values_to_be_in_set", "name", value_set=["no", "yes", "7"]),
        ["007"],
    ),
    "nulls": (
        expectation("expect_column_values_to_not_be_null", "id"),
        expectation("expect_column_values_to_not_be_null", "name"),
        [None],
    ),
    "a part may break it": (
        expectation("expect_column_values_to_not_be_null", "name", mostly="0.75"),
        expectation("expect_column_values_to_not_be_null", "name", mostly="0.8"),
        [None],
    ),
    "decimals": (
        expectation("expect_column_values_to_be_between", "price", min_value="-3.00"),
        expectation("expect_column_values_to_be_between", "price", min_value="0"),
        [-3.0],
    ),
    "dates": (
        expectation("expect_column_values_to_be_between", "day", min_value="2025-11-19"),
        expectation("expect_column_values_to_be_between", "day", min_value="2025-11-20"),
        ["2025-11-19"],
    ),
    "moments": (
        expectation("expect_column_values_to_be_between", "at", min_value="2025-11-19T22:00:00Z"),
        expectation("expect_column_values_to_be_between", "at", min_value="2025-11-19T23:00:00Z"),
        ["2025-11-19T22:00:00+00:00"],
    ),
    "a regex of digits": (
        expectation("expect_column_values_to_match_regex", "name", regex="o|s|7"),
        expectation("expect_column_values_to_match_regex", "name", regex="7"),
        ["no", "yes"],
    ),
    "lengths": (
        expectation("expect_column_value_lengths_to_be_between", "name", min_value="2"),
        expectation("expect_column_value_lengths_to_be_between", "name", min_value="3"),
        ["no"],
    ),
    "booleans": (
        expectation("expect_column_values_to_be_in_set", "ok", value_set=["true", "false"]),
        expectation("expect_column_values_to_be_in_set", "ok", value_set=["true"]),
        [False],
    ),
    "a condition": (
        expectation(
            "expect_column_values_to_be_between",
            "price",
            min_value="0",
            row_condition='col("id") < 3',
        ),
        expectation(
            "expect_column_values_to_be_between",
            "price",
            min_value="0",
            row_condition='col("id") < 4',
        ),
        [-3.0],
    ),
    "a condition on a boolean": (
        expectation(
            *("expect_column_values_to_not_be_null", "price"), row_condition='col("ok") == false'
        ),
        expectation(
            *("expect_column_values_to_not_be_null", "price"), row_condition='col("ok") == "true"'
        ),
        [None],
    ),
    "a condition on a number in quotes": (
        expectation(
            *("expect_column_values_to_not_be_null", "name"), row_condition='col("id") < "4"'
        ),
        expectation(
            *("expect_column_values_to_not_be_null", "name"), row_condition='col("id") >= "3"'
        ),
        [None],
    ),
    "a condition on a text without quotes": (
        expectation(
            *("expect_column_values_to_not_be_null", "day"), row_condition='col("name") == no'
        ),
        expectation(
            *("expect_column_values_to_not_be_null", "day"), row_condition='col("name") == 007'
        ),
        [None],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_expectation_passes_and_fails_with_samples_and_their_keys(case: str) -> None:
    holds, broken, values = CASES[case]
    assert answer(holds).passed
    found = answer(broken)
    assert not found.passed
    assert found.broken == len(values)
    assert [one.get(broken.column or "") for one in found.samples] == values
    assert all(one["id"] is not None for one in found.samples)


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ('col("id") < 3 and col("ok") == true', "Expected is one comparison of one column"),
        ("NOT ok", "Expected is one comparison of one column"),
        ('col("ok") == "no"', "'no' is no value of type boolean"),
        ('col("id") == "Ada"', "'Ada' is no value of type bigint"),
        ('col("day") < "yesterday"', "'yesterday' is no value of type date"),
        ('col("_weir_event_id") == Ada', "put a text in quotes"),
    ],
)
def test_a_condition_that_would_find_no_row_is_refused(condition: str, says: str) -> None:
    fault = fault_of(
        expectation("expect_column_values_to_not_be_null", "name", row_condition=condition), TYPES
    )
    assert fault is not None
    assert says in fault.said


def test_whole_numbers_beyond_floating_ones_are_shown_as_they_are() -> None:
    found = answer(expectation("expect_column_values_to_be_between", "id", max_value="3"))
    assert [one["id"] for one in found.samples] == [9_007_199_254_740_993]


def test_an_expectation_of_the_table_says_what_it_found() -> None:
    found = answer(expectation("expect_table_row_count_to_be_between", min_value="5"))
    assert (found.passed, found.observed, found.samples) == (False, "4", [])


def test_what_cannot_be_asked_is_no_pass_and_says_why() -> None:
    one = expectation("expect_column_values_to_be_between", "colour", min_value="1")
    (found,), _ = ask("zoo", [one], Rows(FRAME, False, TYPES, ["id"]))
    assert not found.passed
    assert "colour" in str(found.error)


FAULTS: Mapping[str, DeclaredExpectation] = {
    "did you mean expect_column_values_to_be_unique": expectation(
        "expect_column_values_to_be_uniqe", "id"
    ),
    "has no argument min_vlue; did you mean min_value": expectation(
        "expect_column_values_to_be_between", "id", min_vlue="3"
    ),
    "cannot both be None": expectation("expect_column_values_to_be_between", "id"),
    "needs the argument column": expectation("expect_column_values_to_not_be_null"),
    "'three' is no value of type bigint": expectation(
        "expect_column_values_to_be_between", "id", min_value="three"
    ),
    "'soon' is no value of type date": expectation(
        "expect_column_values_to_be_between", "day", min_value="soon"
    ),
    "a database only": expectation(
        "expect_column_values_to_match_like_pattern", "name", like_pattern="a%"
    ),
    "mostly": expectation("expect_column_values_to_not_be_null", "id", mostly="7"),
}


@pytest.mark.parametrize("said", FAULTS)
def test_a_fault_says_what_is_wrong_and_what_was_meant(said: str) -> None:
    fault = fault_of(FAULTS[said], TYPES)
    assert fault is not None
    assert said in fault.said


def test_what_pandas_and_spark_can_answer_is_what_great_expectations_has_for_them() -> None:
    known = suites.known_kinds()
    from great_expectations.expectations import registry

    metrics = registry._registered_metrics

    def engines(kind: str) -> set[str]:
        made = registry.get_expectation_impl(kind)
        needed = [getattr(made, "map_metric", None), *getattr(made, "metric_dependencies", ())]
        found: set[str] | None = None
        for name in filter(None, needed):
            there: set[str] = set()
            for ending in ("", ".condition"):
                there |= {*metrics.get(name + ending, {"providers": {}})["providers"]}
            found = there if found is None else found & there
        return {"PandasExecutionEngine", "SparkDFExecutionEngine"} if found is None else found

    every = {*known, *suites.NEEDS_DATABASE}
    pandas = {kind for kind in every if "PandasExecutionEngine" in engines(kind)}
    spark = {kind for kind in every if "SparkDFExecutionEngine" in engines(kind)}
    # It counts the rows of another table, of the same database.
    other = {"expect_table_row_count_to_equal_other_table"}
    assert not (((every - pandas - spark) | other) ^ suites.NEEDS_DATABASE)
    assert not ((pandas - spark) ^ suites.ONLY_PANDAS)
    assert not ((spark - pandas) ^ suites.ONLY_SPARK)
    assert every >= BY_VALUE


def test_arguments_are_what_their_column_is() -> None:
    kind = "expect_column_values_to_be_between"
    given = {"min_value": "2025-11-20", "strict_min": "true", "mostly": "0.9"}
    assert typed_arguments(kind, given, "date") == {
        "min_value": date(2025, 11, 20),
        "strict_min": True,
        "mostly": 0.9,
    }
    assert typed_arguments(kind, {"min_value": "2025-11-20"}, "timestamp") == {
        "min_value": datetime(2025, 11, 20, tzinfo=UTC)
    }


NOTHING = {rule.name: 0 for rule in silver.COMMON}


def test_a_rule_passes_without_violations_and_fails_with_one() -> None:
    results = {one.rule.name: one for one in judge(silver.COMMON, NOTHING | {"no_event_twice": 1})}
    assert [name for name, one in results.items() if not one.passed] == ["no_event_twice"]
    assert results["no_event_twice"].violations == 1


@pytest.mark.parametrize(("found", "passes"), [(0, True), (3, True), (4, False)])
def test_so_many_violations_as_the_feed_lets_pass_still_pass(found: int, passes: bool) -> None:
    rules = as_set([silver.NOTHING_QUARANTINED], {"nothing_quarantined": CheckSetting(at_most=3)})
    (one,) = judge(rules, {"nothing_quarantined": found})
    assert one.passed is passes
    assert one.rule.severity == "warning"


@pytest.mark.parametrize(
    ("severity", "found"),
    [("block", "blocking"), ("fail", "failing"), ("warn", "warning"), (None, "failing")],
)
def test_a_feed_sets_a_rules_severity(severity: str | None, found: str) -> None:
    setting = CheckSetting(severity)  # type: ignore[arg-type]
    (one,) = as_set([silver.MOST_EVENTS_ARE_IN_TIME], {"most_events_are_in_time": setting})
    assert one.severity == found


def test_a_rule_that_is_off_is_not_judged_and_freshness_only_where_it_is_declared() -> None:
    feed = Feed("zoo", "arcion_s3_json", "/landing")
    names = [rule.name for rule in silver_rules(feed)]
    assert "no_event_twice" in names
    assert "is_fresh" not in names
    settings = {
        "no_event_twice": CheckSetting("off"),
        "is_fresh": CheckSetting(within=timedelta(hours=2)),
    }
    changed = [rule.name for rule in silver_rules(replace(feed, checks=settings))]
    assert "no_event_twice" not in changed
    assert "is_fresh" in changed


def test_names_of_rules_are_told_apart_in_every_format() -> None:
    """One name is one key of ``checks`` in a feed file."""
    for name in FORMATS:
        known = known_rules(name)
        assert {*NOTHING} <= {*known}
        assert len({rule.says for rule in known.values()}) == len(known)


def test_threads_may_import_it_side_by_side_where_the_main_module_has_no_file(root: Path) -> None:
    """A command's first Spark jobs run while a thread imports it; an exit in a thread would go unseen.

    A run that Dagster's daemon launches has no main file, and pyspark would end it as a skipped doctest.
    """
    script = (
        "from threading import Thread\n"
        "from expectations import suites\n"
        "got = []\n"
        "threads = [Thread(target=lambda: got.append(suites.import_gx().__name__)) for _ in range(3)]\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join() for thread in threads]\n"
        "print(*got)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["great_expectations"] * 3, done.stderr[-1000:]


def test_what_judges_built_in_rules_and_reads_feed_files_does_not_import_it(root: Path) -> None:
    """The import takes seconds, and most runs have no need of it."""
    script = (
        "import sys\n"
        "import orchestration.definitions, orchestration.cli.run, assets.quality.checks\n"
        "from orchestration.feeds.load import load_feeds\n"
        "from pathlib import Path\n"
        "load_feeds(Path('feeds'))\n"
        "print('great_expectations' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "False", done.stderr[-1000:]
