"""A rule is a truth with a name; a result is what a run found of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["blocking", "failing", "warning"]
"""What follows from a violation: what is downstream does not start; the run ends with 1; or it is only told."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One truth. ``says`` is what holds when it holds; ``remedy`` is what to do when it does not."""

    name: str
    severity: Severity
    says: str
    remedy: str


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What a run found: how many rows or events broke the rule."""

    rule: Rule
    violations: int
    passed: bool
