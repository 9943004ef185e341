"""Plans carried out: landing to gold materialised through the same Dagster assets that the UI shows."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import dagster as dg

from assets.control import ledger, progress
from assets.control.accounting import first_and_last
from assets.quarantine.records import Quarantine, Records
from assets.quarantine.words import record_line
from assets.storage.lake import Lake
from assets.storage.step_faults import fault_in_words
from orchestration.console import begin, say
from orchestration.observability.run_tags import RANGE, tags_of
from orchestration.runs import history, planning
from orchestration.runs.history import OF_LOCATION, kept_open
from orchestration.runs.outcome import Outcome, gather
from orchestration.runs.planning import RunPlan, bounded
from orchestration.runs.summary import IN_ALL
from transforms.feed.feed import Feed

RANGE_START, RANGE_END = RANGE
SHOWN = 50
"""How many records that are repaired, and that are not, are named at most."""

JobOf = Callable[[Feed, Lake, Mapping[str, dg.LoggerDefinition]], dg.JobDefinition]
"""Makes the job that brings a feed to gold, of the definitions that the code location has."""


def run_plans(
    plans: Sequence[RunPlan],
    lake: Lake,
    instance: dg.DagsterInstance,
    job_of: JobOf,
    rest: Callable[[RunPlan], RunPlan] | None = None,
) -> list[Outcome]:
    """Run every plan, each in one Dagster run; a failed feed does not stop the others, and a signal stops all.

    ``instance``: whose history the runs are in. ``rest`` gives a second plan, once the first is run, for windows that
    only reading has brought to light.
    """

    def run(plan: RunPlan, outcome: Outcome) -> None:
        if plan.windows:
            # The job has the plan's windows alone: Dagster stores two events for each asset and window of a range.
            running = replace(plan.feed.running, windows=tuple(plan.windows))
            job = job_of(replace(plan.feed, running=running), lake, {"console": progress_lines})
            run_windows(plan, outcome, job, instance)

    history.write_quickly()
    outcomes: list[Outcome] = []
    with kept_open():
        for plan in plans:
            outcomes.append(outcome := Outcome(plan))
            run(plan, outcome)
            if rest and not outcome.failed:
                try:
                    run(rest(plan), outcome)
                except (
                    Exception
                ) as fault:  # whatever it is, the other feeds have nothing to do with it
                    outcome.errors.append(fault_in_words(fault))
            if outcome.is_stopped:
                break
    for plan in plans[len(outcomes) :]:
        say(f"{plan.feed.name}: not run, because this run was stopped")
    return outcomes


def run_windows(
    plan: RunPlan, outcome: Outcome, job: dg.JobDefinition, instance: dg.DagsterInstance
) -> None:
    """Run the plan's windows in one Dagster run, and add to the outcome what comes of it."""
    first, last = plan.windows[0], plan.windows[-1]
    noun = "window" if first == last else "windows"
    say(f"{plan.feed.name}: {noun} {first_and_last(plan.windows)}")
    range_tags = {RANGE_START: first, RANGE_END: last}
    result = job.execute_in_process(
        instance=instance,
        raise_on_error=False,
        run_config={"loggers": {"console": {}}},
        tags={**OF_LOCATION, **tags_of(plan.feed, first, last), **range_tags},
    )
    gather(result, outcome)


# Records that were repaired: their windows run again.


def replayed(
    lake: Lake,
    feed: Feed,
    windows: Collection[str],
    instance: dg.DagsterInstance,
    job_of: JobOf,
) -> list[Outcome]:
    """Run these windows, and those that wait anyway: after a change of the feed file gold waits for all of them."""
    unfinished = progress.unfinished(lake, feed, ledger.read_objects(lake, feed))
    plan = bounded(feed, {*windows, *unfinished})
    return run_plans([plan], lake, instance, job_of, lambda done: planning.rest(lake, done))


def outcome_lines(now: Quarantine, chosen: Records) -> tuple[list[str], list[str]]:
    """What became of records, in lines: those that are repaired, and those that are still in quarantine."""
    there = now.records.among(chosen)
    left = there.without(there.where(state="repaired"))
    name = now.feed.name
    return (
        [*_named(f"{name}: repaired", chosen.without(left))],
        [*_named(f"{name}: still in quarantine", left)],
    )


def _named(what: str, records: Records) -> Iterator[str]:
    for one in records[:SHOWN]:
        yield f"{what}: {record_line(one)}"
    if len(records) > SHOWN:
        yield f"{what}: {len(records) - SHOWN:,} more"


# Dagster's events as lines for a person at a terminal: one per step, and what the steps themselves say.


class Terminal(logging.Handler):
    """Prints what Weir's own steps log; Dagster's events are for the UI, and a step's start for those who wait."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line of progress, or none."""
        meta = getattr(record, "dagster_meta", {}) or {}
        event, step = meta.get("dagster_event"), meta.get("step_key")
        if event is not None and event.event_type_value == "STEP_START" and step:
            # bronze__shop is the step that makes bronze.shop.
            begin(f"working on {re.sub(r'__?', '.', step, count=1)}")
        text = str(meta.get("orig_message", record.getMessage()))
        # The summary says which check failed, what was left as it was because of it, and what all came to.
        is_consequence = text.startswith(("Dependencies for step", IN_ALL))
        is_told = event is None and step is not None and record.levelno >= logging.INFO
        if is_told and not is_consequence:
            say(f"  {'warning: ' if record.levelno >= logging.WARNING else ''}{text}")


@dg.logger({}, description="One line per step on standard error.")
def progress_lines(init_context: dg.InitLoggerContext) -> logging.Logger:
    """The logger of ``weir run``."""
    logger = logging.Logger("weir", level=logging.DEBUG)
    logger.addHandler(Terminal())
    return logger
