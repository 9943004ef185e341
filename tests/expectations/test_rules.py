"""Built-in rules: judged by their counts, as a feed file sets them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from expectations import silver
from expectations.feed_rules import as_set, known_rules, silver_rules
from expectations.rule import judge
from transforms.feed.feed import CheckSetting, Feed
from transforms.formats import FORMATS

NOTHING = {rule.name: 0 for rule in silver.COMMON}


def test_a_rule_passes_without_violations_and_fails_with_one() -> None:
    results = {one.rule.name: one for one in judge(silver.COMMON, NOTHING | {"no_event_twice": 1})}
    assert [name for name, one in results.items() if not one.passed] == ["no_event_twice"]
    assert results["no_event_twice"].violations == 1


def test_a_rule_that_was_not_counted_is_no_pass() -> None:
    with pytest.raises(KeyError, match="accounting_is_exact"):
        judge(silver.COMMON, {})


@pytest.mark.parametrize(("found", "passes"), [(0, True), (3, True), (4, False)])
def test_so_many_violations_as_the_feed_lets_pass_still_pass(found: int, passes: bool) -> None:
    rules = as_set([silver.NOTHING_QUARANTINED], {"nothing_quarantined": CheckSetting(at_most=3)})
    (one,) = judge(rules, {"nothing_quarantined": found})
    assert one.passed is passes
    assert one.rule.severity == "warning"


@pytest.mark.parametrize(
    ("severity", "found"),
    [("block", "blocking"), ("fail", "failing"), ("warn", "warning"), (None, "failing")],
)
def test_a_feed_sets_a_rules_severity(severity: str | None, found: str) -> None:
    setting = CheckSetting(severity)  # type: ignore[arg-type]
    (one,) = as_set([silver.MOST_EVENTS_ARE_IN_TIME], {"most_events_are_in_time": setting})
    assert one.severity == found


def test_a_rule_that_is_off_is_not_judged_and_freshness_only_where_it_is_declared() -> None:
    feed = Feed("zoo", "arcion_s3_json", "/landing")
    names = [rule.name for rule in silver_rules(feed)]
    assert "no_event_twice" in names
    assert "is_fresh" not in names
    settings = {
        "no_event_twice": CheckSetting("off"),
        "is_fresh": CheckSetting(within=timedelta(hours=2)),
    }
    changed = [rule.name for rule in silver_rules(replace(feed, checks=settings))]
    assert "no_event_twice" not in changed
    assert "is_fresh" in changed


def test_names_of_rules_are_told_apart_in_every_format() -> None:
    """One name is one key of ``checks`` in a feed file."""
    for name in FORMATS:
        known = known_rules(name)
        assert {*NOTHING} <= {*known}
        assert len({rule.says for rule in known.values()}) == len(known)
