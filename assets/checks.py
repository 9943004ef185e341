"""Results of rules as Dagster asset checks: the names, the severities and what a reader of the UI sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import dagster as dg

from assets.wording import counted
from expectations import gx
from expectations.rule import Rule


def specs(asset: Sequence[str], rules: Sequence[Rule]) -> list[dg.AssetCheckSpec]:
    """One check per rule: what is downstream of a blocking one does not start where it fails."""
    return [
        dg.AssetCheckSpec(
            name=rule.name,
            asset=dg.AssetKey(list(asset)),
            description=f"{rule.says} If not: {of_feed(rule.remedy, asset)}",
            blocking=rule.severity == "blocking",
        )
        for rule in rules
    ]


def results(
    asset: Sequence[str],
    rules: Sequence[Rule],
    violations: Mapping[str, int],
    windows: Sequence[str],
    samples: Mapping[str, str] | None = None,
) -> Iterator[dg.AssetCheckResult]:
    """What Great Expectations makes of the counted violations.

    A range of windows gets one result, without a partition, so the windows stand in the metadata.
    """
    for found in gx.judge("__".join(asset), rules, violations):
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
                f"{counted(found.violations, 'violation')} of: {rule.says}\n"
                + (f"{first_lines(seen)}\n" if seen else "")
                + of_feed(rule.remedy, asset)
            ),
            metadata={
                "violations": found.violations,
                "windows": f"{windows[0]} .. {windows[-1]} ({len(windows)})",
                **({"found": dg.MetadataValue.md(seen)} if seen else {}),
            },
        )


def first_lines(seen: str, most: int = 10) -> str:
    """What was found, cut short where it is long: the whole of it stands in the check's metadata."""
    lines = seen.splitlines()
    return "\n".join(lines[:most] + (["- …"] if len(lines) > most else []))


def of_feed(text: str, asset: Sequence[str]) -> str:
    """A rule's advice with the feed's name in it, so that a command in it can be copied."""
    return text.replace("<feed>", asset[1])
