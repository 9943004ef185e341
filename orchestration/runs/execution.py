"""Plans carried out: landing to gold materialised through the same Dagster assets that the UI shows."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

import dagster as dg

from assets.control import ledger, progress
from assets.control.accounting import first_and_last
from assets.quarantine.records import Quarantine, Records
from assets.quarantine.words import record_line
from assets.storage.lake import Lake
from assets.storage.step_faults import fault_in_words
from orchestration import definitions
from orchestration.automation.jobs import job_name
from orchestration.console import begin, say
from orchestration.definitions import tables_in_gold
from orchestration.observability.run_tags import RANGE, tags_of
from orchestration.runs import history, planning
from orchestration.runs.history import OF_LOCATION, kept_open
from orchestration.runs.outcome import Outcome, gather
from orchestration.runs.planning import Plan, bounded
from orchestration.runs.summary import IN_ALL
from transforms.feed.feed import Feed

RANGE_START, RANGE_END = RANGE


def run_plans(
    plans: Sequence[Plan],
    lake: Lake,
    instance: dg.DagsterInstance,
    rest: Callable[[Plan], Plan] | None = None,
) -> list[Outcome]:
    """Run every plan, each in one Dagster run; a failed feed does not stop the others, and a signal stops all.

    ``instance``: whose history the runs are in. ``rest`` gives a second plan, once the first is run, for windows that
    only reading has brought to light.
    """
    history.begin_batches()
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
            outcome.errors.append(fault_in_words(fault))
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


# Windows of records that were repaired, run again through the same assets as ever.


SHOWN = 50
"""So many records that are repaired, and that are not, are named at most."""


def replayed(
    lake: Lake,
    feed: Feed,
    windows: Collection[str],
    instance: dg.DagsterInstance,
) -> list[Outcome]:
    """Run these windows, and those that wait anyway: after a change of the feed file gold waits for all of them.

    ``instance``: whose history the run is in.
    """
    unfinished = progress.unfinished(lake, feed, ledger.read_objects(lake, feed))
    plan = bounded(feed, {*windows, *unfinished})

    def rest(done: Plan) -> Plan:
        return planning.rest(lake, done)

    return run_plans([plan], lake, instance, rest)


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


class StepsOnly(logging.Filter):
    """Lets through what Weir's own steps log; Dagster's events are for the UI."""

    def filter(self, record: logging.LogRecord) -> bool:
        """True for a line that a step logged itself; a step's start is noted for those who wait."""
        meta = getattr(record, "dagster_meta", {}) or {}
        event, step = meta.get("dagster_event"), meta.get("step_key")
        if event is not None and event.event_type_value == "STEP_START" and step:
            begin(f"working on {asset_of(step)}")
        text = str(meta.get("orig_message", ""))
        # The summary says which check failed, what was left as it was because of it, and what all came to.
        is_consequence = text.startswith(("Dependencies for step", IN_ALL))
        of_step = event is None and step is not None and record.levelno >= logging.INFO
        return of_step and not is_consequence


def asset_of(step: str) -> str:
    """A step's name as the table that it makes: ``bronze__shop`` is bronze.shop."""
    return re.sub(r"__?", ".", step, count=1)


class PlainLine(logging.Formatter):
    """The message alone, with a word in front where it is a warning."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        meta = getattr(record, "dagster_meta", {}) or {}
        text = str(meta.get("orig_message", record.getMessage()))
        return f"  {'warning: ' if record.levelno >= logging.WARNING else ''}{text}"


class Terminal(logging.Handler):
    """Prints every record that it gets."""

    def emit(self, record: logging.LogRecord) -> None:
        """One line of progress."""
        say(self.format(record))


@dg.logger({}, description="One line per step on standard error.")
def progress_lines(init_context: dg.InitLoggerContext) -> logging.Logger:
    """The logger of ``weir run``."""
    logger = logging.Logger("weir", level=logging.DEBUG)
    handler = Terminal()
    handler.setFormatter(PlainLine())
    handler.addFilter(StepsOnly())
    logger.addHandler(handler)
    return logger
