"""What ``weir run`` does where there is something to do: run it in Dagster, and say what came of it.

Put here what needs Dagster, which takes seconds to import. Not here: what the command says before (``run``), how
windows are run (``runs/execute``), and the summary (``runs/summary``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from assets.lake import Lake
from orchestration.cli.answers import run_facts
from orchestration.cli.answers.answer import Answer
from orchestration.console import say, waiting
from orchestration.feeds.running.expectation_faults import refuse_unknown_expectations
from orchestration.runs import execute, summary, without_gold
from orchestration.runs.history import naming_faults, open_history
from orchestration.runs.plan import Plan
from orchestration.sheets import Sheet


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
        outcomes = execute.run(work, lake, instance, rest)
    if answer.as_json:
        for outcome in outcomes:
            run_facts.add_outcome(answer, lake, outcome, feeds)
    else:
        summary.show(outcomes, Sheet())
        without_gold.show_without_gold(lake, outcomes, feeds, Sheet())
    return any(outcome.failed for outcome in outcomes)
