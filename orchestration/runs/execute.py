"""Plans carried out: landing to gold materialised through the same Dagster assets that the UI shows.

Put here how a Dagster run is started. Not here: which windows it has (``planning``), and what came of it (``outcome``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import dagster as dg

from assets.gold.changes.changes_by_window import first_and_last
from assets.gold.table_faults import in_words
from assets.lake import Lake
from orchestration import definitions
from orchestration.automation.jobs import job_name
from orchestration.console import say
from orchestration.runs import event_batches
from orchestration.runs.history import OF_LOCATION
from orchestration.runs.history_files import kept_open
from orchestration.runs.outcome import Outcome, gather
from orchestration.runs.plan import Plan
from orchestration.runs.progress_lines import progress_lines
from orchestration.runs.tables_in_gold import tables_in_gold
from orchestration.watching.run_windows import RANGE, tags_of

RANGE_START, RANGE_END = RANGE


def run(
    plans: Sequence[Plan],
    lake: Lake,
    instance: dg.DagsterInstance,
    rest: Callable[[Plan], Plan] | None = None,
) -> list[Outcome]:
    """Run every plan, each in one Dagster run; a failed feed does not stop the others, and a signal stops all.

    ``instance``: whose history the runs are in. ``rest`` gives a second plan, once the first is run, for windows that
    only reading has brought to light.
    """
    event_batches.begin()
    defs = _definitions(plans, lake)
    outcomes: list[Outcome] = []
    with kept_open():
        for plan in plans:
            outcomes.append(_outcome_of(plan, lake, defs, instance, rest))
            if outcomes[-1].is_stopped:
                break
    for plan in plans[len(outcomes) :]:
        say(f"{plan.feed.name}: not run, because this run was stopped")
    return outcomes


def _outcome_of(
    plan: Plan,
    lake: Lake,
    defs: dg.Definitions,
    instance: dg.DagsterInstance,
    rest: Callable[[Plan], Plan] | None,
) -> Outcome:
    """Run one feed's plan, and then the plan that ``rest`` gives."""
    outcome = Outcome(plan)
    run_windows(plan, outcome, defs, instance)
    if rest and not outcome.failed:
        try:
            left = rest(plan)
            if left.windows:
                run_windows(left, outcome, _definitions([left], lake), instance)
        except Exception as fault:  # whatever it is, the other feeds have nothing to do with it
            outcome.errors.append(in_words(fault))
    return outcome


def _definitions(plans: Sequence[Plan], lake: Lake) -> dg.Definitions:
    """The feeds with the windows of their plans alone.

    Dagster stores two events for each asset and window of a run's range, so that none is to lie in it that has nothing.
    """
    feeds = [
        replace(plan.feed, running=replace(plan.feed.running, windows=tuple(plan.windows)))
        for plan in plans
    ]
    nodes = {feed.name: tables_in_gold(lake, feed).values() for feed in feeds}
    return definitions.build(feeds, lake, {"console": progress_lines}, nodes)


def run_windows(
    plan: Plan, outcome: Outcome, defs: dg.Definitions, dagster_instance: dg.DagsterInstance
) -> None:
    """Run the plan's windows in one Dagster run, and add to the outcome what comes of it."""
    if not plan.windows:
        return
    first, last = plan.windows[0], plan.windows[-1]
    noun = "window" if first == last else "windows"
    say(f"{plan.feed.name}: {noun} {first_and_last(plan.windows)}")
    result = defs.resolve_job_def(job_name(plan.feed)).execute_in_process(
        instance=dagster_instance,
        raise_on_error=False,
        run_config={"loggers": {"console": {}}},
        tags={
            **OF_LOCATION,
            **tags_of(plan.feed, first, last),
            RANGE_START: first,
            RANGE_END: last,
        },
    )
    gather(result, outcome)
