"""OpenLineage's events about what each step of a run read and wrote.

A thread sends them, and the run waits for none. Dagster has no hook for the start of a step, so that its start and its
end are both sent when it ends, each with its own time.
"""

from __future__ import annotations

import atexit
import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

import dagster as dg
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    DatasetFacet,
    column_lineage_dataset,
    error_message_run,
    parent_run,
    schema_dataset,
)
from pyspark.sql import types as T

from assets.columns import layers
from assets.control import discovered_tables
from assets.feed_assets import feed_key
from assets.gold.asset import lineage_of
from assets.storage.lake import Lake, Layer
from transforms.addresses import without_credentials
from transforms.feed.feed import Feed, Table
from transforms.feed.names import gold_name

PATIENCE = 2.0
"""Maximum number of seconds that the end of the process waits for events that are on their way."""

NAMESPACE = "weir"
PRODUCER = "urn:weir"

LAYERS = ("bronze", "silver", "gold", "discovered")
"""The steps that are told of: those that bring data from one layer to the next."""


def lineage_hooks(feed: Feed) -> set[dg.HookDefinition]:
    """Hooks of a feed's job that tell of each step."""

    @dg.success_hook(name=f"lineage_of_done_{feed.name}", required_resource_keys={"lake"})
    def lineage_of_done(context: dg.HookContext) -> None:
        _tell(context, feed)

    @dg.failure_hook(name=f"lineage_of_failed_{feed.name}", required_resource_keys={"lake"})
    def lineage_of_failed(context: dg.HookContext) -> None:
        _tell(context, feed)

    return {lineage_of_done, lineage_of_failed}


def _tell(context: dg.HookContext, feed: Feed) -> None:
    try:
        sender = emitter()
        sender.emit(*events_of(context, feed))
        fault = sender.fault_to_tell()
    except Exception as unknown:  # a run does not fail because nobody can be told of it
        fault = without_credentials(f"{type(unknown).__name__}: {unknown}")
    if fault:
        context.log.warning(
            f"{feed.name}: OpenLineage's receiver takes no events ({fault}); this process sends it no more"
        )


class Emitter:
    """A thread that sends what it is given, in order, until the receiver fails."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._events: queue.Queue[Any] = queue.Queue()
        self._fault: str | None = None
        self._is_down = False
        threading.Thread(target=self._send_all, daemon=True, name="openlineage").start()

    def emit(self, *events: Any) -> None:
        """Send these, some time."""
        if not self._is_down:
            for event in events:
                self._events.put(event)

    def fault_to_tell(self) -> str | None:
        """Why the receiver failed, the first time that somebody asks after it did."""
        fault, self._fault = self._fault, None
        return fault

    def flush(self, seconds: float = PATIENCE) -> bool:
        """Wait until all is sent, at most so long; whether it was."""
        done = threading.Event()
        self._events.put(done)
        return done.wait(0 if self._is_down else seconds)

    def _send_all(self) -> None:
        while True:
            event = self._events.get()
            if isinstance(event, threading.Event):
                event.set()
            elif not self._is_down:
                try:
                    self._client.emit(event)
                except Exception as fault:  # whatever it is, the run has nothing to do with it
                    self._is_down = True
                    self._fault = f"{type(fault).__name__}"


@cache
def emitter() -> Emitter:
    """The emitter of this process, to the receiver that the environment names."""
    made = Emitter(OpenLineageClient())
    atexit.register(made.flush)
    return made


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


@dataclass(frozen=True, slots=True)
class Flow:
    """What a step reads and writes."""

    inputs: list[InputDataset] = field(default_factory=list)
    outputs: list[OutputDataset] = field(default_factory=list)


def layer_of_step(feed: Feed, step: str) -> str | None:
    """Which layer a step makes; None for one that moves no data."""
    layer = step.removesuffix(f"_{feed.name}")
    return layer if layer in LAYERS else None


def flow_of(lake: Lake, feed: Feed, layer: str) -> Flow:
    """What the step that makes this layer reads and writes."""
    if layer == "bronze":
        landings = [InputDataset(*one) for one in _landing(feed)]
        return Flow(landings, [_table(lake, feed, Layer.BRONZE, layers.Bronze.spark)])
    if layer == "silver":
        outputs = [(Layer.SILVER, layers.Silver.spark), (Layer.QUARANTINE, layers.Quarantine.spark)]
        return Flow(
            [_input(lake, feed, Layer.BRONZE)], [_table(lake, feed, *one) for one in outputs]
        )
    tables = (
        feed.tables
        if layer == "gold"
        else discovered_tables.made_and_stopped(lake, feed).discovered
    )
    gold = [_gold(lake, feed, table) for table in tables.values()]
    return Flow([_input(lake, feed, Layer.SILVER)], gold)


def named(address: str) -> tuple[str, str]:
    """The namespace and the name of a place: ``s3://bucket`` and the path in it, or ``file`` and the folder."""
    scheme, separator, rest = address.partition("://")
    if not separator:
        return "file", address
    host, _, path = rest.partition("/")
    return f"{'s3' if scheme == 's3a' else scheme}://{host}", path.rstrip("/") or "/"


def _landing(feed: Feed) -> list[tuple[str, str]]:
    namespace, name = named(feed.landing)
    # Of a broker each topic is a dataset.
    return [(namespace, one) for one in (name.split(",") if feed.reads_topics else [name])]


def _input(lake: Lake, feed: Feed, layer: Layer) -> InputDataset:
    return InputDataset(*named(lake.path(layer, feed.name)))


def _table(lake: Lake, feed: Feed, layer: Layer, columns: T.StructType) -> OutputDataset:
    fields = [(one.name, one.dataType.simpleString()) for one in columns.fields]
    return OutputDataset(*named(lake.path(layer, feed.name)), facets={"schema": _schema(fields)})


def _schema(fields: list[tuple[str, str]]) -> DatasetFacet:
    Fields = schema_dataset.SchemaDatasetFacetFields  # noqa: N806, it is a class
    return schema_dataset.SchemaDatasetFacet(fields=[Fields(*one) for one in fields])


def _gold(lake: Lake, feed: Feed, table: Table) -> OutputDataset:
    silver = named(lake.path(Layer.SILVER, feed.name))
    lineage = lineage_of(table, feed_key("silver", feed)).deps_by_column
    columns = column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={
            name: column_lineage_dataset.Fields(
                [column_lineage_dataset.InputField(*silver, one.column_name) for one in deps]
            )
            for name, deps in lineage.items()
        }
    )
    name = gold_name(table.name, feed.table_names)
    return OutputDataset(
        *named(lake.path(Layer.GOLD, feed.name, name)),
        facets={"schema": _schema([*table.columns.items()]), "columnLineage": columns},
    )
