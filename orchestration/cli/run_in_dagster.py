"""What ``weir run`` does where there is something to do: run it in Dagster, and say what came of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from assets.quality.suite_faults import faults_of_suites
from assets.storage.lake import Lake
from orchestration.cli.answer import CommandAnswer, Facts
from orchestration.console import say, waiting
from orchestration.definitions import job_to_gold
from orchestration.feeds.faults import InvalidKey
from orchestration.feeds.load import misdeclared
from orchestration.runs import execution, summary
from orchestration.runs.history import naming_faults, open_history
from orchestration.runs.outcome import Outcome, findings_of
from orchestration.runs.planning import RunPlan
from orchestration.sheets import Sheet
from transforms.feed.feed import Feed


def carry_out(
    work: Sequence[RunPlan],
    lake: Lake,
    feeds: Path,
    rest: Callable[[RunPlan], RunPlan],
    answer: CommandAnswer,
) -> bool:
    """Run the plans, and print the summary or note it in the answer; whether a step or a blocking check failed."""
    refuse_unknown_expectations([plan.feed for plan in work])
    say(f"the tables are in {lake.warehouse}")
    with waiting("starting"), open_history(os.environ, feeds) as instance, naming_faults(instance):
        outcomes = execution.run_plans(work, lake, instance, job_to_gold, rest)
    if answer.as_json:
        for outcome in outcomes:
            add_outcome(answer, lake, outcome, feeds)
    else:
        summary.show_summary(outcomes, Sheet())
        summary.show_without_gold(lake, outcomes, feeds, Sheet())
    return any(outcome.failed for outcome in outcomes)


def add_outcome(answer: CommandAnswer, lake: Lake, outcome: Outcome, feeds: Path) -> None:
    """Note what a feed's run came to; ``feeds`` is the folder of the feed files."""
    facts = answer.of(outcome.plan.feed.name)
    # A topic may have brought windows to light that no plan had.
    read = {str(account["window"]) for account in summary.accounts_of(outcome)}
    facts["windows"] = sorted(read.union(outcome.plan.windows))
    lines = summary.lines_with_events(outcome)
    facts["tables"] = {name: asdict(line) for name, line in lines.items()}
    facts["executors"] = summary.executors(outcome)
    facts["checks"] = check_facts(outcome)
    facts["notices"] = [
        *summary.effects_in_words(outcome),
        *summary.new_in_stream(outcome),
        *summary.without_gold(lake, outcome, feeds),
    ]
    if outcome.failed:
        answer.fail(outcome.plan.feed.name, outcome.errors)


def check_facts(outcome: Outcome) -> Facts:
    """How many checks passed, warned and failed, and what those found that did not pass."""
    not_passed = [asdict(one) for one in findings_of(outcome.checks)]
    failed = sum(one["severity"] == "failed" for one in not_passed)
    return {
        "passed": len(outcome.checks) - len(not_passed),
        "warnings": len(not_passed) - failed,
        "failed": failed,
        "not_passed": not_passed,
    }


def refuse_unknown_expectations(feeds: Sequence[Feed]) -> None:
    """Raise where a feed declares expectations that there are not, or with arguments that they do not have.

    Only Great Expectations knows, which takes seconds to import: so this is asked where there is work to do.
    """
    for feed in feeds:
        faults = faults_of_suites(feed)
        if faults:
            unfit = [InvalidKey(fault.key, fault.fault, fault.known) for fault in faults]
            raise misdeclared(Path(faults[0].file), unfit)
