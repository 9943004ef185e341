"""A feed's schedules: what is due is run when a window ends, tables are compacted daily, the source is asked often."""

# No postponed annotations here: Dagster reads the functions' own.
from collections import Counter
from collections.abc import Collection, Sequence

import dagster as dg

from assets import feed_assets
from assets.storage.lake import Lake
from assets.wording import counted
from orchestration.automation import missing_windows
from orchestration.automation.jobs import compaction_name, health_name, job_name, reconcile_name
from orchestration.automation.missing_windows import before_start
from orchestration.automation.run_requests import (
    RUNS_AT_ONCE,
    RUNS_LOOKED_AT,
    WINDOWS_AT_ONCE,
    ranges_of,
    request_for,
)
from orchestration.observability.run_tags import name_of, windows_of_run
from orchestration.runs import planning
from orchestration.runs.planning import RunPlan
from transforms.errors import WeirError
from transforms.feed.feed import Feed
from transforms.feed.windows import STEPS, window_at

FAILED_AT_ONCE = 12
"""How many windows whose run failed lately one tick asks for: each has a run of its own, and the rest follow."""

ON_THEIR_WAY = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def build(feed: Feed, lake: Lake) -> dg.ScheduleDefinition:
    """At each window's end, a run of it and of older ones that have something new; none of what is finished.

    Dagster's own helper would take the newest partition, which is the window that has just begun.
    """

    @dg.schedule(
        name=f"{feed.name}_every_{feed.window}",
        job_name=job_name(feed),
        cron_schedule=feed_assets.CRON[feed.window],
        execution_timezone="UTC",
        default_status=schedule_status(is_on=feed.running.automation.schedule),
        description=f"Runs each {feed.window} of feed {feed.name} when it has ended, and older ones that are due.",
    )
    def at_window_end(
        context: dg.ScheduleEvaluationContext,
    ) -> list[dg.RunRequest] | dg.SkipReason:
        end = context.scheduled_execution_time - STEPS[feed.window]
        ended = window_at(end, feed.window)
        try:
            plan = planning.due_as_noted(lake, feed)
        except WeirError as fault:
            # The run of the window that ended meets the same error, and reports it where people look.
            context.log.warning(str(fault))
            return [request_for(feed, ended, ended, ended)]
        if early := before_start(feed, plan.ancient):
            context.log.warning(early)
        due = due_at_end(plan, ended)
        # Each tick asks under a key of its own, for as long as the window is due.
        requests = [
            request_for(feed, *ends, f"{name_of(*ends)}@{ended}")
            for ends in (chosen(context.instance, feed, due, plan.finished) if due else ())
        ]
        quiet = []
        # Of a topic's new records only a run knows all windows.
        if not (feed.reads_topics and plan.windows):
            quiet = missing_windows.mark_quiet(context, feed, {*plan.finished, *plan.windows})
        return requests or dg.SkipReason("; ".join([nothing_due(plan, ended, due), *quiet]))

    return at_window_end


def due_at_end(plan: RunPlan, ended: str) -> list[str]:
    """The plan's windows up to the one that has ended."""
    due = [window for window in plan.windows if window <= ended]
    # New records of a topic are read by a run of whatever window; their own may be known only then.
    return [ended] if plan.feed.reads_topics and plan.windows and not due else due


def nothing_due(plan: RunPlan, ended: str, due: Sequence[str]) -> str:
    """Why a tick asks for no run."""
    noun = "record" if plan.feed.reads_topics else "drop"
    looked_at = f"{counted(plan.landed, noun)} in {plan.feed.landing}"
    if due:
        return f"{looked_at}: runs of {counted(len(due), 'window')} that are due are on their way"
    return f"{looked_at}: none of {ended} or before is left to do"


def schedule_status(*, is_on: bool) -> dg.DefaultScheduleStatus:
    """Whether a schedule is on until a person says otherwise in the UI."""
    return dg.DefaultScheduleStatus.RUNNING if is_on else dg.DefaultScheduleStatus.STOPPED


def chosen(
    instance: dg.DagsterInstance, feed: Feed, due: Sequence[str], finished: Collection[str]
) -> list[tuple[str, str]]:
    """The ranges that are asked for: of windows whose run is not on its way, and of no finished one.

    A window whose run failed lately is a range of its own, those that failed least often first: so none that fails time
    and again keeps another waiting.
    """
    filters = dg.RunsFilter(job_name=job_name(feed), tags={"feed": feed.name})
    failed: Counter[str] = Counter()
    on_their_way: set[str] = set()
    for record in instance.get_run_records(filters, limit=RUNS_LOOKED_AT):
        run = record.dagster_run
        if run.status in ON_THEIR_WAY:
            on_their_way.update(windows_of_run(feed, run.tags))
        elif run.status == dg.DagsterRunStatus.FAILURE:
            failed.update(windows_of_run(feed, run.tags))
    free = [window for window in due if window not in on_their_way]
    fresh = [window for window in free if not failed[window]][:WINDOWS_AT_ONCE]
    ranges = ranges_of(fresh, feed.window, {*finished, *due}.difference(fresh))[:RUNS_AT_ONCE]
    others = sorted((failed[window], window) for window in free if failed[window])
    return sorted([*ranges, *((window, window) for _, window in others[:FAILED_AT_ONCE])])


def build_compaction(feed: Feed) -> dg.ScheduleDefinition:
    """Once a day, at an hour at which other work seldom begins."""
    says = f"Compacts feed {feed.name}: history older than its retention becomes base rows."
    is_on = feed.running.automation.compaction
    return _by_clock(compaction_name(feed), "every_day", "37 3 * * *", says, is_on=is_on)


def build_health(feed: Feed) -> dg.ScheduleDefinition:
    """Every quarter of an hour: a source that sends nothing starts no run that would see it."""
    says = f"Asks how the source of feed {feed.name} stands."
    is_on = feed.running.automation.health
    return _by_clock(health_name(feed), "every_quarter", "*/15 * * * *", says, is_on=is_on)


def build_reconcile(feed: Feed) -> dg.ScheduleDefinition:
    """Once a day, when compaction is over."""
    says = f"Compares gold of feed {feed.name} with its live source."
    is_on = feed.running.automation.reconcile
    return _by_clock(reconcile_name(feed), "every_day", "7 5 * * *", says, is_on=is_on)


def _by_clock(job: str, often: str, cron: str, says: str, *, is_on: bool) -> dg.ScheduleDefinition:
    """A schedule that starts a job by the clock (UTC), whatever has landed."""
    return dg.ScheduleDefinition(
        name=f"{job}_{often}",
        job_name=job,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=schedule_status(is_on=is_on),
        description=says,
    )
