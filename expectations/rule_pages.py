"""The built-in rules as Great Expectations' pages show them: as an expectation of their own kind.

Put here how a rule is rendered in Data Docs. Not here: the stored form of its result (``validation_results``).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from expectations import gx


@cache
def know_rules() -> None:
    """Make Great Expectations know ``expect_rule_to_hold``, which the results of built-in rules are stored as.

    Defining the class registers it, by its name; that is done here, because the base class takes seconds to import.
    """
    gx.import_gx()
    from great_expectations.expectations.expectation import BatchExpectation
    from great_expectations.render.components import (
        CollapseContent,
        LegacyDiagnosticRendererType,
        RenderedTableContent,
    )
    from great_expectations.render.renderer.renderer import renderer

    class ExpectRuleToHold(BatchExpectation):
        """A rule of Weir's own, which a run has counted in the pass that wrote the table."""

        rule: str
        at_most: int = 0

        def _validate(self, *_: Any, **__: Any) -> Any:
            # Great Expectations takes a class without it as an abstract one.
            raise NotImplementedError("a run has counted it")

        @classmethod
        @renderer(renderer_type=LegacyDiagnosticRendererType.UNEXPECTED_TABLE)
        def _diagnostic_unexpected_table_renderer(
            cls, configuration: Any = None, result: Any = None, runtime_configuration: Any = None
        ) -> list[RenderedTableContent | CollapseContent] | None:
            lines = result.result.get("found") if result else None
            if not lines:
                return None
            return [
                RenderedTableContent(
                    content_block_type="table",
                    table=[[line.removeprefix("- ")] for line in lines],
                    header_row=["Found"],
                    styling={"body": {"classes": ["table-bordered", "table-sm", "mt-3"]}},
                )
            ]
