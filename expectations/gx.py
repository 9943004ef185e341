"""Great Expectations judges the counted violations: the only module that imports it.

The counting itself happens in the pass that writes a table, so a suite costs no Spark job: Great Expectations sees one
row, with a column per rule. The import takes seconds, which is why it happens on first use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from expectations.rule import Rule, Verdict

_SEVERITY = {"blocking": "critical", "warning": "warning"}


def judge(suite_name: str, rules: Sequence[Rule], violations: Mapping[str, int]) -> list[Verdict]:
    """One verdict per rule. A rule whose violations were not counted is a ``KeyError``: silence is no pass."""
    import great_expectations as gx
    import great_expectations.expectations as gxe

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    batch = (
        context.data_sources.add_pandas(name="counted")
        .add_dataframe_asset(name=suite_name)
        .add_batch_definition_whole_dataframe("violations")
    )
    suite = context.suites.add(
        gx.ExpectationSuite(
            name=suite_name,
            expectations=[
                gxe.ExpectColumnMaxToBeBetween(
                    column=rule.name, max_value=0, severity=_SEVERITY[rule.severity], notes=rule.says
                )
                for rule in rules
            ],
        )
    )
    definition = context.validation_definitions.add(gx.ValidationDefinition(name=suite_name, data=batch, suite=suite))
    counted = pd.DataFrame({rule.name: [violations[rule.name]] for rule in rules})
    result = definition.run(batch_parameters={"dataframe": counted})
    passed = {row.expectation_config.kwargs["column"]: bool(row.success) for row in result.results}
    return [Verdict(rule, violations[rule.name], passed[rule.name]) for rule in rules]
