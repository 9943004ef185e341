"""How a feed is run and watched: ``automation``, ``freshness``, ``health``, ``checks``, and what pages say of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from assets.storage.leases import is_on_store
from expectations.feed_rules import known_rules
from expectations.rule import Rule
from expectations.silver import IS_FRESH
from orchestration.feeds.faults import InvalidKey, below
from orchestration.feeds.health import health_from, source_from
from orchestration.feeds.keys import (
    DeclaredAutomation,
    DeclaredCheck,
    DeclaredFeed,
    DeclaredFreshness,
    DeclaredTable,
)
from orchestration.feeds.lengths_of_time import length_of
from orchestration.feeds.policies import check_window
from transforms.feed.feed import Automation, CheckSetting, Described, Freshness, Running
from transforms.near_names import did_you_mean

_OWNER: Final = re.compile(r"[^@\s:]+@[^@\s]+\.[^@\s]+|team:[A-Za-z0-9_-]+")
_TAG: Final = re.compile(r"[A-Za-z0-9_.-]{1,63}")
_LOOK: Final = re.compile(r"(\d{1,4})([sm])", re.ASCII)
_SECONDS: Final = {"s": 1, "m": 60}
_WHOLE: Final = re.compile(r"\d{1,15}")

LEAST, MOST = 1, 3600
"""Seconds between two looks: a daemon looks no more often, and within an hour a window has ended."""


def running_from(declared: DeclaredFeed) -> Running:
    """How the feed is run and watched."""
    if declared.start is not None:
        check_window("start", declared.start, declared.window)
    for owner in declared.owners:
        if not _OWNER.fullmatch(owner):
            raise InvalidKey("owners", f"{owner!r} is neither a mail address nor team:<name>")
    for name, value in declared.tags.items():
        for text in (name, value):
            if not _TAG.fullmatch(text):
                fault = f"{text!r} is more than 63 letters, digits and any of _ . -"
                raise InvalidKey(f"tags.{name}", fault)
    return Running(
        start=declared.start,
        description=declared.description,
        owners=tuple(declared.owners),
        tags=declared.tags,
        freshness=_freshness(declared.freshness) if declared.freshness else None,
        automation=_automation(declared.automation, declared.landing),
        tables=_described(declared.tables),
        health=health_from(declared),
        source=source_from(declared.source),
    )


def _automation(declared: DeclaredAutomation, landing: str) -> Automation:
    # A look at a bucket costs money.
    usual = "30s" if is_on_store(landing) else "5s"
    written = usual if declared.look_every is None else declared.look_every
    found = _LOOK.fullmatch(written)
    seconds = int(found[1]) * _SECONDS[found[2]] if found else 0
    if not LEAST <= seconds <= MOST:
        fault = f"{written!r} is no length of time from 1s to 60m"
        raise InvalidKey("automation.look_every", fault)
    return Automation(
        schedule=declared.schedule == "on",
        sensor=declared.sensor == "on",
        compaction=declared.compaction == "on",
        health=declared.health == "on",
        reconcile=declared.reconcile == "on",
        look_every=seconds,
    )


def _freshness(declared: DeclaredFreshness) -> Freshness:
    fail = length_of("freshness.fail", declared.fail, "6h or 2d")
    warn = None
    if declared.warn is not None:
        warn = length_of("freshness.warn", declared.warn, "6h or 2d")
    if warn is not None and warn >= fail:
        fault = f"{declared.warn!r} is no shorter than fail, {declared.fail}: a warning comes first"
        raise InvalidKey("freshness.warn", fault)
    return Freshness(fail, warn)


def _described(tables: Mapping[str, DeclaredTable]) -> dict[str, Described]:
    for name, table in tables.items():
        for column in table.descriptions:
            if column not in table.columns:
                key = f"tables.{name}.descriptions.{column}"
                raise InvalidKey(key, "is no column of the table", sorted(table.columns))
    return {
        name: Described(table.description, table.descriptions)
        for name, table in tables.items()
        if table.description or table.descriptions
    }


def settings_from(
    declared: Mapping[str, DeclaredCheck], format_name: str
) -> dict[str, CheckSetting]:
    """``checks`` as settings, by rule: how severe each is for the feed, and how much it lets pass."""
    known = known_rules(format_name)
    found = {}
    for name, one in declared.items():
        if name not in known:
            fault = f"is no built-in check{did_you_mean(name, known)}"
            raise InvalidKey(f"checks.{name}", fault, sorted(known))
        with below("checks"):
            found[name] = _setting(known[name], one)
    return found


def _setting(rule: Rule, one: DeclaredCheck) -> CheckSetting:
    if rule.is_fixed:
        fault = (
            "cannot be set: what breaks this rule would make the tables wrong, so it always blocks"
        )
        raise InvalidKey(rule.name, fault)
    if one.at_most is not None and not _WHOLE.fullmatch(one.at_most):
        raise InvalidKey(f"{rule.name}.at_most", f"{one.at_most!r} is no whole number, such as 10")
    is_age = rule.name == IS_FRESH.name
    if one.within is not None and not is_age:
        raise InvalidKey(f"{rule.name}.within", f"is a key of {IS_FRESH.name} only")
    if is_age and one.at_most is not None:
        raise InvalidKey(f"{rule.name}.at_most", "counts nothing here: write within, such as 2h")
    if is_age and one.within is None and one.severity != "off":
        raise InvalidKey(rule.name, "needs to know how old is too old: write within, such as 2h")
    within = length_of(f"{rule.name}.within", one.within, "2h or 1d") if one.within else None
    return CheckSetting(one.severity, int(one.at_most or 0), within)
