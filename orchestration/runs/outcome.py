"""What a feed's run came to, gathered from Dagster's events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import dagster as dg
from dagster._core.execution.plan.objects import ErrorSource

from assets.feed_assets import table_name_of
from assets.quality.checks import fails_run
from orchestration.observability.alert_messages import CheckFinding
from orchestration.runs.planning import RunPlan
from transforms.display import hanging
from transforms.errors import TablesFailed


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one feed's run: metadata by asset and window, check results, and the errors that ended it."""

    plan: RunPlan
    metadata: list[tuple[tuple[str, ...], Mapping[str, object]]] = field(default_factory=list)
    checks: list[dg.AssetCheckEvaluation] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def is_stopped(self) -> bool:
        """True where a signal ended it."""
        return STOPPED in self.errors

    @property
    def failed(self) -> bool:
        """True where a step raised or a blocking check failed."""
        return bool(self.errors) or any(fails_run(check) for check in self.checks)


def findings_of(checks: Iterable[dg.AssetCheckEvaluation]) -> list[CheckFinding]:
    """What the checks found that did not pass."""
    return [
        CheckFinding(
            table_name_of(check.asset_key.path),
            check.check_name,
            "failed" if fails_run(check) else "warning",
            check.description or "",
        )
        for check in checks
        if not check.passed
    ]


STOPPED: Final = (
    "stopped by a signal: nothing is half-written, and the next run goes on with what is missing"
)


def gather(result: dg.ExecuteInProcessResult, outcome: Outcome) -> None:
    """Add to the outcome what a Dagster run's events say."""
    add_events(result.all_events, outcome)
    if not result.success and not outcome.failed:
        # A signal between two steps ends a run, and no step tells of it.
        outcome.errors.append(STOPPED)


def add_events(events: Iterable[dg.DagsterEvent], outcome: Outcome) -> None:
    """``gather`` of a run that is under way, whose events are read from Dagster's history."""
    seen: set[tuple[dg.AssetKey, str | None]] = set()
    # Of a step that was tried again the last answer counts.
    checks: dict[tuple[dg.AssetKey, str], dg.AssetCheckEvaluation] = {}
    for event in events:
        if event.is_step_materialization:
            made = event.step_materialization_data.materialization
            if (made.asset_key, made.partition) in seen:
                # A step was tried again: what it had made before came as a repeat then.
                continue
            seen.add((made.asset_key, made.partition))
            # A range has one such event per window, each with the window's own numbers (``assets/feed_assets``).
            values = {name: value.value for name, value in made.metadata.items()}
            outcome.metadata.append((tuple(made.asset_key.path), values))
        elif event.event_type_value == "ASSET_CHECK_EVALUATION":
            check = event.asset_check_evaluation_data
            checks[check.asset_key, check.check_name] = check
        elif (
            event.is_step_failure and event.step_failure_data.error_source == ErrorSource.INTERRUPT
        ):
            outcome.errors.append(STOPPED)
        elif event.is_step_failure:
            outcome.errors.extend(reasons(event))
    outcome.checks.extend(checks.values())


def reasons(event: dg.DagsterEvent) -> Iterator[str]:
    """Why a step failed: the innermost error's own words, without its class.

    Nothing for a blocking check, which is reported by itself. An error that names failed tables is not opened further:
    what is behind it is in the run's log.
    """
    error = event.step_failure_data.error
    while error and error.cause and error.cls_name != TablesFailed.__name__:
        error = error.cause
    if error and error.cls_name != "DagsterAssetCheckFailedError":
        text = told = error.message.strip()
        told = re.sub(rf"{_OWN_MODULE}{re.escape(error.cls_name or '')}: ", "", told, count=1)
        # The lines of other errors than Weir's own may be a source's.
        yield hanging(text) if told == text else told


_OWN_MODULE: Final = r"^(?:transforms|expectations|assets|orchestration)(?:\.\w+)*\."
"""How Dagster's text of one of Weir's own errors begins."""
