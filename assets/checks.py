"""Rules as Dagster asset checks: their names and severities, and what a reader of the UI sees.

Put here how a rule, or its result, is shown. Not here: the rules (``expectations``), and counting what breaks them
(``assets/silver/findings``, ``assets/gold/apply_reports``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import dagster as dg

from assets.lake import Lake
from assets.metadata_words import OF_CHECKS
from assets.quality import kept_results
from assets.shown_markdown import as_metadata
from assets.wording import counted
from expectations.rule import Rule, judge
from expectations.validation_results import rule_in_json
from transforms.display.markdown import Markdown
from transforms.feed.feed import Feed


def specs(asset: Sequence[str], rules: Sequence[Rule]) -> list[dg.AssetCheckSpec]:
    """One check per rule. Where a blocking one fails, Dagster does not start the assets downstream."""
    return [
        dg.AssetCheckSpec(
            name=rule.name,
            asset=dg.AssetKey(list(asset)),
            description=f"{rule.says} If not: {of_feed(rule.remedy, asset)}\n\n{OF_CHECKS}",
            blocking=rule.severity == "blocking",
        )
        for rule in rules
    ]


def results(
    asset: Sequence[str],
    rules: Sequence[Rule],
    violations: Mapping[str, int],
    windows: Sequence[str],
    samples: Mapping[str, Markdown] | None = None,
) -> Iterator[dg.AssetCheckResult]:
    """One result per rule, judged by the counted violations.

    A range of windows gets one result, without a partition, so the windows are in the metadata.

    Args:
        asset: the key of the asset that the checks belong to.
        rules: one result each.
        violations: how often each rule is broken, by its name.
        windows: those of the run.
        samples: what a reader wants to see first, by the rule's name.
    """
    for found in judge(rules, violations):
        rule = found.rule
        seen = (samples or {}).get(rule.name)
        yield dg.AssetCheckResult(
            check_name=rule.name,
            asset_key=dg.AssetKey(list(asset)),
            passed=found.passed,
            severity=dg.AssetCheckSeverity.WARN
            if rule.severity == "warning"
            else dg.AssetCheckSeverity.ERROR,
            description=rule.says
            if found.passed
            else (
                f"{counted(found.violations, 'time')} not so: {rule.says}\n"
                # Without the blank lines Markdown has what to do as a part of the list's last point.
                + (f"\n{first_lines(seen)}\n\n" if seen else "")
                + of_feed(rule.remedy, asset)
            ),
            metadata={
                "violations": found.violations,
                **({"at_most": rule.at_most} if rule.at_most else {}),
                "windows": f"{windows[0]} .. {windows[-1]} ({len(windows)})",
                **({"found": as_metadata(seen)} if seen else {}),
            },
        )


@dataclass(frozen=True, slots=True)
class Counted:
    """How often a run breaks each of some rules, by name, and what a reader wants to see of that."""

    rules: Sequence[Rule]
    violations: Mapping[str, int]
    samples: Mapping[str, Markdown]


def kept_counts(
    lake: Lake, feed: Feed, asset: Sequence[str], counted_rules: Counted, windows: Sequence[str]
) -> list[dg.AssetCheckResult]:
    """One result per rule, kept in the warehouse, each with the path of its page; none where there is no rule."""
    rules, violations, samples = (
        counted_rules.rules,
        counted_rules.violations,
        counted_rules.samples,
    )
    if not rules:
        return []
    stored = [rule_in_json(one, samples.get(one.rule.name)) for one in judge(rules, violations)]
    page = kept_results.keep(lake, feed, kept_results.place_of(asset, windows), stored)
    return [*kept_results.linked(results(asset, rules, violations, windows, samples), page)]


def first_lines(seen: str, most: int = 10) -> str:
    """The first lines of a sample, up to a blank one; the whole of it is in the check's metadata."""
    lines = seen.split("\n\n")[0].splitlines()
    return "\n".join(lines[:most] + (["- …"] if len(lines) > most else []))


def of_feed(text: str, asset: Sequence[str]) -> str:
    """A rule's advice with the feed's name in it, so that a command in it can be copied."""
    return text.replace("<feed>", asset[1])
