"""The checks of a feed's source: shown on its landing, and judged by one look."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import dagster as dg

from assets.feed_assets import feed_key
from assets.quality.checks import results_of_rules, specs_of_rules
from expectations.feed_rules import source_rules
from expectations.rule import Rule
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
    says = {name: bullets(one.says for one in some) for name, some in of_rule.items()}
    judged = [_as_bad_as(rule, of_rule[rule.name]) for rule in rules]
    yield from results_of_rules(feed_key("landing", feed).path, judged, counts, (), says)


def _as_bad_as(rule: Rule, found: Sequence[Finding]) -> Rule:
    if CONCERNS["limit"].name == rule.name and any(one.level == "failing" for one in found):
        return replace(rule, severity="failing")
    return rule
