"""The checks of a feed's source: shown on its landing, and judged by one look."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import dagster as dg

from assets.feed_assets import feed_key, markdown_metadata
from assets.quality.checks import advice_for_feed, first_lines, specs_of_rules
from assets.wording import counted
from expectations.feed_rules import source_rules
from expectations.rule import Rule, judge
from expectations.source import CONCERNS
from transforms.display import bullets
from transforms.feed.feed import Feed
from transforms.source_health import Finding


def check_specs(feed: Feed) -> list[dg.AssetCheckSpec]:
    """The checks of the feed's source, behind all else of a run; none where its file says nothing of it."""
    behind = [dg.AssetDep(feed_key("progress", feed))]
    return [
        one._replace(additional_deps=behind)
        for one in specs_of_rules(feed_key("landing", feed).path, source_rules(feed))
    ]


def results(feed: Feed, found: Sequence[Finding]) -> Iterator[dg.AssetCheckResult]:
    """One result per rule. A limit under ``fail`` makes the result an error, whatever the rule's severity is."""
    of_rule: dict[str, list[Finding]] = defaultdict(list)
    for one in found:
        of_rule[CONCERNS[one.concern].name].append(one)
    rules = source_rules(feed)
    counts = {rule.name: len(of_rule[rule.name]) for rule in rules}
    key = feed_key("landing", feed)
    for result in judge([_as_bad_as(rule, of_rule[rule.name]) for rule in rules], counts):
        rule, says = result.rule, bullets(one.says for one in of_rule[result.rule.name])
        yield dg.AssetCheckResult(
            check_name=rule.name,
            asset_key=key,
            passed=result.passed,
            severity=dg.AssetCheckSeverity.WARN
            if rule.severity == "warning"
            else dg.AssetCheckSeverity.ERROR,
            description=rule.says
            if result.passed
            else f"{counted(result.violations, 'time')} not so: {rule.says}\n\n{first_lines(says)}\n\n"
            + advice_for_feed(rule.remedy, key.path),
            metadata={
                "violations": result.violations,
                **({"at_most": rule.at_most} if rule.at_most else {}),
                **({"found": markdown_metadata(says)} if says else {}),
            },
        )


def _as_bad_as(rule: Rule, found: Sequence[Finding]) -> Rule:
    if CONCERNS["limit"].name == rule.name and any(one.level == "failing" for one in found):
        return replace(rule, severity="failing")
    return rule
