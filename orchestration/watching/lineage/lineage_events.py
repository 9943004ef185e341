"""The events of a step: that it started, and that it is complete or has failed.

Dagster calls nobody when a step starts, so both are told when it ends, each with its own time. Put here what an event
says. Not here: the datasets in it (``datasets``), and sending it (``emitter``).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import NAMESPACE_URL, UUID, uuid5

import dagster as dg
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from openlineage.client.facet_v2 import error_message_run, parent_run

from orchestration.watching.lineage.datasets import flow_of, layer_of_step
from transforms.feed.feed import Feed

NAMESPACE = "weir"
PRODUCER = "urn:weir"


def events_of(context: dg.HookContext, feed: Feed) -> Iterator[RunEvent]:
    """A START and a COMPLETE or FAIL; none of a step that moves no data."""
    layer = layer_of_step(feed, context.step_key)
    if layer is None:
        return
    now = datetime.now(UTC)
    (stats,) = context.instance.get_run_step_stats(context.run_id, [context.step_key])
    begun = now if stats.start_time is None else datetime.fromtimestamp(stats.start_time, UTC)
    error = context.op_exception
    flow = flow_of(context.resources.lake, feed, layer)
    parent = parent_run.ParentRunFacet(
        run=parent_run.Run(runId=context.run_id),
        job=parent_run.Job(namespace=NAMESPACE, name=context.job_name),
    )
    run = str(uuid5(NAMESPACE_URL, f"{context.run_id}/{context.step_key}"))
    facets = {"parent": parent}
    for state, at in (
        (RunState.START, begun),
        (RunState.COMPLETE if error is None else RunState.FAIL, now),
    ):
        failed = {"errorMessage": _error(error)} if state == RunState.FAIL and error else {}
        yield RunEvent(
            eventType=state,
            eventTime=at.isoformat(),
            run=Run(str(UUID(run)), {**facets, **failed}),
            job=Job(NAMESPACE, f"{feed.name}.{layer}"),
            inputs=flow.inputs,
            outputs=flow.outputs,
            producer=PRODUCER,
        )


def _error(error: BaseException) -> error_message_run.ErrorMessageRunFacet:
    return error_message_run.ErrorMessageRunFacet(message=str(error), programmingLanguage="Python")
