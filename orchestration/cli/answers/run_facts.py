"""What ``weir run`` tells programs of each feed: the same as its summary tells people.

Put here what a run's document has of its outcome. Not here: what it has of the plan (``plan_facts``), and how the
summary reads (``orchestration/runs/summary``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from assets.asset_keys import table_name_of
from assets.lake import Lake
from orchestration.cli.answers.answer import Answer, Facts
from orchestration.runs import without_gold
from orchestration.runs.outcome import Outcome, is_blocked
from orchestration.runs.summary import effects_in_words, new_in_stream
from orchestration.runs.summary_lines import TableLine, executors, table_lines


def add_outcome(answer: Answer, lake: Lake, outcome: Outcome, feeds: Path) -> None:
    """Note what a feed's run came to; ``feeds`` is the folder of the feed files."""
    facts = answer.of(outcome.plan.feed.name)
    facts["windows"] = sorted({*outcome.plan.windows, *_windows_read(outcome)})
    facts["tables"] = {
        name: asdict(line)
        for name, line in sorted(table_lines(outcome).items())
        if line != TableLine()
    }
    facts["executors"] = executors(outcome)
    facts["checks"] = checks(outcome)
    facts["notices"] = [
        *effects_in_words(outcome),
        *new_in_stream(outcome),
        *without_gold.without_gold(lake, outcome, feeds),
    ]
    if outcome.failed:
        answer.fail(outcome.plan.feed.name, outcome.errors)


def _windows_read(outcome: Outcome) -> Iterator[str]:
    """The windows in which the run found events: a topic may have brought some to light that no plan had."""
    for path, values in outcome.metadata:
        accounts = values.get("accounts") if path[0] == "silver" else None
        if isinstance(accounts, list):
            yield from (str(account["window"]) for account in accounts)


def checks(outcome: Outcome) -> Facts:
    """How many checks passed, warned and failed, and what those found that did not pass."""
    not_passed = [
        {
            "asset": table_name_of(check.asset_key.path),
            "check": check.check_name,
            "severity": "failed" if is_blocked(check) else "warning",
            "says": check.description or "",
        }
        for check in outcome.checks
        if not check.passed
    ]
    failed = sum(one["severity"] == "failed" for one in not_passed)
    return {
        "passed": len(outcome.checks) - len(not_passed),
        "warnings": len(not_passed) - failed,
        "failed": failed,
        "not_passed": not_passed,
    }
