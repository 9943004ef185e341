"""Great Expectations judges the counted violations: the only module that imports it.

The counting itself happens in the pass that writes a table, so a suite costs no Spark job: Great Expectations sees one
row, with a column per rule. The import takes seconds, which is why it happens on first use.

Put here everything that has to know Great Expectations. Not here: the rules themselves (``silver``, ``gold``,
``tigergraph``).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType

import pandas as pd

from expectations.rule import Rule, RuleResult


def judge(
    suite_name: str, rules: Sequence[Rule], violations: Mapping[str, int]
) -> list[RuleResult]:
    """One result per rule. A rule whose violations were not counted is a ``KeyError``: silence is no pass."""
    gx = import_gx()
    from great_expectations.expectations.core.expect_column_max_to_be_between import (
        ExpectColumnMaxToBeBetween,
    )
    from great_expectations.expectations.metadata_types import FailureSeverity

    severity = {
        "blocking": FailureSeverity.CRITICAL,
        "failing": FailureSeverity.CRITICAL,
        "warning": FailureSeverity.WARNING,
    }
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    batch = (
        context.data_sources.add_pandas(name="counted")
        .add_dataframe_asset(name=suite_name)
        .add_batch_definition_whole_dataframe("violations")
    )
    suite = context.suites.add(gx.ExpectationSuite(name=suite_name))
    for rule in rules:
        truth = ExpectColumnMaxToBeBetween(
            column=rule.name, max_value=0, severity=severity[rule.severity], notes=rule.says
        )
        suite.add_expectation(truth)
    validation = gx.ValidationDefinition(name=suite_name, data=batch, suite=suite)
    counted = pd.DataFrame({rule.name: [violations[rule.name]] for rule in rules})
    result = context.validation_definitions.add(validation).run(
        batch_parameters={"dataframe": counted}
    )
    passed = {
        row.expectation_config.kwargs["column"]: bool(row.success)
        for row in result.results
        if row.expectation_config
    }
    return [RuleResult(rule, violations[rule.name], passed[rule.name]) for rule in rules]


def import_gx() -> ModuleType:
    """Great Expectations, imported on the first call; from more than one thread, too."""
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
