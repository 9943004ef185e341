"""Rules as Dagster asset checks: shown before a run, and their results, kept and linked to their pages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from assets.feed_assets import OF_CHECKS, markdown_metadata, table_name_of
from assets.quality.data_docs import QualityFolder, link_to
from assets.storage.lake import Lake
from assets.wording import counted
from expectations.data_docs import RESULTS
from expectations.rule import Rule, judge
from expectations.validation_results import ResultPlace, result_in_json, rule_in_json
from transforms.display import Markdown
from transforms.feed.feed import Feed


def specs_of_rules(asset: Sequence[str], rules: Sequence[Rule]) -> list[dg.AssetCheckSpec]:
    """One check per rule. Where a blocking one fails, Dagster does not start the assets downstream."""
    return [
        dg.AssetCheckSpec(
            name=rule.name,
            asset=dg.AssetKey(list(asset)),
            description=f"{rule.says} If not: {advice_for_feed(rule.remedy, asset)}\n\n{OF_CHECKS}",
            blocking=rule.severity == "blocking",
        )
        for rule in rules
    ]


def results_of_rules(
    asset: Sequence[str],
    rules: Sequence[Rule],
    violations: Mapping[str, int],
    windows: Sequence[str],
    samples: Mapping[str, Markdown | None] | None = None,
) -> Iterator[dg.AssetCheckResult]:
    """One result per rule, judged by the counted violations; ``samples``: what a reader wants to see first.

    A range of windows gets one result, without a partition, so the windows are in the metadata; none where it is about
    no window.
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
                + advice_for_feed(rule.remedy, asset)
            ),
            metadata={
                "violations": found.violations,
                **({"at_most": rule.at_most} if rule.at_most else {}),
                **(
                    {"windows": f"{windows[0]} .. {windows[-1]} ({len(windows)})"}
                    if windows
                    else {}
                ),
                **({"found": markdown_metadata(seen)} if seen else {}),
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
    rules, violations = counted_rules.rules, counted_rules.violations
    samples = counted_rules.samples
    if not rules:
        return []
    stored = [rule_in_json(one, samples.get(one.rule.name)) for one in judge(rules, violations)]
    page = keep_results(lake, feed, place_of_results(asset, windows), stored)
    return [*linked_results(results_of_rules(asset, rules, violations, windows, samples), page)]


def first_lines(seen: str, most: int = 10) -> str:
    """The first lines of a sample, up to a blank one; the whole of it is in the check's metadata."""
    lines = seen.split("\n\n")[0].splitlines()
    return "\n".join(lines[:most] + (["- …"] if len(lines) > most else []))


def advice_for_feed(text: str, asset: Sequence[str]) -> str:
    """A rule's advice with the feed's name in it, so that a command in it can be copied."""
    return text.replace("<feed>", asset[1])


def place_of_results(asset: Sequence[str], windows: Sequence[str]) -> ResultPlace:
    """The place of a result that an asset's checks have now, for these windows."""
    named = windows[0] if len(windows) == 1 else f"{windows[0]}..{windows[-1]}"
    return ResultPlace(table_name_of(asset), named, datetime.now(UTC))


def keep_results(
    lake: Lake, feed: Feed, place: ResultPlace, results: Sequence[Mapping[str, Any]]
) -> str:
    """Store what the checks of a table found; returns the link to its page, which is made when it is asked for."""
    folder = QualityFolder(lake.warehouse, feed.name)
    text = json.dumps(result_in_json(place, results), default=str)
    folder.write(f"{RESULTS}/{place.path}.json", text)
    return link_to(feed.name, f"validations/{place.path}.html")


def linked_results(
    results: Iterable[dg.AssetCheckResult], page: str
) -> Iterator[dg.AssetCheckResult]:
    """The results, each with the link to its page in Data Docs; as they are where no result was kept."""
    for one in results:
        link = {"data_docs": dg.MetadataValue.url(page)} if page else {}
        yield one._replace(metadata={**one.metadata, **link})


def fails_run(check: dg.AssetCheckResult | dg.AssetCheckEvaluation) -> bool:
    """Whether a run fails by this result: the check has failed, and its severity is ERROR."""
    return not check.passed and check.severity == dg.AssetCheckSeverity.ERROR
