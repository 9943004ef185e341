"""``weir run``: materialise landing to gold through the same Dagster assets that the UI shows."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import dagster as dg

from assets.gold.table_faults import in_words
from assets.lake import Lake
from expectations import gx
from orchestration import definitions
from orchestration.automation.jobs import job_name
from orchestration.console import progress_lines, say
from orchestration.runs.planning import Plan
from transforms.errors import TablesFailed

RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one feed's run came to: metadata by asset, check results, and the errors that ended it."""

    plan: Plan
    metadata: list[tuple[tuple[str, ...], Mapping[str, object]]] = field(default_factory=list)
    checks: list[dg.AssetCheckEvaluation] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """True where a step raised or a blocking check failed."""
        return bool(self.errors) or any(is_blocked(check) for check in self.checks)


def is_blocked(check: dg.AssetCheckEvaluation) -> bool:
    """True for a failed check with which a run has failed: one that stops what is downstream, and a few others."""
    return not check.passed and check.severity == dg.AssetCheckSeverity.ERROR


def run(
    plans: Sequence[Plan], lake: Lake, rest: Callable[[Plan], Plan] | None = None
) -> list[Outcome]:
    """Run every plan, one Dagster run per range of windows; a failed feed does not stop the others.

    ``rest`` says what is to be done behind a plan, once it is run: reading may bring more windows to light.
    """
    # Importing Great Expectations takes seconds of pure Python, just while the first Spark jobs keep the JVM busy.
    threading.Thread(target=gx.imported, daemon=True).start()
    defs = definitions.build([plan.feed for plan in plans], lake, {"console": progress_lines})
    with instance() as dagster_instance:
        return [outcome_of(plan, defs, dagster_instance, rest) for plan in plans]


def instance() -> dg.DagsterInstance:
    """The instance of ``DAGSTER_HOME``, so that runs show in the UI; without it, one that is gone afterwards."""
    return (
        dg.DagsterInstance.get()
        if os.environ.get("DAGSTER_HOME")
        else dg.DagsterInstance.ephemeral()
    )


def outcome_of(
    plan: Plan,
    defs: dg.Definitions,
    dagster_instance: dg.DagsterInstance,
    rest: Callable[[Plan], Plan] | None,
) -> Outcome:
    """Run one feed's windows, and what is to be done behind them."""
    outcome = Outcome(plan)
    do(plan, outcome, defs, dagster_instance)
    if rest and not outcome.failed:
        try:
            do(rest(plan), outcome, defs, dagster_instance)
        except Exception as fault:  # whatever it is, the other feeds have nothing to do with it
            outcome.errors.append(in_words(fault))
    return outcome


def do(
    plan: Plan, outcome: Outcome, defs: dg.Definitions, dagster_instance: dg.DagsterInstance
) -> None:
    """Run the plan's windows, and gather what comes of it."""
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
            tags={RANGE_START: first, RANGE_END: last, "feed": plan.feed.name},
        )
        gather(result, outcome)


def gather(result: dg.ExecuteInProcessResult, outcome: Outcome) -> None:
    """Take from a run's events what a person wants to know of it."""
    seen = set()
    for event in result.all_events:
        if event.is_step_materialization:
            made = event.step_materialization_data.materialization
            # A range has one such event per window, all with the same metadata.
            if made.asset_key not in seen:
                seen.add(made.asset_key)
                values = {name: value.value for name, value in made.metadata.items()}
                outcome.metadata.append((tuple(made.asset_key.path), values))
        elif event.event_type_value == "ASSET_CHECK_EVALUATION":
            outcome.checks.append(event.asset_check_evaluation_data)
        elif event.is_step_failure:
            outcome.errors.extend(reasons(event))


def reasons(event: dg.DagsterEvent) -> Iterator[str]:
    """Why a step failed: the innermost error's own words; a blocking check speaks for itself.

    Which tables failed is told with their names; what is behind that stands in the run's log.
    """
    error = event.step_failure_data.error
    while error and error.cause and error.cls_name != TablesFailed.__name__:
        error = error.cause
    if error and error.cls_name != "DagsterAssetCheckFailedError":
        told = error.message.strip()
        for module in ("transforms.errors", "assets.task_errors"):
            told = told.removeprefix(f"{module}.{error.cls_name}: ")
        yield told
