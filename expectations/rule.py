"""A rule is a truth with a name; a result is what a run found of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Severity = Literal["blocking", "failing", "warning"]
"""What follows from a violation.

``blocking``: nothing downstream starts. ``failing``: the run ends with 1. ``warning``: the run only reports it.
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """One truth.

    ``says``: the truth as a sentence. ``remedy``: what to do where it does not hold. ``at_most``: so many violations
    still pass. ``is_fixed``: no feed file may set it, for what breaks it makes the tables wrong. ``is_asked``: it is
    judged without being declared; the others are off until a feed file sets them.
    """

    name: str
    severity: Severity
    says: str
    remedy: str
    at_most: int = 0
    is_fixed: bool = False
    is_asked: bool = True


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What a run found: ``violations`` is how many rows or events broke the rule."""

    rule: Rule
    violations: int

    @property
    def passed(self) -> bool:
        """Whether there are no more violations than the rule lets pass."""
        return self.violations <= self.rule.at_most


def judge(rules: Sequence[Rule], violations: Mapping[str, int]) -> list[RuleResult]:
    """One result per rule. A rule whose violations were not counted is a ``KeyError``: silence is no pass."""
    return [RuleResult(rule, violations[rule.name]) for rule in rules]
