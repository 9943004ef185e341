"""How a feed is run and watched: ``automation``, ``freshness`` and ``checks`` of a feed file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from expectations.feed_rules import known_rules
from expectations.rule import Rule
from expectations.silver import IS_FRESH
from orchestration.feeds.faults import Misdeclared
from orchestration.feeds.policies import length_from
from transforms.feed.feed import Automation, CheckSetting, CheckSeverity, Freshness
from transforms.silver.schema_drift import did_you_mean

_Switch = Literal["on", "off"]

_LENGTH = re.compile(r"(\d{1,4})([sm])", re.ASCII)
_SECONDS = {"s": 1, "m": 60}

LEAST, MOST = 5, 3600
"""Seconds between two looks: a daemon looks no more often, and within an hour a window has ended."""


class DeclaredAutomation(BaseModel):
    """A feed file's ``automation``."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    schedule: _Switch = "off"
    """The schedule that runs a window once it has ended."""
    sensor: _Switch = "off"
    """The sensor that looks for new drops."""
    compaction: _Switch = "off"
    """The schedule of compaction."""
    look_every: str = "30s"
    """So long lies between two looks of the sensor, from `5s` to `60m`."""


def automation_from(declared: DeclaredAutomation, misdeclared: Misdeclared) -> Automation:
    """Which are on, and how often the sensor looks.

    Raises:
        FeedMisdeclared: that is no length of time, or one that is too short or too long.
    """
    found = _LENGTH.fullmatch(declared.look_every)
    seconds = int(found[1]) * _SECONDS[found[2]] if found else 0
    if not LEAST <= seconds <= MOST:
        fault = f"{declared.look_every!r} is no length of time from 5s to 60m"
        raise misdeclared("automation.look_every", fault)
    return Automation(
        schedule=declared.schedule == "on",
        sensor=declared.sensor == "on",
        compaction=declared.compaction == "on",
        look_every=seconds,
    )


# ``freshness`` of a feed file: how long after its last run a feed's tables count as late.


class DeclaredFreshness(BaseModel):
    """A feed file's ``freshness``."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    fail: str
    """So long after their last run the tables are late: ``6h``."""
    warn: str | None = None
    """So long after it they are nearly late, as the UI shows."""


def freshness_from(
    declared: DeclaredFreshness | None, misdeclared: Misdeclared
) -> Freshness | None:
    """The two lengths of time.

    Raises:
        FeedMisdeclared: one of them is none, or the warning comes no earlier than the failure.
    """
    if declared is None:
        return None
    fail = _freshness_length("fail", declared.fail, misdeclared)
    warn = None if declared.warn is None else _freshness_length("warn", declared.warn, misdeclared)
    if warn is not None and warn >= fail:
        fault = f"{declared.warn!r} is no shorter than fail, {declared.fail}: a warning comes first"
        raise misdeclared("freshness.warn", fault)
    return Freshness(fail, warn)


def _freshness_length(key: str, text: str, misdeclared: Misdeclared) -> timedelta:
    length = length_from(text)
    if not length:
        raise misdeclared(f"freshness.{key}", f"{text!r} is no length of time: write 6h or 2d")
    return length


# ``checks`` of a feed file: how severe each built-in rule is for the feed, and how much it lets pass.


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
            fault = f"is no built-in check{did_you_mean(name, known)}"
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
