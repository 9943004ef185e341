"""A rule is a truth with a name; a result is what a run found of it.

Put here what every rule has in common. Not here: which rules there are (``silver``, ``gold``, ``tigergraph``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["blocking", "failing", "warning"]
"""What follows from a violation.

``blocking``: nothing downstream starts. ``failing``: the run ends with 1. ``warning``: the run only reports it.
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """One truth. ``says``: the truth as a sentence. ``remedy``: what to do where it does not hold."""

    name: str
    severity: Severity
    says: str
    remedy: str


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What a run found: ``violations`` is how many rows or events broke the rule."""

    rule: Rule
    violations: int
    passed: bool
