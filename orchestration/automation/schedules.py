"""Two schedules per feed: what is due is run when a window ends, and tables are compacted once a day.

Put here what asks for a run by the clock. Not here: what asks for one because something has landed (``object_sensor``,
``topic_sensor``).
"""

# No postponed annotations here: Dagster reads the functions' own.
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

import dagster as dg

from assets import partitions
from assets.lake import Lake
from orchestration.automation.failed_runs import LOOKED_AT
from orchestration.automation.jobs import job_name, upkeep_name
from orchestration.runs import planning
from orchestration.runs.first_window import before_start
from transforms.errors import WeirError
from transforms.feed.feed import Feed

LENGTH = {"hour": timedelta(hours=1), "day": timedelta(days=1)}

OLDER_AT_ONCE = 12
"""How many older windows one tick asks for: the rest follow with the next."""

ON_THEIR_WAY = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def build(feed: Feed, lake: Lake) -> dg.ScheduleDefinition:
    """At each window's end, a run of the window that just ended, and of older ones that have something new.

    Dagster's own helper would take the newest partition, which is the window that has just begun.
    """

    @dg.schedule(
        name=f"{feed.name}_every_{feed.window}",
        job_name=job_name(feed),
        cron_schedule=partitions.CRON[feed.window],
        execution_timezone="UTC",
        default_status=schedule_status(is_on=feed.running.automation.schedule),
        description=f"Runs each {feed.window} of feed {feed.name} when it has ended, and older ones that are due.",
    )
    def at_window_end(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest]:
        end = context.scheduled_execution_time - LENGTH[feed.window]
        ended = end.strftime(partitions.FORMATS[feed.window])
        asked = [dg.RunRequest(run_key=ended, partition_key=ended)]
        try:
            plan = planning.due_as_noted(lake, feed)
        except WeirError as fault:
            # The run of the window that ended meets the same error, and reports it where people look.
            context.log.warning(str(fault))
            return asked
        if early := before_start(feed, plan.ancient):
            context.log.warning(early)
        older = [window for window in plan.windows if window < ended]
        # Each tick asks under a key of its own, for as long as the window is due.
        asked += [
            dg.RunRequest(run_key=f"{window}@{ended}", partition_key=window)
            for window in (chosen(context.instance, feed, older) if older else ())
        ]
        return asked

    return at_window_end


def schedule_status(*, is_on: bool) -> dg.DefaultScheduleStatus:
    """Whether a schedule is on until a person says otherwise in the UI."""
    return dg.DefaultScheduleStatus.RUNNING if is_on else dg.DefaultScheduleStatus.STOPPED


def chosen(instance: dg.DagsterInstance, feed: Feed, windows: Sequence[str]) -> list[str]:
    """Some of these windows: none whose run is on its way, and first those that were run least often lately.

    So a window that fails time and again keeps no other waiting.
    """
    filters = dg.RunsFilter(job_name=job_name(feed), tags={"feed": feed.name})
    tried: Counter[str] = Counter()
    on_their_way = set()
    for record in instance.get_run_records(filters, limit=LOOKED_AT):
        window = record.dagster_run.tags.get("dagster/partition", "")
        tried[window] += 1
        if record.dagster_run.status in ON_THEIR_WAY:
            on_their_way.add(window)
    free = [window for window in windows if window not in on_their_way]
    return sorted(sorted(free, key=lambda window: (tried[window], window))[:OLDER_AT_ONCE])


def build_upkeep(feed: Feed) -> dg.ScheduleDefinition:
    """Once a day, at an hour at which other work seldom begins."""
    return dg.ScheduleDefinition(
        name=f"{feed.name}_compaction_every_day",
        job_name=upkeep_name(feed),
        cron_schedule="37 3 * * *",
        execution_timezone="UTC",
        default_status=schedule_status(is_on=feed.running.automation.compaction),
        description=f"Compacts feed {feed.name}: history older than its retention becomes base rows.",
    )
