"""What checks found, in the form in which Great Expectations stores results, so that its Data Docs show it.

The form is plain JSON: to write it nothing has to be imported. Put here how results of built-in rules and answers of
Great Expectations become one stored result. Not here: where it lies (``assets/quality``), and showing it
(``data_docs``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from expectations.rule import RuleResult
from transforms.display import Markdown, bullet_texts

RULE: Final = "expect_rule_to_hold"
"""What a built-in rule is called among expectations (``data_docs``)."""

VERSION: Final = "1.24.1"
"""The release of Great Expectations whose form this is."""

_SEVERITIES: Final = {"blocking": "critical", "failing": "critical", "warning": "warning"}


@dataclass(frozen=True, slots=True)
class ResultPlace:
    """Which result it is: of a table's checks (``gold.shop.orders``), in a run over these windows, at this moment."""

    suite: str
    windows: str
    at: datetime

    @property
    def path(self) -> str:
        """Where Great Expectations looks for it: below its folder of results, or, as a page, of Data Docs."""
        moment = f"{self.at:%Y%m%dT%H%M%S.%fZ}"
        return "/".join([*self.suite.split("."), self.windows, moment, self.suite])


def rule_in_json(found: RuleResult, seen: Markdown | None) -> dict[str, Any]:
    """The result of a built-in rule; ``seen``: what a reader wants to see first.

    Kept of it is the first paragraph, a line each; what follows are tables and blocks, which Data Docs would not draw.
    """
    rule = found.rule
    return {
        "success": found.passed,
        "expectation_config": {
            "type": RULE,
            "kwargs": {"rule": rule.name, "at_most": rule.at_most},
            "meta": {"check": rule.name},
            "description": f"{rule.name}: {rule.says}",
            "severity": _SEVERITIES[rule.severity],
        },
        "result": {
            "observed_value": found.violations,
            **({"found": bullet_texts(seen)} if seen and not found.passed else {}),
        },
        "meta": {},
        "exception_info": {
            "raised_exception": False,
            "exception_traceback": None,
            "exception_message": None,
        },
    }


def result_in_json(place: ResultPlace, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One stored result of all checks of a table."""
    passed = sum(bool(one["success"]) for one in results)
    moment = place.at.isoformat()
    return {
        "success": passed == len(results),
        "results": [*results],
        "suite_name": place.suite,
        "suite_parameters": {},
        "statistics": {
            "evaluated_expectations": len(results),
            "successful_expectations": passed,
            "unsuccessful_expectations": len(results) - passed,
            "success_percent": 100 * passed / len(results) if results else None,
        },
        "meta": {
            "great_expectations_version": VERSION,
            "batch_spec": {"data_asset_name": place.suite},
            "active_batch_definition": {
                "datasource_name": "weir",
                "data_connector_name": "fluent",
                "data_asset_name": place.suite,
                "batch_identifiers": {"windows": place.windows},
            },
            "run_id": {"run_name": place.windows, "run_time": moment},
            "validation_time": moment,
        },
        "id": None,
    }
