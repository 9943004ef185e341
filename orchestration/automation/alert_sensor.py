"""The sensor of a deployment that sends a message about each run that failed, or in which checks did not pass.

Dagster's own sensors for failed runs try a message once: where an address cannot be reached, it is lost. This one tries
again later. A tag of the run names the addresses that have its message, so that none gets it twice.
"""

# No postponed annotations here: Dagster reads the functions' own.
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import dagster as dg

from assets.wording import counted
from orchestration.observability.alert_messages import (
    ALERTS,
    CheckFinding,
    Hook,
    Message,
    hooks_of,
    link_of_run,
)
from orchestration.observability.drift_lines import NEW_DRIFT
from orchestration.observability.run_tags import windows_in_words
from orchestration.runs.outcome import findings_of, reasons
from transforms.display import block_lines
from transforms.errors import SettingMisdeclared

NAME = "weir_alerts"
ALERT_ON = "WEIR_ALERT_ON"
"""``failed``, the default: runs and checks that failed. ``warning``: checks that only warn, too."""

TOLD = "weir/told/"
"""Before a hook's name: the tag of a run that the hook was told of."""

ENDS: Final = (dg.DagsterEventType.RUN_FAILURE, dg.DagsterEventType.RUN_SUCCESS)
TOLD_OF: Final = {
    dg.DagsterEventType.STEP_FAILURE,
    dg.DagsterEventType.ASSET_CHECK_EVALUATION,
    dg.DagsterEventType.ASSET_OBSERVATION,
}
RUNS_AT_ONCE = 50
TICK_SECONDS = 25.0
"""How long one tick sends messages at most."""
FIRST_PATIENCE, LONGEST_PATIENCE = 60.0, 3_600.0
"""Seconds until a hook that could not be reached is tried again; each time twice as many, at most an hour."""
ATTEMPTS = 48


@dataclass(slots=True)
class Waiting:
    """A run of which a hook could not be told: how often that was tried, and when it is tried again."""

    tries: int = 0
    again_at: float = 0.0


def build() -> dg.SensorDefinition:
    """The sensor: it runs by itself where a hook is set, and does nothing where none is."""
    is_wanted = bool(os.environ.get(ALERTS, "").strip())

    @dg.sensor(
        name=NAME,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING
        if is_wanted
        else dg.DefaultSensorStatus.STOPPED,
        description=f"Sends a message to the addresses in {ALERTS} where a run or a check has failed.",
    )
    def alerts(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        hooks = hooks_of(os.environ)
        after, waiting = read_cursor(context.cursor)
        now = time.time()
        if not hooks:
            return dg.SkipReason(f"nobody is told: {ALERTS} is not set")
        ended, after = ended_runs(context.instance, after)
        waiting |= {run: Waiting() for run in ended}
        sent_in_all = 0
        for run, state in [*waiting.items()]:
            # Dagster stops a tick that takes a minute, and its cursor would be lost; the rest follow with the next.
            if state.again_at > now or time.time() > now + TICK_SECONDS:
                continue
            sent, faults = tell(context.instance, run, hooks)
            sent_in_all += sent
            for fault in faults:
                context.log.warning(f"run {run}: {fault}")
            waiting.pop(run)
            if faults and state.tries + 1 < ATTEMPTS:
                patience = min(FIRST_PATIENCE * 2**state.tries, LONGEST_PATIENCE)
                waiting[run] = Waiting(state.tries + 1, now + patience)
        context.update_cursor(cursor_of(after, waiting))
        left = f", {len(waiting)} to be tried again" if waiting else ""
        return dg.SkipReason(f"{counted(sent_in_all, 'message')} sent{left}")

    return alerts


def ended_runs(
    instance: dg.DagsterInstance, after: Mapping[str, int]
) -> tuple[list[str], dict[str, int]]:
    """Ids of runs that ended since ``after``, and up to which of Dagster's events that is, by the kind of event.

    At the first look none, for what is old was seen by somebody.
    """
    runs: dict[str, None] = {}
    upto = dict(after)
    for kind in ENDS:
        name = kind.value
        if name not in after:
            newest = instance.fetch_run_status_changes(kind, limit=1, ascending=False).records
            upto[name] = newest[0].storage_id if newest else 0
            continue
        found = instance.fetch_run_status_changes(
            dg.RunStatusChangeRecordsFilter(kind, after_storage_id=after[name]),
            limit=RUNS_AT_ONCE,
            ascending=True,
        ).records
        for record in found:
            runs[record.event_log_entry.run_id] = None
            upto[name] = record.storage_id
    return [*runs], upto


def tell(
    instance: dg.DagsterInstance, run: str, hooks: Mapping[str, Hook]
) -> tuple[int, list[str]]:
    """Send what there is to say of a run to the hooks that do not have it; also why some could not be told."""
    message = message_of(instance, run)
    if message is None:
        return 0, []
    record = instance.get_run_by_id(run)
    tags = {} if record is None else record.tags
    sent, faults = 0, []
    for name, send in hooks.items():
        if TOLD + name in tags:
            continue
        fault = send(message)
        if fault is None:
            # At once: whatever ends this tick, nobody is told twice.
            instance.add_run_tags(run, {TOLD + name: "yes"})
            sent += 1
        else:
            faults.append(f"{name}: {fault}")
    return sent, faults


def message_of(instance: dg.DagsterInstance, run: str) -> Message | None:
    """What there is to say of a run; None where it and its checks went well."""
    record = instance.get_run_by_id(run)
    if record is None:
        return None
    failed: list[str] = []
    checks: list[CheckFinding] = []
    drift: list[str] = []
    for entry in instance.all_logs(run, of_type=TOLD_OF):
        event = entry.dagster_event
        if event is not None and event.is_step_failure:
            failed.extend(reasons(event))
        elif event is not None and event.is_asset_observation:
            found = event.asset_observation_data.asset_observation.metadata.get(NEW_DRIFT)
            drift.extend([] if found is None else block_lines(str(found.value)))
        elif event is not None:
            not_passed = findings_of([event.asset_check_evaluation_data])
            checks += [one for one in not_passed if one.severity == "failed" or warnings_count()]
    is_told_why = failed or any(one.severity == "failed" for one in checks)
    if record.status == dg.DagsterRunStatus.FAILURE and not is_told_why:
        failed.append("the run ended before it could say why: its process was killed, perhaps")
    if not (failed or checks or drift):
        return None
    return Message(
        key=run,
        feed=feed_of(record),
        windows=windows_in_words(record.tags),
        failed=failed,
        checks=checks,
        drift=drift,
        link=link_of_run(os.environ, run),
    )


def warnings_count() -> bool:
    """Whether messages are sent for checks that only warn, too."""
    word = os.environ.get(ALERT_ON, "").strip() or "failed"
    if word not in ("failed", "warning"):
        raise SettingMisdeclared(ALERT_ON, word, "known: failed, warning")
    return word == "warning"


def feed_of(run: dg.DagsterRun) -> str:
    """The feed of a run: by its tag, or by the assets that it was asked for."""
    if "feed" in run.tags:
        return run.tags["feed"]
    named = sorted({key.path[1] for key in run.asset_selection or () if len(key.path) > 1})
    return ", ".join(named) or run.job_name


def read_cursor(text: str | None) -> tuple[dict[str, int], dict[str, Waiting]]:
    """Up to which events the sensor has looked, and which runs wait to be told of."""
    noted = json.loads(text) if text else {}
    waiting = {run: Waiting(*state) for run, state in noted.get("waiting", {}).items()}
    return noted.get("after", {}), waiting


def cursor_of(after: Mapping[str, int], waiting: Mapping[str, Waiting]) -> str:
    """What ``read_cursor`` reads."""
    states = {run: [state.tries, state.again_at] for run, state in waiting.items()}
    return json.dumps({"after": dict(after), "waiting": states}, sort_keys=True)
