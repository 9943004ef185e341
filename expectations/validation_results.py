"""What the checks of a table found in a run, as plain JSON: it is kept without importing Great Expectations.

Its Data Docs are made of it later (``data_docs``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from expectations.rule import RuleResult
from transforms.display import Markdown, bullet_texts


@dataclass(frozen=True, slots=True)
class ResultPlace:
    """Which result it is: of a table's checks (``gold.shop.orders``), in a run over these windows, at this moment."""

    suite: str
    windows: str
    at: datetime

    @property
    def path(self) -> str:
        """Where it is below the folder of results, and where its page is below those of Great Expectations."""
        moment = f"{self.at:%Y%m%dT%H%M%S.%fZ}"
        return "/".join([*self.suite.split("."), self.windows, moment, self.suite])


def rule_in_json(found: RuleResult, seen: Markdown | None) -> dict[str, Any]:
    """What was counted of a built-in rule; ``seen``: what a reader wants to see first.

    Kept of it is the first paragraph, a line each; what follows are tables and blocks, which Data Docs would not draw.
    """
    rule = found.rule
    return {
        "rule": rule.name,
        "says": rule.says,
        "severity": rule.severity,
        "violations": found.violations,
        "at_most": rule.at_most,
        "found": bullet_texts(seen) if seen and not found.passed else [],
    }


def result_in_json(place: ResultPlace, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """All checks of a table: the counts of built-in rules, and Great Expectations' answers to what was declared."""
    return {
        "suite": place.suite,
        "windows": place.windows,
        "at": place.at.isoformat(),
        "results": [*results],
    }
