"""``checks`` of a feed file: how severe each built-in rule is for the feed, and how much it lets pass.

Put here what is checked of that section. Not here: which rules there are (``expectations``), and what a feed file adds
to them (``declared_expectations``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from expectations.feed_rules import known_rules
from expectations.rule import Rule
from expectations.silver import IS_FRESH
from orchestration.feeds.faults import nearest
from orchestration.feeds.misdeclared import Misdeclared
from orchestration.feeds.retention import length_from
from transforms.feed.checks import CheckSetting, CheckSeverity

_Text = Annotated[str, Field(min_length=1)]
_WHOLE: Final = re.compile(r"\d{1,15}")


class DeclaredCheck(BaseModel):
    """What the file says of one rule."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    severity: CheckSeverity | None = None
    """What follows where the check does not pass."""
    at_most: _Text | None = None
    """How many violations are let pass."""
    within: _Text | None = None
    """For ``is_fresh`` alone: how old the newest change may be, as ``2h``."""


def settings_from(
    declared: Mapping[str, DeclaredCheck], format_name: str, misdeclared: Misdeclared
) -> dict[str, CheckSetting]:
    """The section as settings, by rule.

    Raises:
        FeedMisdeclared: it names a rule that there is not, or sets one to what it cannot be.
    """
    known = known_rules(format_name)
    found = {}
    for name, one in declared.items():
        if name not in known:
            fault = f"is no built-in check{nearest(name, known)}"
            raise misdeclared(f"checks.{name}", fault, sorted(known))
        found[name] = _setting(known[name], one, misdeclared)
    return found


def _setting(rule: Rule, one: DeclaredCheck, misdeclared: Misdeclared) -> CheckSetting:
    place = f"checks.{rule.name}"
    if rule.is_fixed:
        fault = (
            "cannot be set: what breaks this rule would make the tables wrong, so it always blocks"
        )
        raise misdeclared(place, fault)
    if one.at_most is not None and not _WHOLE.fullmatch(one.at_most):
        fault = f"{one.at_most!r} is no whole number, such as 10"
        raise misdeclared(f"{place}.at_most", fault)
    is_age = rule.name == IS_FRESH.name
    if one.within is not None and not is_age:
        raise misdeclared(f"{place}.within", f"is a key of {IS_FRESH.name} only")
    if is_age and one.at_most is not None:
        raise misdeclared(f"{place}.at_most", "counts nothing here: write within, such as 2h")
    if is_age and one.within is None and one.severity != "off":
        raise misdeclared(place, "needs to know how old is too old: write within, such as 2h")
    within = length_from(one.within) if one.within else None
    if one.within is not None and not within:
        fault = f"{one.within!r} is no length of time: write 2h or 1d"
        raise misdeclared(f"{place}.within", fault)
    return CheckSetting(one.severity, int(one.at_most or 0), within)
