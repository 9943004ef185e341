"""The checks of silver: the built-in rules, and the expectations that the feed file declares of its changes.

Put here which checks silver has, and how they are judged and kept. Not here: counting what breaks a rule
(``violations``), and asking Great Expectations (``assets/quality``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from assets import checks
from assets.asset_keys import feed_key
from assets.lake import Lake
from assets.quality import declared_checks, kept_results, pages
from assets.silver.derive_windows import Derived
from expectations.feed_rules import silver_rules
from expectations.rule import judge
from expectations.validation_results import rule_in_json
from transforms.feed.feed import Feed


def silver_check_specs(feed: Feed) -> list[dg.AssetCheckSpec]:
    """The built-in checks of the feed's silver, and those that its file adds."""
    key = feed_key("silver", feed)
    suite = declared_checks.suite_of(feed, "silver")
    return [
        *checks.specs(key.path, silver_rules(feed)),
        *declared_checks.specs_of_suite(key, suite),
    ]


def silver_checked(
    lake: Lake, feed: Feed, made: Derived, windows: Sequence[str]
) -> list[dg.AssetCheckResult]:
    """The results of silver's checks over these windows, kept in the warehouse."""
    key, rules = feed_key("silver", feed), silver_rules(feed)
    found = list(checks.results(key.path, rules, made.violations, windows, made.samples))
    stored: list[Mapping[str, Any]] = [
        rule_in_json(rule, made.samples.get(rule.rule.name))
        for rule in judge(rules, made.violations)
    ]
    suite = declared_checks.suite_of(feed, "silver")
    if suite is not None:
        asked = declared_checks.ask_silver(lake, feed, suite, windows)
        stored += asked.results
        found += declared_checks.results_of_suite(key, asked)
    page = kept_results.keep(lake, feed, kept_results.place_of(key.path, windows), stored)
    if suite is not None:
        pages.build_pages_of(lake, feed)
    return list(kept_results.linked(found, page))
