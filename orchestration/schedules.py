"""Two schedules per feed: each window is run when it ends, and tables are compacted once a day."""

# No postponed annotations here: Dagster reads the functions' own.
from datetime import timedelta

import dagster as dg

from assets import partitions
from orchestration.jobs import job_name, upkeep_name
from transforms.feed import Feed

LENGTH = {"hour": timedelta(hours=1), "day": timedelta(days=1)}


def build(feed: Feed) -> dg.ScheduleDefinition:
    """At each window's end, a run of the window that just ended.

    Dagster's own helper would take the newest partition, which is the window that has just begun.
    """

    @dg.schedule(
        name=f"{feed.name}_every_{feed.window}",
        job_name=job_name(feed),
        cron_schedule=partitions.CRON[feed.window],
        execution_timezone="UTC",
        description=f"Runs each {feed.window} of feed {feed.name} when it has ended.",
    )
    def at_window_end(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        ended = context.scheduled_execution_time - LENGTH[feed.window]
        window = ended.strftime(partitions.FORMATS[feed.window])
        return dg.RunRequest(run_key=window, partition_key=window)

    return at_window_end


def build_upkeep(feed: Feed) -> dg.ScheduleDefinition:
    """Once a day, at an hour at which other work seldom begins."""
    return dg.ScheduleDefinition(
        name=f"{feed.name}_compaction_every_day",
        job_name=upkeep_name(feed),
        cron_schedule="37 3 * * *",
        execution_timezone="UTC",
        description=f"Compacts feed {feed.name}: history older than its retention becomes base rows.",
    )
