"""The checks of a gold table: the built-in rules, and the expectations that the feed file declares of it.

Put here which checks a gold table has, and when they are judged and kept. Not here: counting what breaks a rule
(``apply_reports``), and asking Great Expectations (``assets/quality``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import dagster as dg

from assets import checks
from assets.asset_keys import gold_key
from assets.gold import gold_tables
from assets.gold.applied import Applied
from assets.gold.apply.apply_feed import TableResult
from assets.gold.apply_reports import samples_of, violations_of
from assets.lake import Lake
from assets.quality import declared_checks, kept_results
from expectations.feed_rules import gold_rules
from expectations.gold import EVERY_TABLE_IS_MADE
from expectations.rule import Rule, judge
from expectations.validation_results import rule_in_json
from transforms.feed.feed import Feed, Table


def check_specs(feed: Feed, table: Table) -> list[dg.AssetCheckSpec]:
    """The built-in checks of a declared table, and those that the feed file adds."""
    key = gold_key(feed, table.name)
    suite = declared_checks.suite_of(feed, "gold", table.name)
    return [
        *checks.specs(key.path, gold_rules(feed)),
        *declared_checks.specs_of_suite(key, suite),
    ]


def described_specs(feed: Feed, tables: Iterable[Table]) -> list[dg.AssetCheckSpec]:
    """The built-in checks of tables that only the stream describes and that are nodes of their own."""
    rules = rules_of_described(feed)
    return [one for table in tables for one in checks.specs(gold_key(feed, table.name).path, rules)]


def rules_of_described(feed: Feed) -> list[Rule]:
    """The rules of such a table; that every table is made is asked of their catch-all asset."""
    return [rule for rule in gold_rules(feed) if rule.name != EVERY_TABLE_IS_MADE.name]


def described_checked(
    lake: Lake, feed: Feed, name: str, done: Applied, windows: Sequence[str]
) -> list[dg.AssetCheckResult]:
    """The results of such a table's checks, kept where the run has something new of it; ``name``: the source's."""
    path, rules = gold_key(feed, name).path, rules_of_described(feed)
    found = checks.Counted(rules, violations_of(done), samples_of(done))
    passed = all(one.passed for one in judge(rules, found.violations))
    if done.keys or done.rebuilt or not passed:
        return checks.kept_counts(lake, feed, path, found, windows)
    return [*checks.results(path, rules, found.violations, windows)]


def checked(
    lake: Lake,
    feed: Feed,
    one: TableResult,
    windows: Sequence[str],
    selected: Collection[dg.AssetCheckKey],
) -> list[dg.AssetCheckResult]:
    """The results of those of the table's checks that the step selects, kept where the run has something new.

    What is asked of gold is asked after the apply, and only where the table has changed since it was asked before.
    """
    key, rules = gold_key(feed, one.table.name), gold_rules(feed)
    violations, samples = violations_of(one.done), samples_of(one.done)
    counted = list(checks.results(key.path, rules, violations, windows, samples))
    suite = declared_checks.suite_of(feed, "gold", one.table.name)
    asked, names = None, []
    if suite is not None and any(
        dg.AssetCheckKey(key, expectation.check) in selected for expectation in suite.expectations
    ):
        names = [*gold_tables.by_declared(lake, feed, None).get(one.table.name, {})]
        asked = declared_checks.ask_gold(lake, feed, suite, one.table, names)
    is_new = bool(one.done.keys or one.done.rebuilt or (asked and asked.results))
    if is_new or not all(result.passed for result in counted):
        place = kept_results.place_of(key.path, windows)
        stored = [
            rule_in_json(rule, samples.get(rule.rule.name)) for rule in judge(rules, violations)
        ]
        page = kept_results.keep(lake, feed, place, [*stored, *(asked.results if asked else ())])
        counted = list(kept_results.linked(counted, page))
        if asked and asked.page is None:
            declared_checks.remember(lake, feed, asked, names, page)
    else:
        page = ""
    found = counted
    if asked is not None:
        declared = declared_checks.results_of_suite(key, asked)
        found += kept_results.linked(declared, asked.page or page)
    return [one for one in found if dg.AssetCheckKey(key, one.check_name or "") in selected]
