"""Plans carried out: landing to gold materialised through the same Dagster assets that the UI shows.

Put here how a Dagster run is started. Not here: which windows it has (``planning``), and what came of it (``outcome``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext

import dagster as dg

from assets.gold.table_faults import in_words
from assets.lake import Lake
from orchestration import definitions
from orchestration.automation.jobs import job_name
from orchestration.console import say
from orchestration.runs.history import OF_LOCATION, open_history
from orchestration.runs.history_files import kept_open
from orchestration.runs.outcome import Outcome, gather
from orchestration.runs.plan import Plan
from orchestration.runs.progress_lines import progress_lines
from orchestration.runs.tables_in_gold import tables_in_gold

RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"


def run(
    plans: Sequence[Plan],
    lake: Lake,
    rest: Callable[[Plan], Plan] | None = None,
    instance: dg.DagsterInstance | None = None,
) -> list[Outcome]:
    """Run every plan, one Dagster run per range of windows; a failed feed does not stop the others.

    ``rest`` gives a second plan, once the first is run, for windows that only reading has brought to light.
    ``instance``: whose history the runs are in; without one, that which the environment names.
    """
    feeds = [plan.feed for plan in plans]
    nodes = {feed.name: tables_in_gold(lake, feed).values() for feed in feeds}
    defs = definitions.build(feeds, lake, {"console": progress_lines}, nodes)
    history = nullcontext(instance) if instance else open_history(os.environ)
    with kept_open(), history as dagster_instance:
        return [outcome_of(plan, defs, dagster_instance, rest) for plan in plans]


def outcome_of(
    plan: Plan,
    defs: dg.Definitions,
    dagster_instance: dg.DagsterInstance,
    rest: Callable[[Plan], Plan] | None,
) -> Outcome:
    """Run one feed's plan, and then the plan that ``rest`` gives."""
    outcome = Outcome(plan)
    run_windows(plan, outcome, defs, dagster_instance)
    if rest and not outcome.failed:
        try:
            run_windows(rest(plan), outcome, defs, dagster_instance)
        except Exception as fault:  # whatever it is, the other feeds have nothing to do with it
            outcome.errors.append(in_words(fault))
    return outcome


def run_windows(
    plan: Plan, outcome: Outcome, defs: dg.Definitions, dagster_instance: dg.DagsterInstance
) -> None:
    """Run the plan's windows, one Dagster run per range, and add to the outcome what comes of it."""
    job = defs.resolve_job_def(job_name(plan.feed))
    for first, last in plan.ranges():
        say(
            f"{plan.feed.name}: windows {first} .. {last}"
            if first != last
            else f"{plan.feed.name}: window {first}"
        )
        result = job.execute_in_process(
            instance=dagster_instance,
            raise_on_error=False,
            run_config={"loggers": {"console": {}}},
            tags={**OF_LOCATION, RANGE_START: first, RANGE_END: last, "feed": plan.feed.name},
        )
        gather(result, outcome)
