"""What ``weir run`` does where there is something to do: run it in Dagster, and say what came of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from assets.feed_assets import table_name_of
from assets.quality.suite_faults import faults_of_suites
from assets.storage.lake import Lake
from orchestration.cli.answer import Answer, Facts
from orchestration.console import say, waiting
from orchestration.feeds.faults import refuse
from orchestration.feeds.load import located
from orchestration.feeds.yaml_files import places_in
from orchestration.runs import execution, summary
from orchestration.runs.history import naming_faults, open_history
from orchestration.runs.outcome import Outcome, is_blocked
from orchestration.runs.planning import Plan
from orchestration.runs.summary import (
    TableLine,
    effects_in_words,
    executors,
    new_in_stream,
    table_lines,
)
from orchestration.sheets import Sheet
from transforms.feed.feed import Feed


def carry_out(
    work: Sequence[Plan], lake: Lake, feeds: Path, rest: Callable[[Plan], Plan], answer: Answer
) -> bool:
    """Run the plans, and print the summary or note it in the answer; whether a step or a blocking check failed.

    Args:
        work: what is to be run, a plan for each feed.
        lake: the warehouse.
        feeds: the folder of the feed files.
        rest: what there is to do of a feed after its plan was run.
        answer: where facts are noted.
    """
    refuse_unknown_expectations([plan.feed for plan in work])
    # A run of a few small drops needs no Spark. Where one does, the steps' own lines say how long they wait for it.
    say(f"the tables are in {lake.warehouse}")
    with waiting("starting"), open_history(os.environ, feeds) as instance, naming_faults(instance):
        outcomes = execution.run_plans(work, lake, instance, rest)
    if answer.as_json:
        for outcome in outcomes:
            add_outcome(answer, lake, outcome, feeds)
    else:
        summary.show_summary(outcomes, Sheet())
        summary.show_without_gold(lake, outcomes, feeds, Sheet())
    return any(outcome.failed for outcome in outcomes)


# What ``weir run`` tells programs of each feed: the same as its summary tells people.


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
    facts["checks"] = check_facts(outcome)
    facts["notices"] = [
        *effects_in_words(outcome),
        *new_in_stream(outcome),
        *summary.without_gold(lake, outcome, feeds),
    ]
    if outcome.failed:
        answer.fail(outcome.plan.feed.name, outcome.errors)


def _windows_read(outcome: Outcome) -> Iterator[str]:
    """The windows in which the run found events: a topic may have brought some to light that no plan had."""
    for path, values in outcome.metadata:
        accounts = values.get("accounts") if path[0] == "silver" else None
        if isinstance(accounts, list):
            yield from (str(account["window"]) for account in accounts)


def check_facts(outcome: Outcome) -> Facts:
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


# What is wrong with declared expectations and can be known only by Great Expectations, which takes seconds to import.
# A command asks here once it knows that it has work to do, and before it begins.


def refuse_unknown_expectations(feeds: Sequence[Feed]) -> None:
    """Raise where a feed declares expectations that there are not, or with arguments that they do not have.

    Raises:
        FeedMisdeclared: there is one, with its line and column; all those of a feed at once.
    """
    for feed in feeds:
        faults = faults_of_suites(feed)
        if faults:
            places = places_in(Path(faults[0].file))
            refuse([located(fault, places) for fault in faults])
