"""The summary of a run in its own log, so that the UI, a schedule and a sensor tell what `weir run` prints.

Put here when it is logged. Not here: the lines (``orchestration/runs/summary_lines``).
"""

# No postponed annotations here: Dagster reads the functions' own.
import dagster as dg

from orchestration.runs.outcome import Outcome, add_events
from orchestration.runs.plan import Plan
from orchestration.runs.summary_lines import lines_in_words
from transforms.feed.feed import Feed

_READ = {dg.DagsterEventType.ASSET_MATERIALIZATION, dg.DagsterEventType.ASSET_CHECK_EVALUATION}


def in_all(feed: Feed) -> dg.HookDefinition:
    """Logs the run's summary behind its last step, the report."""

    @dg.success_hook(name=f"summary_of_{feed.name}")
    def summary(context: dg.HookContext) -> None:
        if context.op.name != f"report_{feed.name}":
            return
        outcome = Outcome(Plan(feed, [], [], []))
        logged = context.instance.all_logs(context.run_id, of_type=_READ)
        add_events((one.dagster_event for one in logged if one.dagster_event), outcome)
        for line in lines_in_words(outcome):
            context.log.info(line)

    return summary
